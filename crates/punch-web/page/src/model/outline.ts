// The list by phase: headings, todos, and one line for closed todos that are left out.
import type { Phase, Progress, Row } from "./types.ts";

export type Line =
  | { kind: "phase"; uid: number; name: string; progress: Progress; folded: boolean }
  | { kind: "todo"; row: Row }
  | { kind: "closed"; phase: number; count: number };

const CLOSED = ["completed", "cancelled", "archived"];

/** Todos without a phase have phase 0. */
export function outline(rows: Row[], phases: Phase[], options: { matched: Set<number> | null; showClosed: boolean; folded: Set<number> }): Line[] {
  const { matched, showClosed, folded } = options;
  const names = new Map(phases.map((phase) => [phase.uid, phase.name]));
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const phase = row.phase !== undefined && names.has(row.phase) ? row.phase : 0;
    const group = groups.get(phase);
    if (group === undefined) groups.set(phase, [row]);
    else group.push(row);
  }
  const lines: Line[] = [];
  for (const phase of [0, ...phases.map((one) => one.uid)]) {
    const group = groups.get(phase) ?? [];
    const shown = matched === null ? group : group.filter((row) => matched.has(row.uid));
    // An empty phase is worth a heading only where everything is listed.
    if (shown.length === 0 && (phase === 0 || matched !== null)) continue;
    const isFolded = phase !== 0 && folded.has(phase);
    if (phase !== 0) lines.push({ kind: "phase", uid: phase, name: names.get(phase) ?? "", progress: progressOf(group), folded: isFolded });
    if (isFolded) continue;
    // A filter says itself which closed todos it wants.
    const hides = matched === null && !showClosed;
    const closed = hides ? shown.filter((row) => CLOSED.includes(row.status)).length : 0;
    for (const row of shown) if (!hides || !CLOSED.includes(row.status)) lines.push({ kind: "todo", row });
    if (closed > 0) lines.push({ kind: "closed", phase, count: closed });
  }
  return lines;
}

function progressOf(rows: Row[]): Progress {
  const counted = rows.filter((row) => row.status !== "cancelled" && row.status !== "parked");
  const completed = counted.filter((row) => row.status === "completed").length;
  return { completed, total: counted.length, percent: counted.length === 0 ? 0 : Math.floor((100 * completed) / counted.length) };
}
