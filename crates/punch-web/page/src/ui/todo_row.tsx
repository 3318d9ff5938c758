// A todo as one line. Lists, the log and the first page all use it.
import type { JSX } from "preact";
import { memo } from "./memo.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { openTodo, toggleMark, write } from "../model/actions.ts";
import { useApp } from "../model/state.ts";
import type { Row } from "../model/types.ts";
import { count } from "./format.ts";
import { Icon, StatusIcon } from "./icons.tsx";
import { canWrite, Marks, Priority, Reason } from "./parts.tsx";

export interface TodoRowProps {
  row: Row;
  /** In a grid: the number of the row, from 1. */
  gridRow?: number;
  /** Begins to drag the row. */
  onGrip?: (event: PointerEvent, row: Row) => void;
  /** A row of the past: nothing can be changed. */
  past?: boolean;
  class?: string;
}

let startEditing: ((uid: number) => void) | null = null;

/** Edits the text of a row in place, if it is drawn; false if it is not. */
export function editInPlace(uid: number): boolean {
  if (document.querySelector(`[data-key="todo:${uid}"] .row-title`) === null) return false;
  startEditing?.(uid);
  return true;
}

function TodoRowView(props: TodoRowProps): JSX.Element {
  const { row, gridRow, past } = props;
  const key = `todo:${row.uid}`;
  const at = useApp((state) => state.cursor === key);
  const open = useApp((state) => state.route.todo === row.id);
  const marked = useApp((state) => state.marked.has(row.uid));
  const [editing, setEditing] = useState(false);
  useEffect(() => {
    if (!at) return;
    startEditing = (uid) => uid === row.uid && setEditing(true);
  }, [at, row.uid]);
  const closed = ["completed", "cancelled", "archived"].includes(row.status);
  const click = (event: MouseEvent): void => {
    if (past || (event.target as Element).closest("button, a, input, .grip")) return;
    if (event.ctrlKey || event.metaKey) toggleMark(row.uid);
    else openTodo(row.id);
  };
  const cell = gridRow === undefined ? {} : { role: "gridcell" as const };
  const shell = gridRow === undefined ? {} : { role: "row" as const, "aria-rowindex": gridRow, "aria-selected": marked };
  const write = !past && canWrite();
  return (
    <div
      class={`row ${closed ? "closed" : ""} ${open ? "open" : ""} ${marked ? "marked" : ""} ${props.class ?? ""}`} {...shell}
      data-key={past ? undefined : key} tabIndex={at ? 0 : -1} onClick={click} onDblClick={() => write && setEditing(true)}
    >
      {!past && (
        <span class="row-handles" {...cell}>
          {props.onGrip && write && <span class="grip" title="Drag to move" onPointerDown={(event) => props.onGrip?.(event, row)}><Icon name="grip" /></span>}
          <input type="checkbox" class="mark" tabIndex={-1} checked={marked} aria-label={`Select ${row.id}`} onChange={() => toggleMark(row.uid)} />
        </span>
      )}
      <span class="row-main" {...cell}>
        <StatusIcon status={row.status} />
        <span class="id theirs clip" title={row.id}>{row.id}</span>
        {editing ? <TitleField row={row} done={() => setEditing(false)} /> : <span class="row-title theirs clip" title={row.text}>{row.text || <em class="muted">no text</em>}</span>}
      </span>
      <span class="row-side" {...cell}>
        <Reason row={row} />
        <Marks row={row} />
        <span class="row-priority"><Priority priority={row.priority} /></span>
        <span class="row-tokens muted number" title="Estimated tokens">{row.tokens !== undefined && !closed && count(row.tokens)}</span>
      </span>
    </div>
  );
}

export const TodoRow = memo(TodoRowView);

/** The text of a row in a field. Enter saves, Escape leaves it as it was. */
function TitleField(props: { row: Row; done: () => void }): JSX.Element {
  const { row, done } = props;
  const base = useRef(row.text);
  const [text, setText] = useState(row.text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const changed = row.text !== base.current;
  const save = async (): Promise<void> => {
    const content = text.trim();
    if (content === "" || content === row.text) return done();
    if (await write([{ op: "edit", id: row.id, content }], `Edited ${row.id}`)) done();
  };
  return (
    <span class="grow title-field">
      <input
        ref={field} class="field" value={text} aria-label={`Text of ${row.id}`} maxLength={4000} onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter") void save();
          else if (event.key === "Escape") done();
          else return;
          // The row gets focus back, so that the keyboard continues where it was.
          event.currentTarget.closest<HTMLElement>("[data-key]")?.focus();
        }}
        onBlur={() => { if (text.trim() === base.current) done(); }}
      />
      {changed && <span class="title-changed warn">Changed meanwhile to “{row.text}”. Enter saves yours.</span>}
    </span>
  );
}
