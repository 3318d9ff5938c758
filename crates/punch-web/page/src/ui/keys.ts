// What keys do. They never act while something is typed, and never below a dialog.
import { clearMarks, control, markSeen, navigate, openTodo, redo, show, toast, toggleMark, undo, write } from "../model/actions.ts";
import type { ActionName } from "../model/changes.ts";
import { get, set } from "../model/state.ts";
import type { Row } from "../model/types.ts";
import { TABS } from "./app.tsx";
import { cursorTo, focusOn, moveCursor, pathKeys, todoAtCursor } from "./cursor.ts";
import { isSingleKey, KEYS, pressed } from "./key_table.ts";
import { toggleFold } from "./list.tsx";
import { canWrite } from "./parts.tsx";
import { moveTo } from "./reorder.tsx";
import { act, targets } from "./selection.tsx";
import { editInPlace } from "./todo_row.tsx";

const HALF_PAGE = 12;
/** The first key of a pair waits this long for the second. */
const PAIR_MS = 1_200;

const RUN = new Map<string, string>(KEYS.flatMap((entry) => entry.keys.map((key) => [key, entry.run] as const)));
const PAIRS = new Set([...RUN.keys()].filter((key) => key.includes(" ")).map((key) => key.split(" ")[0]));

let pending: { key: string; at: number } | null = null;

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || get().overlay !== null || get().picture === null) return;
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const key = pressed(event);
    const pair = pending !== null && Date.now() - pending.at < PAIR_MS ? `${pending.key} ${key}` : null;
    pending = null;
    const name = pair !== null && RUN.has(pair) ? pair : key;
    if (isSingleKey(name) && !get().singleKeys && name !== "?") return;
    if (PAIRS.has(key) && name === key && get().singleKeys) {
      pending = { key, at: Date.now() };
      event.preventDefault();
      return;
    }
    const run = RUN.get(name);
    // Buttons and links keep Enter and Space for themselves.
    if (run === undefined || (["Enter", "Space"].includes(key) && target.closest("button, a, summary, input"))) return;
    if (perform(run)) event.preventDefault();
  });
}

function at(): Row | undefined {
  const id = todoAtCursor();
  return id === null ? undefined : get().picture?.byId.get(id);
}

/** Does what a key of the table stands for; false if there is nothing to do here. */
export function perform(run: string): boolean {
  if (run.startsWith("view:")) {
    const view = TABS.find((tab) => `view:${tab.view}` === run)?.view;
    if (view !== undefined) navigate({ view, at: null, run: null });
    return true;
  }
  if (run.startsWith("act:")) {
    if (canWrite()) void act(run.slice(4) as ActionName, targets(todoAtCursor()));
    return true;
  }
  const handler = HANDLERS[run];
  return handler !== undefined && handler() !== false;
}

const HANDLERS: Record<string, () => boolean | void> = {
  "next-view": () => turn(1),
  "previous-view": () => turn(-1),
  attention: nextNeed,
  filter: () => document.getElementById("filter")?.focus(),
  back: stepBack,
  down: () => moveCursor(1),
  up: () => moveCursor(-1),
  first: () => cursorTo("first"),
  last: () => cursorTo("last"),
  "page-down": () => moveCursor(HALF_PAGE),
  "page-up": () => moveCursor(-HALF_PAGE),
  open: openAtCursor,
  mark: () => {
    const row = at();
    if (row === undefined) return false;
    toggleMark(row.uid);
    return true;
  },
  "mark-all": markAll,
  add: () => {
    if (canWrite()) show({ kind: "add", after: todoAtCursor() });
  },
  edit: editAtCursor,
  menu: () => {
    const ids = targets(todoAtCursor());
    if (ids.length > 0 && canWrite()) show({ kind: "menu", ids });
  },
  "move-up": () => shift(-1),
  "move-down": () => shift(1),
  raise: () => prioritize(-1),
  lower: () => prioritize(1),
  undo: () => {
    const revision = /^revision:(\d+)$/.exec(get().cursor ?? "")?.[1];
    if (canWrite()) void undo(get().route.view === "log" && revision !== undefined ? Number(revision) : undefined);
  },
  redo: () => {
    if (canWrite()) void redo();
  },
  seen: () => void markSeen(get().picture?.revision ?? 0),
  closed: () => set({ showClosed: !get().showClosed }),
  copy: () => {
    const row = at();
    if (row !== undefined) navigator.clipboard.writeText(row.id).then(() => toast(`Copied ${row.id}`), () => toast(row.id));
  },
  pause: () => {
    const run = get().picture?.run;
    if (run?.running && canWrite()) void control(run.number, run.wanted === "go" ? "pause" : "resume");
  },
  stop: () => {
    const run = get().picture?.run;
    if (run?.running && canWrite()) show({ kind: "stop", run: run.number, seat: null });
  },
  keys: () => show({ kind: "keys" }),
};

