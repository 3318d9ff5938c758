// What pages that are loaded on demand take from the rest: `app.js` exports it, so that nothing is loaded twice.
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { navigate, openTodo, show, toast, toggleMark, write } from "./model/actions.ts";
export { announce } from "./model/announce.ts";
export { get, useApp } from "./model/state.ts";
export { asProblem, planPath, post } from "./net/http.ts";
export { focusOn, usePath } from "./ui/cursor.ts";
export { followDrag, indexAt } from "./ui/drag.ts";
export { useFetched } from "./ui/fetched.ts";
export { clock, count, dollars, fullTime, plural, span } from "./ui/format.ts";
export { Icon, IconButton, StatusIcon, statusWord } from "./ui/icons.tsx";
export { SeatRow, Warnings } from "./ui/now.tsx";
export { Age, Await, Bar, Button, canWrite, Empty, Marks, Message, Meter, PauseButton, Priority, Reason, Section, Table, TodoLink, useCanWrite } from "./ui/parts.tsx";
export { moveTo } from "./ui/reorder.tsx";
export { Fragment, h } from "preact";
