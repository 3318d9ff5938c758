// Keeps the picture of the open plan current: reads it once, then applies the stream. What does not fit is read again, so a
// gap cannot stay unseen.
import { asProblem, get as read, planPath } from "../net/http.ts";
import { Live } from "../net/live.ts";
import { announceInbox } from "./announce.ts";
import { applyActivity, applyChange, applyQuestion, fits, type Picture, pictureOf } from "./picture.ts";
import { get, set } from "./state.ts";
import { refreshMatches } from "./filter.ts";
import type { ActivityEvent, BoardAnswer, ChangeEvent, Question } from "./types.ts";

let live: Live | null = null;
/** A read of the board that is under way. Events that arrive meanwhile wait for it. */
let loading: Promise<void> | null = null;
let waiting: { event: string; data: unknown }[] = [];
let logOut: (why: string) => void = () => {};

export function onLogOut(handler: (why: string) => void): void {
  logOut = handler;
}

export async function openPlan(plan: string): Promise<void> {
  live?.stop();
  live = null;
  set({ picture: null, missing: null, matched: null, marked: new Set(), cursor: null, connection: "connecting" });
  await load(plan);
  if (get().picture?.plan !== plan) return;
  const feed = new Live(plan, {
    revision: () => get().picture?.revision ?? 0,
    event: (event, data) => receive(plan, event, data),
    connection: (connection) => set({ connection, ...(connection === "live" ? { lastLive: Date.now() } : {}) }),
    refused: (problem) => {
      if (problem.status === 401) logOut("Your session has ended.");
      else {
        // The plan is gone: what is shown is not true any more.
        set({ picture: null });
        void load(plan);
      }
    },
  });
  live = feed;
  feed.start();
}

/** Tries to connect at once instead of after the pause. */
export function reconnect(): void {
  live?.retryNow();
}

export function load(plan: string): Promise<void> {
  loading ??= readBoard(plan).finally(() => {
    loading = null;
    const late = waiting;
    waiting = [];
    late.forEach((event) => void receive(plan, event.event, event.data));
  });
  return loading;
}

async function readBoard(plan: string): Promise<void> {
  try {
    const answer = await read<BoardAnswer>(planPath(plan, "board"));
    if (get().route.plan !== plan) return;
    show(pictureOf(answer), answer.now);
    set({ missing: null });
  } catch (cause) {
    const problem = asProblem(cause);
    if (problem.status === 401) logOut("Your session has ended.");
    // A picture that is there stays: the header says that it is old.
    else if (get().picture?.plan !== plan) set({ missing: { text: problem.message, hint: problem.hint } });
  }
}

async function receive(plan: string, event: string, data: unknown): Promise<void> {
  if (get().route.plan !== plan) return;
  if (loading !== null && event !== "reset") {
    waiting.push({ event, data });
    return;
  }
  const picture = get().picture;
  if (event === "reset") return load(plan);
  if (picture === null) return;
  if (event === "change") {
    const change = data as ChangeEvent;
    const fit = fits(picture, change);
    if (fit === "gap") return load(plan);
    if (fit === "apply") show(applyChange(picture, change), change.now);
  } else if (event === "activity") {
    const activity = data as ActivityEvent;
    show(applyActivity(picture, activity), activity.now);
  } else if (event === "question") {
    const { question, now } = data as { question: Question; now: number };
    show(applyQuestion(picture, question), now);
  } else if (event === "hello") {
    const { revision, now } = data as { revision: number; now: number };
    set({ now });
    // The store went back, for example to a copy: nothing of this picture is sure.
    if (revision < picture.revision) return load(plan);
  }
}

function show(picture: Picture, now: number): void {
  const before = get().picture;
  set({ picture, now });
  announceInbox(before, picture);
  const count = picture.inbox.length;
  document.title = `${count > 0 ? `(${count}) ` : ""}${picture.plan} · Punchlist`;
  if (before === null || before.rows !== picture.rows) refreshMatches();
}
