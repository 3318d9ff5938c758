// One revision as a line: when, what, by whom, and undoing it.
import type { ComponentChildren, JSX } from "preact";
import { undo } from "../model/actions.ts";
import { useApp } from "../model/state.ts";
import type { HistoryEntry } from "../model/types.ts";
import { clock, fullTime } from "./format.ts";
import { Button, useCanWrite } from "./parts.tsx";

export function Entry(props: { entry: HistoryEntry; unseen?: boolean; children?: ComponentChildren }): JSX.Element {
  const { entry } = props;
  const now = useApp((state) => state.now);
  const key = `revision:${entry.revision}`;
  const at = useApp((state) => state.cursor === key);
  const write = useCanWrite();
  const undone = entry.undoneBy != null;
  return (
    <li class={`entry ${undone ? "undone" : ""}`} data-key={props.children ? key : undefined} tabIndex={at ? 0 : -1}>
      {props.children && <span class="mono muted entry-revision">r{entry.revision}</span>}
      <time class="muted nowrap" title={`Revision ${entry.revision}, ${fullTime(entry.at)}`}>{clock(entry.at, now)}</time>
      <span class="entry-changes theirs grow">
        {entry.detail?.join("; ") || entry.changes}
        {entry.undoes != null && <span class="muted"> · undoes r{entry.undoes}</span>}
        {undone && <span class="muted"> · undone by r{entry.undoneBy}</span>}
        {props.unseen && <span class="chip accent">new</span>}
      </span>
      <span class="entry-by muted theirs clip" title={entry.by}>{entry.by}</span>
      <span class="entry-actions">
        {props.children}
        {write && !undone && <Button look="quiet small" label={`Undo revision ${entry.revision}`} onClick={() => void undo(entry.revision)}>Undo</Button>}
      </span>
    </li>
  );
}
