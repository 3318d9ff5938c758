// Everything that you can make happen. Views call these; keys call these; nothing else writes.
import { asProblem, get as read, planPath, post, Problem, request } from "../net/http.ts";
import { addressOf, parseRoute, type Route } from "../net/route.ts";
import { findToken, keepToken, takeFragmentToken } from "../net/session.ts";
import { announce } from "./announce.ts";
import { names } from "./changes.ts";
import { refreshMatches } from "./filter.ts";
import { applyQuestion, applyRows } from "./picture.ts";
import { load, onLogOut, openPlan } from "./plan_feed.ts";
import { drawWhenShown, get, set, type Overlay, type Toast } from "./state.ts";
import type { Op, PlanInfo, Question, ServerInfo, WriteAnswer } from "./types.ts";

const SINGLE_KEYS = "punch.single-keys";

export async function start(): Promise<void> {
  set({ route: parseRoute(location), now: Date.now(), singleKeys: localStorage.getItem(SINGLE_KEYS) !== "off" });
  drawWhenShown();
  onLogOut(logOut);
  addEventListener("popstate", () => void follow(parseRoute(location)));
  addEventListener("hashchange", () => {
    const token = takeFragmentToken();
    if (token !== null) void logIn(token);
  });
  setInterval(() => set({ now: get().now + 20_000 }), 20_000);
  const token = takeFragmentToken();
  if (token !== null) return logIn(token);
  await findToken(retry);
  await enter();
}

/** Exchanges a one-time token for a session. */
export async function logIn(token: string): Promise<void> {
  try {
    const answer = await post<{ token?: string }>("/session", { token });
    keepToken(answer.token ?? null);
    await findToken(retry);
    await enter();
  } catch (cause) {
    const problem = asProblem(cause);
    await findToken(retry);
    // The link may have been opened twice; the session it gave may still be there.
    await enter(problem.status === 401 ? "This link was already used, or it has expired." : problem.message);
  }
}

export function logOut(why: string): void {
  keepToken(null);
  set({ loggedOut: why, server: null, picture: null });
}

export async function leave(): Promise<void> {
  await request("DELETE", "/session").catch(() => undefined);
  logOut("You are logged out.");
}

async function enter(otherwise = ""): Promise<void> {
  try {
    const server = await read<ServerInfo>("");
    set({ server, loggedOut: null, missing: null });
    await openFirstPlan(server);
  } catch (cause) {
    const problem = asProblem(cause);
    if (problem.status === 401) logOut(otherwise);
    else set({ missing: { text: problem.message, hint: problem.hint } });
  }
}

/** Tries again after the server could not be reached. */
export function retry(): void {
  set({ missing: null });
  void enter();
}

async function openFirstPlan(server: ServerInfo): Promise<void> {
  await readPlans();
  const route = get().route;
  const plan = route.plan || server.plan || get().plans[0]?.name || "";
  if (plan === "") {
    set({ missing: { text: "There is no plan yet.", hint: 'Run `punch add "First todo"` in the project.' } });
    return;
  }
  const opened = { ...route, plan };
  history.replaceState(null, "", addressOf(opened));
  set({ route: opened });
  await openPlan(plan);
}

export async function readPlans(): Promise<void> {
  set({ plans: (await read<{ plans: PlanInfo[] }>("/plans")).plans });
}

/** Goes to another address. Typing in the filter replaces the address, everything else adds one. */
export function navigate(patch: Partial<Route>, how: "push" | "replace" = "push"): void {
  const route = { ...get().route, ...patch };
  const address = addressOf(route);
  if (address !== location.pathname + location.search + location.hash) {
    if (how === "push") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }
  void follow(route);
}

async function follow(route: Route): Promise<void> {
  const before = get().route;
  const next = route.plan === "" ? { ...route, plan: before.plan } : route;
  set({ route: next });
  if (next.plan !== before.plan) {
    await openPlan(next.plan);
    void readPlans().catch(() => undefined);
  } else if (next.filter !== before.filter) {
    refreshMatches();
  }
}

export function openTodo(id: string | null): void {
  const { route } = get();
  if (route.view === "todo" && id === null) navigate({ view: "list", todo: null });
  else navigate({ todo: id }, route.todo === null || id === null ? "push" : "replace");
}

export function show(overlay: Overlay | null): void {
  set({ overlay });
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(SINGLE_KEYS, on ? "on" : "off");
  set({ singleKeys: on });
}

let toasts = 0;
const DONE_MS = 8_000;
const REFUSED_MS = 15_000;
/** What takes longer to be completed runs a check, which may take minutes. */
const CHECK_MS = 400;

export function toast(text: string, more: Partial<Toast> = {}): number {
  const made: Toast = { id: ++toasts, text, hint: null, kind: "done", undo: null, ...more };
  set({ toasts: [...get().toasts.slice(-2), made] });
  announce(made.hint === null ? text : `${text} ${made.hint}`);
  if (made.kind !== "pending") setTimeout(() => dismiss(made.id), made.kind === "done" ? DONE_MS : REFUSED_MS);
  return made.id;
}

export function dismiss(id: number): void {
  set({ toasts: get().toasts.filter((other) => other.id !== id) });
}

