// Every key of the page, with what it does. The `?` overlay and the handler both read this table, so neither can lag behind.

export interface KeyEntry {
  keys: string[];
  what: string;
  group: "Go" | "Move" | "Change" | "Look";
  run: string;
}

const entry = (group: KeyEntry["group"], run: string, what: string, ...keys: string[]): KeyEntry => ({ keys, what, group, run });

/** Keys of the terminal board, wherever the same thing exists here. */
export const KEYS: readonly KeyEntry[] = [
  entry("Go", "view:now", "Now: what needs you, who works, what is next", "1", "g n"),
  entry("Go", "view:list", "List: phases and todos", "2", "g l"),
  entry("Go", "view:graph", "Graph: what waits for what", "3", "g g"),
  entry("Go", "view:log", "Log: what changed", "4", "g o"),
  entry("Go", "view:run", "Run: seats, time and spending", "5", "g r"),
  entry("Go", "view:board", "Board: columns by status", "6", "g b"),
  entry("Go", "next-view", "Next page", "]"),
  entry("Go", "previous-view", "Previous page", "["),
  entry("Go", "attention", "Go to the next thing that needs you", "!"),
  entry("Go", "filter", "Filter todos", "/"),
  entry("Go", "back", "One step back", "Escape"),
  entry("Move", "down", "Down", "j", "ArrowDown"),
  entry("Move", "up", "Up", "k", "ArrowUp"),
  entry("Move", "first", "To the top", "Home"),
  entry("Move", "last", "To the end", "G", "End"),
  entry("Move", "page-down", "Half a page down", "Ctrl+d", "PageDown"),
  entry("Move", "page-up", "Half a page up", "Ctrl+u", "PageUp"),
  entry("Move", "open", "Open what is selected", "Enter"),
  entry("Move", "mark", "Select; on the board, lift the card", "Space"),
  entry("Move", "mark-all", "Select everything listed", "Ctrl+a"),
  entry("Change", "add", "Add a todo", "a"),
  entry("Change", "edit", "Edit the text", "e", "F2"),
  entry("Change", "menu", "Menu of changes", "x"),
  entry("Change", "act:start", "Start", "s"),
  entry("Change", "act:done", "Complete", "d"),
  entry("Change", "act:fail", "Report a failed attempt", "f"),
  entry("Change", "act:cancel", "Cancel", "c"),
  entry("Change", "act:reopen", "Reopen", "r"),
  entry("Change", "act:hold", "Put on hold", "p"),
  entry("Change", "act:release", "End the hold", "u"),
  entry("Change", "act:archive", "Archive", "X"),
  entry("Change", "act:note", "Add a note", "m"),
  entry("Change", "act:assign", "Give to an agent", "b"),
  entry("Change", "move-up", "Move up in the list", "K", "Alt+ArrowUp"),
  entry("Change", "move-down", "Move down in the list", "J", "Alt+ArrowDown"),
  entry("Change", "raise", "Raise the priority", "+"),
  entry("Change", "lower", "Lower the priority", "-"),
  entry("Change", "undo", "Undo your last change; in the log, the selected one", "z"),
  entry("Change", "redo", "Redo what you undid last", "Z"),
  entry("Look", "seen", "Mark all changes as seen", "i"),
  entry("Look", "closed", "Show or hide closed todos", "H"),
  entry("Look", "copy", "Copy the id", "Y"),
  entry("Look", "pause", "Pause or resume the run", "P"),
  entry("Look", "stop", "Stop the run", "S"),
  entry("Look", "keys", "This overview", "?"),
];

/** The name of a key press as the table writes it. */
export function pressed(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string {
  const key = event.key === " " ? "Space" : event.key;
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${key}`;
}

/** Letters and signs without a modifier can be switched off: people who dictate would press them by speaking. */
export function isSingleKey(key: string): boolean {
  return key.length === 1 || key.includes(" ");
}

/** How a key is printed. */
export function keyCap(key: string): string[] {
  const names: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", PageUp: "PgUp", PageDown: "PgDn" };
  return key.split(/(?<=.)[+ ](?=.)/).map((part) => names[part] ?? part);
}
