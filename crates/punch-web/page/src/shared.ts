// What pages that are loaded on demand take from the rest: `app.js` exports it, so that nothing is loaded twice.
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { navigate, openTodo, refuse, show, submit, toast, toggleMark, write } from "./model/actions.ts";
export { announce } from "./model/announce.ts";
export { ACTIONS } from "./model/changes.ts";
export { outline } from "./model/outline.ts";
export { get, useApp } from "./model/state.ts";
export { asProblem, get as read, planPath, post, Problem, todoPath } from "./net/http.ts";
export { focusOn, usePath } from "./ui/cursor.ts";
export { followDrag, indexAt } from "./ui/drag.ts";
export { Entry } from "./ui/entry.tsx";
export { useFetched } from "./ui/fetched.ts";
export { clock, count, dollars, fullTime, plural, span } from "./ui/format.ts";
export { Icon, IconButton, StatusIcon, statusWord } from "./ui/icons.tsx";
export { AnswerHold } from "./ui/inbox.tsx";
export { WindowedList } from "./ui/list.tsx";
export { SeatRow, Warnings } from "./ui/now.tsx";
export {
  Age, Await, Bar, Button, canWrite, Command, Empty, Marks, Message, Meter, PauseButton, Priority, Reason, Section, Table, TextForm, TodoLink,
  useCanWrite, WordForm,
} from "./ui/parts.tsx";
export { QuestionCard } from "./ui/question.tsx";
export { moveTo } from "./ui/reorder.tsx";
export { act } from "./ui/selection.tsx";
export { Fragment, h } from "preact";
