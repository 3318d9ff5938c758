// What dropping a todo on a column would do. Columns are derived from the plan, so a drop is only a wish: the server is asked
// first, and says which rule forbids it.
import { type Column, columnOf, COLUMNS, needingYou, opsToColumn } from "./columns.ts";
import type { Op, Row, WriteAnswer } from "./types.ts";
import { asProblem, get, planPath, post } from "../shared.ts";

export type Verdict =
  | { allowed: true; ops: Op[]; words: string }
  /** Allowed once a reason is given. */
  | { allowed: true; ask: true; words: string }
  | { allowed: false; words: string; hint: string | null };

const titleOf = (column: Column): string => COLUMNS.find((one) => one.name === column)?.title ?? column;

/** Answers that were given for this revision; another revision may allow what this one forbids. */
let known = new Map<string, Promise<Verdict>>();
let knownAt = -1;

export function verdictOf(row: Row, column: Column): Promise<Verdict> {
  const revision = get().picture?.revision ?? 0;
  if (revision !== knownAt) {
    known = new Map();
    knownAt = revision;
  }
  const key = `${row.uid}/${column}`;
  const found = known.get(key) ?? ask(row, column);
  known.set(key, found);
  return found;
}

async function ask(row: Row, column: Column): Promise<Verdict> {
  const ops = opsToColumn(row, column);
  if (ops === "ask") return { allowed: true, ask: true, words: "" };
  const why = row.why?.join("; ");
  if (ops === null) {
    return { allowed: false, words: `${row.id} cannot be moved to ${titleOf(column)}`, hint: why ?? null };
  }
  try {
    const answer = await post<WriteAnswer>(planPath(get().route.plan, "rehearse"), { ops });
    const after = answer.rows.find((other) => other.uid === row.uid) ?? row;
    const picture = get().picture;
    // Someone who waits for you may still be in the inbox; the rehearsal knows only the plan.
    const needing = picture === null ? new Set<string>() : needingYou(picture);
    needing.delete(row.id);
    if (columnOf(after, needing) !== column) {
      const reason = after.why?.join("; ");
      return { allowed: false, words: `${row.id} would not be in ${titleOf(column)}`, hint: reason ?? null };
    }
    return { allowed: true, ops, words: `Moved ${row.id} to ${titleOf(column)}` };
  } catch (cause) {
    const problem = asProblem(cause);
    // Evidence is asked for after the drop; a check runs then.
    if (["needs_evidence", "needs_verification"].includes(problem.code)) return { allowed: true, ops, words: `Moved ${row.id} to ${titleOf(column)}` };
    return { allowed: false, words: problem.message, hint: problem.hint };
  }
}
