// All todos by phase. Only the rows that can be seen are drawn, so 10,000 cost as much as 50.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { show, write } from "../model/actions.ts";
import { type Line, outline } from "../model/outline.ts";
import { get, set, useApp } from "../model/state.ts";
import type { Op, Phase, Row } from "../model/types.ts";
import { usePath } from "./cursor.ts";
import { followDrag } from "./drag.ts";
import { plural } from "./format.ts";
import { Icon } from "./icons.tsx";
import { Bar, Empty, useCanWrite } from "./parts.tsx";
import { TodoRow } from "./todo_row.tsx";
import { listWindow, scrollFor } from "./window.ts";

/** Heights of a row; they equal `--row` in the style sheets. */
const ROW = 36;
const PHONE_ROW = 56;

export function useRowHeight(): number {
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 700px)").matches);
  useEffect(() => {
    const query = matchMedia("(max-width: 700px)");
    const listener = (): void => setNarrow(query.matches);
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  }, []);
  return narrow ? PHONE_ROW : ROW;
}

export function List(): JSX.Element {
  const picture = useApp((state) => state.picture);
  const matched = useApp((state) => state.matched);
  const showClosed = useApp((state) => state.showClosed);
  const folded = useApp((state) => state.folded);
  const filter = useApp((state) => state.route.filter);
  const [rows, phases] = [picture?.rows ?? [], picture?.phases ?? []];
  const lines = useMemo(() => outline(rows, phases, { matched, showClosed, folded }), [rows, phases, matched, showClosed, folded]);
  return (
    <div class="page list-page">
      <ListBar showing={lines.filter((line) => line.kind === "todo").length} />
      {lines.length === 0
        ? <Empty title={filter === "" ? "The plan is empty." : "No todo matches the filter."}>{filter === "" ? "Press a to add the first todo." : "Try fewer words, or clear the filter with Escape."}</Empty>
        : <WindowedList lines={lines} phases={phases} />}
    </div>
  );
}

function ListBar(props: { showing: number }): JSX.Element {
  const showClosed = useApp((state) => state.showClosed);
  const matched = useApp((state) => state.matched);
  return (
    <div class="page-bar">
      <span class="muted">{matched === null ? plural(props.showing, "todo") : plural(props.showing, "match", "matches")}</span>
      <span class="grow" />
      {matched === null && (
        <label class="switch"><input type="checkbox" checked={showClosed} onChange={() => set({ showClosed: !showClosed })} />Show closed</label>
      )}
    </div>
  );
}

/** A list of lines. `past` shows a plan as it was: nothing can be changed there. */
export function WindowedList(props: { lines: Line[]; phases: Phase[]; past?: boolean }): JSX.Element {
  const { lines, phases, past } = props;
  const height = useRowHeight();
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [dragged, setDragged] = useState<{ uid: number; line: number } | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  const keys = useMemo(() => lines.map(keyOf), [lines]);
  usePath(past ? [] : keys, (key) => {
    const element = scroller.current;
    const to = element && scrollFor(keys.indexOf(key), height, element.scrollTop, element.clientHeight);
    if (element && to !== null) element.scrollTop = to;
  });
  const grip = (event: PointerEvent, row: Row): void => {
    const lineAt = (y: number): number => {
      const element = scroller.current;
      if (element === null) return 0;
      return Math.max(0, Math.min(lines.length, Math.round((y - element.getBoundingClientRect().top + element.scrollTop) / height)));
    };
    followDrag(event, scroller.current, {
      begin: () => setDragged({ uid: row.uid, line: lineAt(event.clientY) }),
      move: (_x, y) => setDragged({ uid: row.uid, line: lineAt(y) }),
      drop: (_x, y) => {
        setDragged(null);
        void dropBefore(row, lines, lineAt(y), phases);
      },
      cancel: () => setDragged(null),
    });
  };
  const { first, end } = listWindow(lines.length, height, view.top, view.height);
  const top = first * height;
  const inner = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (inner.current === null) return;
    inner.current.style.paddingTop = `${top}px`;
    inner.current.style.height = `${lines.length * height}px`;
  });
  return (
    <div class="windowed" ref={scroller} role="grid" aria-label="Todos" aria-rowcount={lines.length} aria-multiselectable={!past} tabIndex={0}>
      <div ref={inner} class="windowed-inner" role="rowgroup">
        {lines.slice(first, end).map((line, at) => {
          const index = first + at;
          const insert = dragged !== null && dragged.line === index ? "insert-before" : "";
          if (line.kind === "todo") {
            const look = `${insert} ${dragged?.uid === line.row.uid ? "lifted" : ""}`;
            return <TodoRow key={keyOf(line)} row={line.row} gridRow={index + 1} onGrip={past ? undefined : grip} past={past} class={look} />;
          }
          return line.kind === "phase" ? <PhaseLine key={keyOf(line)} line={line} at={index + 1} class={insert} /> : <ClosedLine key={keyOf(line)} line={line} at={index + 1} />;
        })}
      </div>
    </div>
  );
}

