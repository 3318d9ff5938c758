// The filter is evaluated by the server, so that it means the same here, in `punch list` and in the terminal board. The page
// holds all rows and asks only which of them match.
import { asProblem, get as read, planPath } from "../net/http.ts";
import { get, set } from "./state.ts";

let asked: AbortController | null = null;
let timer = 0;
const PAUSE_MS = 120;

/** Asks again which todos match; several calls in quick succession ask once. */
export function refreshMatches(pause = PAUSE_MS): void {
  clearTimeout(timer);
  if (get().route.filter.trim() === "") {
    asked?.abort();
    if (get().matched !== null || get().filterError !== null) set({ matched: null, filterError: null });
    return;
  }
  timer = window.setTimeout(() => void ask(), pause);
}

async function ask(): Promise<void> {
  asked?.abort();
  const own = new AbortController();
  asked = own;
  const { plan, filter } = get().route;
  try {
    const query = new URLSearchParams({ f: filter, form: "uids", all: "true" });
    const answer = await read<{ uids: number[] }>(planPath(plan, `todos?${query}`), own.signal);
    if (!own.signal.aborted) set({ matched: new Set(answer.uids), filterError: null });
  } catch (cause) {
    if (own.signal.aborted) return;
    const problem = asProblem(cause);
    set({ filterError: [problem.message, problem.hint].filter(Boolean).join(" ") });
  }
}
