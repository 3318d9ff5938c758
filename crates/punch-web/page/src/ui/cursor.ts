// The keyboard's place on a page. A view names what can be gone through, in order; focus follows the cursor, and stays on the
// same thing when the page is drawn again.
import { useEffect } from "preact/hooks";
import { get, set } from "../model/state.ts";

interface Path {
  keys: string[];
  /** Brings a key that is not drawn into view. */
  reveal: ((key: string) => void) | null;
}

let path: Path = { keys: [], reveal: null };
let focused: string | null = null;

/** The things of this view that the keyboard goes through. */
export function usePath(keys: string[], reveal: Path["reveal"] = null): void {
  useEffect(() => {
    path = { keys, reveal };
  });
}

export function elementOf(key: string): HTMLElement | null {
  return document.querySelector(`[data-key="${CSS.escape(key)}"]`);
}

export function focusOn(key: string): void {
  set({ cursor: key });
  path.reveal?.(key);
  requestAnimationFrame(() => {
    const element = elementOf(key);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  });
}

/** Moves the cursor by a number of places; from nowhere it goes to the first or the last. */
export function moveCursor(by: number): void {
  const { keys } = path;
  if (keys.length === 0) return;
  const at = keys.indexOf(get().cursor ?? "");
  const next = at < 0 ? (by > 0 ? 0 : keys.length - 1) : Math.max(0, Math.min(keys.length - 1, at + by));
  focusOn(keys[next] ?? "");
}

export function cursorTo(place: "first" | "last"): void {
  const key = path.keys.at(place === "first" ? 0 : -1);
  if (key !== undefined) focusOn(key);
}

export function pathKeys(): string[] {
  return path.keys;
}

/** The todo that keys act on: the one under the cursor, else the open one. */
export function todoAtCursor(): string | null {
  const { cursor, picture, route } = get();
  const uid = /^todo:(\d+)$/.exec(cursor ?? "")?.[1];
  const row = uid === undefined ? undefined : picture?.byUid.get(Number(uid));
  if (row !== undefined && path.keys.includes(cursor ?? "")) return row.id;
  return route.todo;
}

export function watchFocus(): void {
  document.addEventListener("focusin", (event) => {
    const holder = (event.target as Element).closest<HTMLElement>("[data-key]");
    focused = holder?.dataset["key"] ?? null;
    if (focused !== null && focused !== get().cursor) set({ cursor: focused });
  });
}

/** Gives focus back to the thing that had it, after its element was replaced. */
export function keepFocus(): void {
  if (focused === null || (document.activeElement !== document.body && document.activeElement !== null)) return;
  elementOf(focused)?.focus({ preventScroll: true });
}
