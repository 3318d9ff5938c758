// What a tab shows: one value that is replaced as a whole, and who wants to know.
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../net/live.ts";
import { HOME, type Route } from "../net/route.ts";
import type { Picture } from "./picture.ts";
import type { PlanInfo, ServerInfo } from "./types.ts";

export interface Toast {
  id: number;
  text: string;
  hint: string | null;
  /** What is pending stays until it has ended. */
  kind: "done" | "refused" | "pending";
  /** The revision that the button Undo undoes. */
  undo: number | null;
}

export type Overlay =
  | { kind: "keys" }
  | { kind: "add"; after: string | null; phase?: string }
  | { kind: "menu"; ids: string[] }
  | { kind: "hold"; ids: string[] }
  | { kind: "fail"; id: string }
  | { kind: "evidence"; ids: string[] }
  | { kind: "note"; ids: string[] }
  | { kind: "assign"; ids: string[] }
  | { kind: "stop"; run: number; seat: number | null };

export interface State {
  /** `null` until the server has said who we are. */
  server: ServerInfo | null;
  /** Without a valid session: what to say above the login field. */
  loggedOut: string | null;
  plans: PlanInfo[];
  picture: Picture | null;
  /** Why there is no picture. */
  missing: { text: string; hint: string | null } | null;
  connection: Connection;
  lastLive: number;
  route: Route;
  /** The todos that match the filter; `null` without one. */
  matched: Set<number> | null;
  filterError: string | null;
  /** What the keyboard is at: `todo:12`, `inbox:question/7`, `revision:184`. */
  cursor: string | null;
  marked: Set<number>;
  showClosed: boolean;
  folded: Set<number>;
  toasts: Toast[];
  overlay: Overlay | null;
  singleKeys: boolean;
  /** The server's time, a little behind. Ages are computed from it. */
  now: number;
}

const START: State = {
  server: null,
  loggedOut: null,
  plans: [],
  picture: null,
  missing: null,
  connection: "connecting",
  lastLive: 0,
  route: HOME,
  matched: null,
  filterError: null,
  cursor: null,
  marked: new Set(),
  showClosed: false,
  folded: new Set(),
  toasts: [],
  overlay: null,
  singleKeys: true,
  now: 0,
};

let state = START;
let stale = false;
const listeners = new Set<() => void>();

export function get(): State {
  return state;
}

/** Replaces parts of the state. A hidden tab is kept up to date but not drawn. */
export function set(patch: Partial<State>): void {
  state = { ...state, ...patch };
  if (document.hidden) stale = true;
  else listeners.forEach((listener) => listener());
}

export function drawWhenShown(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !stale) return;
    stale = false;
    listeners.forEach((listener) => listener());
  });
}

/** A part of the state; the component is drawn again when that part is another value. */
export function useApp<T>(select: (state: State) => T): T {
  const [, redraw] = useState(0);
  const selected = select(state);
  useEffect(() => {
    let last = selected;
    const listener = (): void => {
      const next = select(state);
      if (Object.is(next, last)) return;
      last = next;
      redraw((n) => n + 1);
    };
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
  return selected;
}