/** Shows a refusal with its hint. */
export function refuse(cause: unknown): Problem {
  const problem = asProblem(cause);
  if (problem.status === 401) logOut("Your session has ended.");
  else toast(problem.message, { kind: "refused", hint: problem.hint });
  return problem;
}

function randomKey(): string {
  return crypto.randomUUID();
}

/** Writes a batch, all or nothing. Throws a `Problem` if it is refused. */
export async function submit(ops: Op[], ifRevision?: number): Promise<WriteAnswer> {
  const { plan } = get().route;
  const checked = ops.flatMap((op) => (op.op === "done" ? [String(op["id"])] : []));
  let shown = 0;
  const timer = setTimeout(() => {
    if (checked.length > 0) shown = toast(`Checking ${names(checked)}…`, { kind: "pending" });
  }, CHECK_MS);
  try {
    const answer = await post<WriteAnswer>(planPath(plan, "ops"), { ops, ifRevision, key: randomKey() });
    const { picture } = get();
    if (picture?.plan === plan) set({ picture: applyRows(picture, answer.revision, answer.rows, answer.gone) });
    return answer;
  } finally {
    clearTimeout(timer);
    dismiss(shown);
  }
}

/** Writes a batch, says what was done, and offers to undo it. False if it was refused. */
export async function write(ops: Op[], done: string): Promise<boolean> {
  try {
    const answer = await submit(ops);
    toast(done, { undo: answer.revision, hint: answer.warnings[0] ?? null });
    return true;
  } catch (cause) {
    const ids = ops.flatMap((op) => (op.op === "done" && !op["evidence"] ? [String(op["id"])] : []));
    // The plan wants to know what shows that it is done: that can be said here.
    if (asProblem(cause).code === "needs_evidence" && ids.length > 0) show({ kind: "evidence", ids });
    else refuse(cause);
    return false;
  }
}

/** Undoes one revision, or your latest change. */
export async function undo(revision?: number): Promise<void> {
  try {
    const body = { revision, key: randomKey() };
    const answer = await post<WriteAnswer>(planPath(get().route.plan, "undo"), body);
    const { picture } = get();
    if (picture !== null) set({ picture: applyRows(picture, answer.revision, answer.rows, answer.gone) });
    toast(`Undid revision ${answer.undid ?? revision ?? ""}`.trim());
  } catch (cause) {
    refuse(cause);
  }
}

export async function redo(): Promise<void> {
  await write([{ op: "redo" }], "Redid what you undid last");
}

/** Answers a question of an agent. If someone was faster, says who and when. */
export async function answer(question: Question, body: { answer: string; option?: string; reason?: string }): Promise<boolean> {
  try {
    const path = planPath(get().route.plan, `questions/${question.id}/answer`);
    settle((await post<{ question: Question }>(path, body)).question);
    toast(`${body.answer === "refuse" ? "Denied" : "Answered"}: ${question.todo ?? question.agent}`);
    return true;
  } catch (cause) {
    const problem = asProblem(cause);
    if (problem.question !== null) settle(problem.question);
    if (problem.code === "not_the_user") {
      toast("This session may not answer questions.", {
        kind: "refused", hint: "Open the link that `punch serve` printed in a terminal.",
      });
    } else {
      refuse(problem);
    }
    return false;
  }
}

function settle(question: Question): void {
  const { picture } = get();
  if (picture === null) return;
  const inbox = question.state === "open" ? picture.inbox : picture.inbox.filter((item) => item.question !== question.id);
  set({ picture: { ...applyQuestion(picture, question), inbox } });
}

export async function control(run: number, wanted: "pause" | "resume" | "stop", seat: number | null = null): Promise<void> {
  try {
    const body = seat === null ? { wanted } : { wanted, seat };
    await post(planPath(get().route.plan, `runs/${run}/control`), body);
    const what = seat === null ? `run ${run}` : `seat ${seat}`;
    const said = { pause: `Pausing ${what}: agents finish what they work on`, resume: `Resuming ${what}`, stop: `Stopping ${what}` };
    toast(said[wanted]);
  } catch (cause) {
    refuse(cause);
  }
}

/** Gives todos to a new agent, which starts on the machine of the server. */
export async function assign(todos: string[], agent: string): Promise<boolean> {
  try {
    await post(planPath(get().route.plan, "assign"), { todos, agent });
    toast(`Gave ${names(todos)} to ${agent}`);
    return true;
  } catch (cause) {
    refuse(cause);
    return false;
  }
}

/** Marks everything up to a revision as seen. A reader's mark stays in the tab. */
export async function markSeen(revision: number): Promise<void> {
  const { picture, server } = get();
  if (picture === null) return;
  const seen = { ...picture, seen: revision, unseen: picture.unseen.filter((entry) => entry.revision > revision) };
  set({ picture: seen });
  if (server?.can.write !== true) return;
  try {
    await post(planPath(picture.plan, "seen"), { revision });
  } catch (cause) {
    refuse(cause);
    void load(picture.plan);
  }
}

export function setFilter(filter: string): void {
  navigate({ filter }, "replace");
}

export function toggleMark(uid: number): void {
  const marked = new Set(get().marked);
  if (!marked.delete(uid)) marked.add(uid);
  set({ marked });
}

export function clearMarks(): void {
  set({ marked: new Set() });
}