function turn(by: number): void {
  const now = TABS.findIndex((tab) => tab.view === get().route.view);
  const tab = TABS[(Math.max(0, now) + by + TABS.length) % TABS.length];
  if (tab !== undefined) navigate({ view: tab.view, at: null, run: null });
}

/** Goes through the inbox, round and round. */
function nextNeed(): void {
  const begin = (): void => {
    const keys = pathKeys().filter((key) => key.startsWith("inbox:"));
    const now = keys.indexOf(get().cursor ?? "");
    const next = keys[(now + 1) % Math.max(1, keys.length)];
    if (next !== undefined) focusOn(next);
  };
  if (get().route.view === "now") begin();
  else {
    navigate({ view: "now", todo: null });
    setTimeout(begin, 50);
  }
}

function stepBack(): boolean {
  const { route, marked } = get();
  if (marked.size > 0) clearMarks();
  else if (route.todo !== null) openTodo(null);
  else if (route.at !== null) navigate({ at: null });
  else if (route.filter !== "") navigate({ filter: "" });
  else return false;
  return true;
}

function openAtCursor(): boolean {
  const { cursor, picture } = get();
  const [kind = "", rest = ""] = (cursor ?? "").split(/:(.*)/s);
  if (kind === "revision") navigate({ at: Number(rest) });
  else if (kind === "phase") toggleFold(Number(rest));
  else if (kind === "closed") set({ showClosed: true });
  else if (kind === "inbox") {
    // Into the item: its first button.
    document.activeElement?.querySelector<HTMLElement>("button:not(:disabled), a")?.focus();
  } else if (kind === "seat") {
    const todo = picture?.run?.seats.find((seat) => seat.seat === Number(rest))?.todo;
    if (todo) openTodo(todo);
  } else {
    const row = at();
    if (row === undefined) return false;
    openTodo(row.id);
  }
  return true;
}

function markAll(): void {
  const uids = pathKeys().flatMap((key) => (key.startsWith("todo:") ? [Number(key.slice(5))] : []));
  set({ marked: new Set(uids) });
}

function editAtCursor(): void {
  const row = at();
  if (row === undefined || !canWrite()) return;
  if (editInPlace(row.uid)) return;
  openTodo(row.id);
  // The todo may have to be read first.
  const begin = (tries: number): void => {
    const button = document.querySelector<HTMLElement>('[data-edit="content"]');
    if (button !== null) button.click();
    else if (tries > 0) setTimeout(() => begin(tries - 1), 50);
  };
  begin(40);
}

/** Moves the todo among its neighbors: the todos of the same phase that are listed. */
function shift(by: number): void {
  const row = at();
  const picture = get().picture;
  if (row === undefined || picture === null || !canWrite()) return;
  const listed = pathKeys().flatMap((key) => (key.startsWith("todo:") ? [picture.byUid.get(Number(key.slice(5)))] : []));
  const order = listed.filter((other): other is Row => other !== undefined && other.phase === row.phase);
  const place = order.indexOf(row);
  if (place >= 0 && place + by >= 0 && place + by < order.length) void moveTo(row, order, place + by);
}

function prioritize(by: number): void {
  const ids = targets(todoAtCursor());
  const byId = get().picture?.byId;
  const ops = ids.flatMap((id) => {
    const now = byId?.get(id)?.priority ?? 3;
    const priority = Math.max(1, Math.min(5, now + by));
    return priority === now ? [] : [{ op: "edit", id, priority }];
  });
  if (ops.length > 0 && canWrite()) void write(ops, by < 0 ? "Raised the priority" : "Lowered the priority");
}
