// Saving one field of a todo without overwriting what someone else wrote meanwhile, and without losing what you typed.
import { get, Problem, read, submit, todoPath } from "../shared.ts";
import type { Op, TodoAnswer, TodoRecord } from "./types.ts";

/** Texts that are being edited. They outlive the field that shows them: closing a todo loses nothing. */
export interface Draft {
  /** What the field said when editing began. */
  base: string;
  text: string;
}

const drafts = new Map<string, Draft>();

export function draftOf(key: string): Draft | undefined {
  return drafts.get(key);
}

export function keepDraft(key: string, draft: Draft | null): void {
  if (draft === null) drafts.delete(key);
  else drafts.set(key, draft);
}

/** Text fields that can be edited, with the value that an absent one has. */
export type TextField = "content" | "description" | "verificationCriteria";

export function fieldText(todo: TodoRecord, field: TextField): string {
  return todo[field] ?? "";
}

export type Saved = { state: "saved"; revision: number } | { state: "changed"; now: string };

const TRIES = 5;

/** Saves a text if the field still says what it said when editing began. A change of anything else does not matter. */
export async function saveField(id: string, field: TextField, base: string, text: string): Promise<Saved> {
  for (let tries = 0; ; tries++) {
    const fresh = await read<TodoAnswer>(todoPath(get().route.plan, id));
    const now = fieldText(fresh.todo, field);
    if (now === text) return { state: "saved", revision: fresh.revision };
    if (now !== base) return { state: "changed", now };
    const op: Op = { op: "edit", id, [field]: text === "" ? null : text };
    try {
      return { state: "saved", revision: (await submit([op], fresh.revision)).revision };
    } catch (cause) {
      const lost = cause instanceof Problem && cause.status === 409;
      if (!lost || tries >= TRIES) throw cause;
    }
  }
}
