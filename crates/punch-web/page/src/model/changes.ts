// What you can do to todos, as ops: the menu and the keys take them from here.
import type { Op } from "./types.ts";

export type ActionName = "start" | "done" | "cancel" | "reopen" | "hold" | "release" | "fail" | "archive" | "note" | "assign";

export interface Action {
  name: ActionName;
  label: string;
  key: string;
  /** Whether it makes sense for a todo in this status. The server has the last word. */
  fits(status: string): boolean;
  /** Takes something away, so it stands apart in menus. */
  destructive?: true;
}

const OPEN = ["ready", "waiting", "stuck", "held", "in_progress", "stalled", "reported"];
export const WORKING = ["in_progress", "stalled", "reported"];
export const CLOSED = ["completed", "cancelled", "failed"];
const among = (list: string[]) => (status: string): boolean => list.includes(status);

/** In the order of the menu. Keys are those of the terminal board. */
export const ACTIONS: readonly Action[] = [
  { name: "start", label: "Start", key: "s", fits: among(["ready", "waiting", "stuck"]) },
  { name: "done", label: "Complete", key: "d", fits: among(OPEN) },
  { name: "note", label: "Add a note…", key: "m", fits: () => true },
  { name: "hold", label: "Put on hold…", key: "p", fits: among(["ready", "waiting", "stuck", ...WORKING]) },
  { name: "release", label: "End the hold", key: "u", fits: among(["held", "parked"]) },
  { name: "reopen", label: "Reopen", key: "r", fits: among([...CLOSED, ...WORKING]) },
  { name: "assign", label: "Give to an agent…", key: "b", fits: among(["ready", "waiting", "held"]) },
  { name: "fail", label: "Report a failed attempt…", key: "f", fits: among(WORKING) },
  { name: "cancel", label: "Cancel", key: "c", fits: among([...OPEN, "parked", "failed"]), destructive: true },
  { name: "archive", label: "Archive", key: "X", fits: () => true, destructive: true },
];

const OP: Partial<Record<ActionName, string>> = {
  start: "start", done: "done", cancel: "drop", reopen: "reopen", release: "release", archive: "rm",
};

const SAID: Partial<Record<ActionName, string>> = {
  start: "Started", done: "Completed", cancel: "Cancelled", reopen: "Reopened", release: "Released", archive: "Archived",
};

/** The ops of an action that needs no more than the todos; `null` if it asks for a text first. */
export function opsOf(name: ActionName, ids: string[]): Op[] | null {
  const op = OP[name];
  return op === undefined ? null : ids.map((id) => ({ op, id }));
}

export function saidOf(name: ActionName, ids: string[]): string {
  return `${SAID[name] ?? ""} ${names(ids)}`;
}

export function names(ids: string[]): string {
  return ids.length <= 3 ? ids.join(", ") : `${ids.slice(0, 2).join(", ")} and ${ids.length - 2} more`;
}

/** Where a todo goes when it is moved among others: right before or after a neighbor. */
export function moveOp(id: string, order: string[], to: number): Op | null {
  const others = order.filter((other) => other !== id);
  if (others.length === 0) return null;
  const at = Math.max(0, Math.min(to, others.length));
  return at === 0 ? { op: "move", id, before: others[0] } : { op: "move", id, after: others[at - 1] };
}
