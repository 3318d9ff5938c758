// The picture of a plan that a tab has, and how events change it. Pure: nothing here talks to the server or to the page.
import type {
  ActivityEvent, AgentSession, BoardAnswer, ChangeEvent, FleetInShort, HistoryEntry, InboxItem, Phase, Progress, Question, Rights, Row,
  RunState,
} from "./types.ts";

export interface Picture {
  plan: string;
  revision: number;
  /** In list order. */
  rows: Row[];
  byUid: Map<number, Row>;
  byId: Map<string, Row>;
  phases: Phase[];
  progress: Progress;
  inbox: InboxItem[];
  questions: Question[];
  run: RunState | null;
  sessions: AgentSession[];
  /** The workers on all machines; `null` without any. */
  fleet: FleetInShort | null;
  seen: number;
  /** Newest first. */
  unseen: HistoryEntry[];
  quietAfter: number;
  failedWrite: string | null;
  can: Rights;
}

/** How many changes there are since you looked. Not all of them are kept. */
export function unseenCount(picture: Picture): number {
  return Math.max(0, picture.revision - picture.seen);
}

/** Changes since you looked that are kept; older ones are in the log. */
const UNSEEN = 50;

export function pictureOf(answer: BoardAnswer): Picture {
  return { ...answer, ...indexed(sorted(answer.rows, answer.phases)) };
}

function indexed(rows: Row[]): Pick<Picture, "rows" | "byUid" | "byId"> {
  const byUid = new Map<number, Row>();
  const byId = new Map<string, Row>();
  for (const row of rows) {
    byUid.set(row.uid, row);
    byId.set(row.id, row);
  }
  return { rows, byUid, byId };
}

/** Todos without a phase come first, then phase by phase; inside a phase by place in the list. */
export function sorted(rows: Row[], phases: Phase[]): Row[] {
  const rank = new Map(phases.map((phase, at) => [phase.uid, at + 1]));
  const of = (row: Row): number => (row.phase === undefined ? 0 : (rank.get(row.phase) ?? 0));
  return [...rows].sort((a, b) => of(a) - of(b) || a.position - b.position || a.uid - b.uid);
}

/** What to do with a change: it fits, the picture has it already, or something between is missing. */
export function fits(picture: Picture, change: ChangeEvent): "apply" | "skip" | "gap" {
  if (change.from === picture.revision) return "apply";
  return change.revision <= picture.revision ? "skip" : "gap";
}

export function applyChange(picture: Picture, change: ChangeEvent): Picture {
  const phases = change.phases ?? picture.phases;
  const unseen = [...change.history].reverse().concat(picture.unseen).filter((entry) => entry.revision > picture.seen);
  return {
    ...picture,
    ...replaced(picture, change.rows, change.gone, phases),
    revision: change.revision,
    phases,
    progress: change.progress,
    inbox: change.inbox ?? picture.inbox,
    unseen: unseen.slice(0, UNSEEN),
  };
}

/** The answer to a write of this tab: its rows are shown before the stream brings them, with all that follows from them. */
export function applyRows(picture: Picture, revision: number, rows: Row[], gone: number[]): Picture {
  if (revision <= picture.revision) return picture;
  return { ...picture, ...replaced(picture, rows, gone, picture.phases) };
}

function replaced(picture: Picture, rows: Row[], gone: number[], phases: Phase[]): Pick<Picture, "rows" | "byUid" | "byId"> {
  if (rows.length === 0 && gone.length === 0 && phases === picture.phases) {
    return { rows: picture.rows, byUid: picture.byUid, byId: picture.byId };
  }
  const fresh = new Map(rows.map((row) => [row.uid, row]));
  const left = new Set(gone);
  const kept = picture.rows.filter((row) => !left.has(row.uid)).map((row) => fresh.get(row.uid) ?? row);
  const added = rows.filter((row) => !picture.byUid.has(row.uid) && !left.has(row.uid));
  const stays = (row: Row): boolean => {
    const before = picture.byUid.get(row.uid);
    return before !== undefined && before.position === row.position && before.phase === row.phase;
  };
  const inOrder = added.length === 0 && phases === picture.phases && rows.every((row) => left.has(row.uid) || stays(row));
  return indexed(inOrder ? kept : sorted(kept.concat(added), phases));
}

export function applyActivity(picture: Picture, activity: ActivityEvent): Picture {
  // The mark of a reader stays in the tab.
  const seen = picture.can.write ? activity.seen : Math.max(picture.seen, activity.seen);
  return {
    ...picture,
    run: activity.run,
    sessions: activity.sessions,
    fleet: activity.fleet,
    inbox: activity.inbox,
    questions: activity.questions,
    failedWrite: activity.failedWrite,
    seen,
    unseen: picture.unseen.filter((entry) => entry.revision > seen),
  };
}

export function applyQuestion(picture: Picture, question: Question): Picture {
  const others = picture.questions.filter((other) => other.id !== question.id);
  const questions = question.state === "open" ? [...others, question].sort((a, b) => a.id - b.id) : others;
  return { ...picture, questions };
}
