// What can be done with several todos at once.
import type { JSX } from "preact";
import { clearMarks, show, toast, write } from "../model/actions.ts";
import { ACTIONS, opsOf, saidOf, type ActionName } from "../model/changes.ts";
import { get, useApp } from "../model/state.ts";
import { plural } from "./format.ts";
import { IconButton } from "./icons.tsx";
import { Button, useCanWrite } from "./parts.tsx";

/** The marked todos in list order; without any, the given one. */
export function targets(fallback: string | null): string[] {
  const { picture, marked } = get();
  const ids = (picture?.rows ?? []).filter((row) => marked.has(row.uid)).map((row) => row.id);
  return ids.length > 0 ? ids : fallback === null ? [] : [fallback];
}

/** Does something to todos, or opens what has to be typed first. */
export async function act(name: ActionName, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const ops = opsOf(name, ids);
  if (ops !== null) {
    if (await write(ops, saidOf(name, ids))) clearMarks();
  } else if (name === "fail") show({ kind: "fail", id: ids[0] ?? "" });
  else if (name === "assign" && get().server?.agents.length === 0) {
    // It runs a program on the machine of the server.
    toast("This session may not start agents.", { kind: "refused", hint: "Open the link that `punch serve` printed in a terminal." });
  } else if (name === "hold" || name === "note" || name === "assign") show({ kind: name, ids });
}

export function SelectionBar(): JSX.Element | null {
  const marked = useApp((state) => state.marked);
  const can = useCanWrite();
  if (marked.size === 0) return null;
  const actions: ActionName[] = ["done", "hold", "assign", "cancel"];
  return (
    <div class="selection" role="toolbar" aria-label="Selected todos">
      <span class="strong nowrap">{plural(marked.size, "todo")} selected</span>
      {can && ACTIONS.filter((action) => actions.includes(action.name)).map((action) => (
        <Button key={action.name} look="small" onClick={() => void act(action.name, targets(null))}>{action.label}</Button>
      ))}
      {can && <Button look="small" onClick={() => show({ kind: "menu", ids: targets(null) })}>More…</Button>}
      <IconButton name="close" label="Clear the selection" onClick={clearMarks} />
    </div>
  );
}