function keyOf(line: Line): string {
  return line.kind === "todo" ? `todo:${line.row.uid}` : line.kind === "phase" ? `phase:${line.uid}` : `closed:${line.phase}`;
}

/** Drops a todo before a line; under another heading it also changes its phase. */
async function dropBefore(row: Row, lines: Line[], at: number, phases: Phase[]): Promise<void> {
  let above: Line | undefined;
  for (let line = at - 1; line >= 0; line--) {
    const candidate = lines[line];
    if (candidate?.kind === "closed" || (candidate?.kind === "todo" && candidate.row.uid === row.uid)) continue;
    above = candidate;
    break;
  }
  const below = lines.slice(at).find((line) => line.kind === "todo" && line.row.uid !== row.uid);
  const phase = above?.kind === "phase" ? above.uid : above?.kind === "todo" ? above.row.phase : undefined;
  const ops: Op[] = [];
  if (phase !== row.phase) ops.push({ op: "edit", id: row.id, phase: phases.find((one) => one.uid === phase)?.name ?? null });
  if (above?.kind === "todo") ops.push({ op: "move", id: row.id, after: above.row.id });
  else if (below?.kind === "todo") ops.push({ op: "move", id: row.id, before: below.row.id });
  if (ops.length > 0) await write(ops, `Moved ${row.id}`);
}

export function toggleFold(phase: number): void {
  const folded = new Set(get().folded);
  if (!folded.delete(phase)) folded.add(phase);
  set({ folded });
}

function PhaseLine(props: { line: Extract<Line, { kind: "phase" }>; at: number; class: string }): JSX.Element {
  const { line } = props;
  const { progress } = line;
  const can = useCanWrite();
  const cursor = useApp((state) => state.cursor === `phase:${line.uid}`);
  return (
    <div class={`phase-line ${props.class}`} role="row" aria-rowindex={props.at} data-key={`phase:${line.uid}`} tabIndex={cursor ? 0 : -1}>
      <span role="gridcell" class="grow phase-title">
        <button type="button" class="link" tabIndex={-1} aria-expanded={!line.folded} onClick={() => toggleFold(line.uid)}>
          <span class={`fold ${line.folded ? "folded" : ""}`} aria-hidden="true"><Icon name="back" /></span>
          <span class="theirs clip">{line.name}</span>
        </button>
        {can && <button type="button" class="icon-button phase-add" tabIndex={-1} aria-label={`Add a todo to ${line.name}`} title={`Add a todo to ${line.name}`} onClick={() => show({ kind: "add", after: null, phase: line.name })}><Icon name="plus" /></button>}
      </span>
      <span role="gridcell" class="phase-progress muted"><Bar share={progress.total === 0 ? 0 : progress.completed / progress.total} label={`${progress.completed} of ${progress.total} done`} /><span class="number">{progress.completed}/{progress.total}</span></span>
    </div>
  );
}

function ClosedLine(props: { line: Extract<Line, { kind: "closed" }>; at: number }): JSX.Element {
  const key = `closed:${props.line.phase}`;
  const cursor = useApp((state) => state.cursor === key);
  return (
    <div class="closed-line" role="row" aria-rowindex={props.at} data-key={key} tabIndex={cursor ? 0 : -1}>
      <span role="gridcell"><button type="button" class="link muted" tabIndex={-1} onClick={() => set({ showClosed: true })}>+{props.line.count} closed</button></span>
    </div>
  );
}
