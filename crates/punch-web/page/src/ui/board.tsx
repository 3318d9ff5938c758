// Columns by shown status. Cards are dragged with the pointer, or lifted with Space and moved with the arrows. Every drop is
// rehearsed first; one that is refused snaps back and says why.
import type { JSX } from "preact";
import { type Column, columnOf, COLUMNS, needingYou } from "../model/columns.ts";
import { verdictOf, type Verdict } from "../model/rehearsal.ts";
import type { Row } from "../model/types.ts";
import {
  Age, announce, canWrite, focusOn, followDrag, get, Icon, indexAt, Marks, Message, moveTo, openTodo,
  Priority, Reason, show, StatusIcon, toast, toggleMark, useApp, useEffect, useMemo, usePath, useRef, useState, write,
} from "../shared.ts";

/** Cards that are drawn per column before "show more". */
const CARDS = 60;
/** Closed todos are shown newest first, and only a few. */
const DONE_CARDS = 15;

interface Lifted {
  row: Row;
  from: Column;
  column: Column;
  /** The place among the other cards of the column. */
  to: number;
  x: number;
  y: number;
  by: "pointer" | "keyboard";
}

export function Board(): JSX.Element {
  const picture = useApp((state) => state.picture);
  const matched = useApp((state) => state.matched);
  const [lifted, setLifted] = useState<Lifted | null>(null);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const board = useRef<HTMLDivElement>(null);
  const columns = useMemo(() => {
    const out = new Map<Column, Row[]>(COLUMNS.map(({ name }) => [name, []]));
    const needing = picture === null ? new Set<string>() : needingYou(picture);
    for (const row of picture?.rows ?? []) {
      if (matched === null || matched.has(row.uid)) out.get(columnOf(row, needing))?.push(row);
    }
    out.get("done")?.sort((a, b) => (b.finished ?? b.updated) - (a.finished ?? a.updated));
    return out;
  }, [picture?.rows, picture?.inbox, matched]);
  const drawn = COLUMNS.map(({ name }) => (columns.get(name) ?? []).slice(0, name === "done" ? DONE_CARDS : CARDS));
  usePath(drawn.flat().map((row) => `todo:${row.uid}`));

  // The verdict of the column that the card is over.
  useEffect(() => {
    setVerdict(null);
    if (lifted === null || lifted.column === lifted.from) return;
    let current = true;
    void verdictOf(lifted.row, lifted.column).then((found) => {
      if (!current) return;
      setVerdict(found);
      if (lifted.by === "keyboard") announce(found.allowed ? "Can be dropped" : found.words);
    });
    return () => void (current = false);
  }, [lifted?.row.uid, lifted?.column, lifted?.from]);

  const drop = async (at: Lifted): Promise<void> => {
    if (at.column === at.from) {
      setLifted(null);
      if (at.from !== "done") await moveTo(at.row, columns.get(at.from) ?? [], at.to);
      return;
    }
    const found = await verdictOf(at.row, at.column);
    setLifted(null);
    if (!found.allowed) toast(found.words, { kind: "refused", hint: found.hint });
    else if ("ask" in found) show({ kind: "hold", ids: [at.row.id] });
    else await write(found.ops, found.words);
  };

  const press = (event: PointerEvent, row: Row, from: Column): void => {
    const target = event.target as Element;
    // A finger on a card scrolls; the grip drags.
    if (!canWrite() || target.closest("a, button, input") || (event.pointerType === "touch" && !target.closest(".grip"))) return;
    const at = (x: number, y: number): Lifted => ({ row, from, ...placeAt(x, y, row, from), x, y, by: "pointer" });
    followDrag(event, board.current, {
      begin: () => setLifted(at(event.clientX, event.clientY)),
      move: (x, y) => setLifted(at(x, y)),
      drop: (x, y) => void drop(at(x, y)),
      cancel: () => setLifted(null),
    });
  };

  const key = (event: KeyboardEvent, row: Row, from: Column): void => {
    if (event.target !== event.currentTarget || !canWrite()) return;
    if (lifted === null) {
      if (event.key !== " ") return sideways(event, from);
      setLifted({ row, from, column: from, to: (columns.get(from) ?? []).indexOf(row), x: 0, y: 0, by: "keyboard" });
      announce(`Lifted ${row.id}. Arrow keys move it, Space drops it, Escape cancels.`);
    } else if (event.key === " " || event.key === "Enter") {
      void drop(lifted).then(() => focusOn(`todo:${row.uid}`));
    } else if (event.key === "Escape") {
      setLifted(null);
      announce("Cancelled");
    } else {
      const next = carried(lifted, event.key, columns);
      if (next === null) return;
      setLifted(next);
      if (next.column !== lifted.column) announce(COLUMNS.find((one) => one.name === next.column)?.title ?? "");
      else announce(`Place ${next.to + 1}`);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  /** Left and right go to the neighboring column that has cards. */
  const sideways = (event: KeyboardEvent, from: Column): void => {
    const by = event.key === "ArrowLeft" || event.key === "h" ? -1 : event.key === "ArrowRight" || event.key === "l" ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    for (let at = COLUMNS.findIndex((one) => one.name === from) + by; at >= 0 && at < COLUMNS.length; at += by) {
      const first = drawn[at]?.[0];
      if (first !== undefined) return focusOn(`todo:${first.uid}`);
    }
  };

  return (
    <div class="board" ref={board} tabIndex={-1}>
      {COLUMNS.map(({ name, title }, index) => {
        const all = columns.get(name) ?? [];
        const over = lifted?.column === name && lifted.from !== name;
        const look = !over ? "" : verdict === null ? "asking" : verdict.allowed ? "allowed" : "refused";
        return (
          <section key={name} class={`column ${look} column-${name}`} data-column={name} aria-label={`${title}, ${all.length}`}>
            <header class="column-head"><h2>{title}<span class="count">{all.length}</span></h2></header>
            {over && <p class="column-verdict" ><Message text={verdict === null ? "Checking…" : verdict.allowed ? `Drop ${lifted.row.id} here` : `${verdict.words} ${verdict.hint ?? ""}`} /></p>}
            <div class="column-cards">
              {(drawn[index] ?? []).map((row, at) => (
                <Card key={row.uid} row={row} column={name} lifted={lifted} place={at} press={press} keyDown={key} />
              ))}
              {all.length === 0 && <p class="muted column-empty">No todos.</p>}
              {all.length > (drawn[index]?.length ?? 0) && <p class="muted column-more">{all.length - (drawn[index]?.length ?? 0)} more in the list</p>}
            </div>
          </section>
        );
      })}
      {lifted?.by === "pointer" && <Ghost lifted={lifted} />}
    </div>
  );
}

/** The column below a point, and the place in it. */
function placeAt(x: number, y: number, row: Row, from: Column): { column: Column; to: number } {
  const column = document.elementsFromPoint(x, y).map((one) => one.closest<HTMLElement>("[data-column]")).find((one) => one !== null);
  const name = (column?.dataset["column"] ?? from) as Column;
  const others = [...(column?.querySelectorAll("[data-key]") ?? [])].filter((one) => (one as HTMLElement).dataset["key"] !== `todo:${row.uid}`);
  return { column: name, to: indexAt(y, others) };
}

/** A lifted card after an arrow key; `null` for other keys. */
function carried(lifted: Lifted, key: string, columns: Map<Column, Row[]>): Lifted | null {
  const at = COLUMNS.findIndex((one) => one.name === lifted.column);
  const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (by !== undefined) {
    const column = COLUMNS[at + by]?.name;
    return column === undefined ? lifted : { ...lifted, column, to: 0 };
  }
  const step = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (step === undefined) return null;
  const most = (columns.get(lifted.column) ?? []).filter((row) => row.uid !== lifted.row.uid).length;
  return { ...lifted, to: Math.max(0, Math.min(most, lifted.to + step)) };
}

function Card(props: {
  row: Row;
  column: Column;
  lifted: Lifted | null;
  place: number;
  press: (event: PointerEvent, row: Row, from: Column) => void;
  keyDown: (event: KeyboardEvent, row: Row, from: Column) => void;
}): JSX.Element {
  const { row, column, lifted } = props;
  const key = `todo:${row.uid}`;
  const at = useApp((state) => state.cursor === key);
  const open = useApp((state) => state.route.todo === row.id);
  const marked = useApp((state) => state.marked.has(row.uid));
  const isLifted = lifted?.row.uid === row.uid;
  const sameColumn = lifted !== null && lifted.column === column && lifted.from === column && !isLifted;
  const origin = lifted === null ? -1 : (get().picture?.rows ?? []).indexOf(lifted.row);
  const own = (get().picture?.rows ?? []).indexOf(row);
  // Places are counted without the lifted card.
  const place = sameColumn && origin < own ? props.place - 1 : props.place;
  const insert = sameColumn && lifted.to === place ? "insert-before" : "";
  const click = (event: MouseEvent): void => {
    if ((event.target as Element).closest("a, button, input")) return;
    if (event.ctrlKey || event.metaKey) toggleMark(row.uid);
    else openTodo(row.id);
  };
  return (
    <article
      class={`board-card ${isLifted ? "lifted" : ""} ${insert} ${open ? "open" : ""} ${marked ? "marked" : ""}`} data-key={key} tabIndex={at || (props.place === 0 && column === "waiting") ? 0 : -1}
      aria-label={`${row.id} ${row.text}`} aria-roledescription="card"
      onClick={click} onPointerDown={(event) => props.press(event, row, column)} onKeyDown={(event) => props.keyDown(event, row, column)}
    >
      <div class="board-card-head">
        <StatusIcon status={row.status} />
        <span class="id theirs clip">{row.id}</span>
        <span class="grow" />
        {row.since !== undefined ? <Age since={row.since} /> : row.finished !== undefined && column === "done" && <Age since={row.finished} />}
        <span class="grip" aria-hidden="true"><Icon name="grip" /></span>
      </div>
      <p class="board-card-text theirs">{row.text || <em class="muted">no text</em>}</p>
      <div class="board-card-foot"><Priority priority={row.priority} /><Marks row={row} />{(row.dependents ?? 0) > 0 && column !== "done" && <span class="muted nowrap">needed by {row.dependents}</span>}</div>
      {row.why !== undefined && row.why.length > 0 && <Reason row={row} />}
    </article>
  );
}

/** The card under the pointer. */
function Ghost(props: { lifted: Lifted }): JSX.Element {
  const { row, x, y } = props.lifted;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current !== null) element.current.style.transform = `translate(${x + 8}px, ${y + 8}px)`;
  });
  return <div class="ghost" ref={element} aria-hidden="true"><StatusIcon status={row.status} silent /><span class="id">{row.id}</span><span class="clip theirs">{row.text}</span></div>;
}
