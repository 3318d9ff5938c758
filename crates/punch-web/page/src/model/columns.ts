// The columns of the board. They follow from what a todo is, so bringing one into another column takes ops.
import { CLOSED, WORKING } from "./changes.ts";
import type { Picture } from "./picture.ts";
import type { Op, Row } from "./types.ts";

export type Column = "waiting" | "ready" | "working" | "needs" | "done";

export const COLUMNS: readonly { name: Column; title: string }[] = [
  { name: "waiting", title: "Waiting" },
  { name: "ready", title: "Ready" },
  { name: "working", title: "Working" },
  { name: "needs", title: "Needs you" },
  { name: "done", title: "Done" },
];

/** Kinds of the inbox that keep a todo from continuing until you decide. The others are marks on a card. */
const DECIDES = ["question", "hold", "conflict", "failed"];

/** The todos that wait for your decision. */
export function needingYou(picture: Pick<Picture, "inbox">): Set<string> {
  return new Set(picture.inbox.flatMap((item) => (item.todo && DECIDES.includes(item.kind) ? [item.todo] : [])));
}

export function columnOf(row: Row, needing: Set<string>): Column {
  if (row.status === "failed") return "needs";
  if (row.status === "completed" || row.status === "cancelled") return "done";
  if (needing.has(row.id)) return "needs";
  if (WORKING.includes(row.status)) return "working";
  return row.status === "ready" ? "ready" : "waiting";
}

/** The ops that bring a todo into a column; `ask` if a reason has to be typed first; `null` if no op leads there. */
export function opsToColumn(row: Row, column: Column): Op[] | "ask" | null {
  const one = (op: string): Op => ({ op, id: row.id });
  const open: Op[] = ["held", "parked"].includes(row.status) ? [one("release")] : CLOSED.includes(row.status) ? [one("reopen")] : [];
  switch (column) {
    case "ready":
      return WORKING.includes(row.status) ? [one("reopen")] : open.length > 0 ? open : null;
    case "working":
      return WORKING.includes(row.status) ? null : [...open, one("start")];
    case "done":
      return [...(CLOSED.includes(row.status) ? [] : open), one("done")];
    case "needs":
      return "ask";
    case "waiting":
      return [...(CLOSED.includes(row.status) ? open : []), { op: "hold", id: row.id, kind: "parked", reason: "set aside" }];
  }
}
