// A short list whose todos can be dragged into another order.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { write } from "../model/actions.ts";
import { moveOp } from "../model/changes.ts";
import type { Row } from "../model/types.ts";
import { followDrag, indexAt } from "./drag.ts";
import { TodoRow } from "./todo_row.tsx";

/** Moves a todo to a place among others, counted without it. */
export async function moveTo(row: Row, order: Row[], to: number): Promise<void> {
  const ids = order.map((other) => other.id);
  const before = ids.indexOf(row.id);
  const op = to === before ? null : moveOp(row.id, ids, to);
  if (op !== null) await write([op], `Moved ${row.id}`);
}

export function ReorderList(props: { rows: Row[] }): JSX.Element {
  const { rows } = props;
  const list = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<{ uid: number; to: number } | null>(null);
  const grip = (event: PointerEvent, row: Row): void => {
    const place = (y: number): number => {
      const others = [...(list.current?.querySelectorAll("[data-key]") ?? [])].filter((one) => (one as HTMLElement).dataset["key"] !== `todo:${row.uid}`);
      return indexAt(y, others);
    };
    followDrag(event, document.getElementById("main"), {
      begin: () => setDragged({ uid: row.uid, to: rows.indexOf(row) }),
      move: (_x, y) => setDragged({ uid: row.uid, to: place(y) }),
      drop: (_x, y) => {
        setDragged(null);
        void moveTo(row, rows, place(y));
      },
      cancel: () => setDragged(null),
    });
  };
  // While something is dragged, the others show where it would go.
  const others = rows.filter((row) => row.uid !== dragged?.uid);
  const target = dragged === null ? undefined : others[dragged.to]?.uid;
  const atEnd = dragged !== null && dragged.to >= others.length;
  const last = others.at(-1)?.uid;
  const look = (row: Row): string =>
    dragged === null ? "" : row.uid === dragged.uid ? "lifted" : row.uid === target ? "insert-before" : atEnd && row.uid === last ? "insert-after" : "";
  return <div class="table-rows" ref={list}>{rows.map((row) => <TodoRow key={row.uid} row={row} onGrip={grip} class={look(row)} />)}</div>;
}
