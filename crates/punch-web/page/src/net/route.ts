// Everything that can be looked at has an address: `/p/PLAN/VIEW?f=FILTER#TODO`.

export const VIEWS = ["now", "board", "list", "graph", "run", "log", "todo"] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  /** Empty until the list of plans is known. */
  plan: string;
  view: View;
  filter: string;
  /** The todo that is open beside the page, or on its own. */
  todo: string | null;
  /** A revision that is looked at instead of the present, in the log. */
  at: number | null;
  /** The run that is shown; `null` is the latest. */
  run: number | null;
}

export const HOME: Route = { plan: "", view: "now", filter: "", todo: null, at: null, run: null };

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function count(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function parseRoute(address: { pathname: string; search: string; hash: string }): Route {
  const [, first = "", plan = "", view = "", todo = ""] = address.pathname.split("/");
  if (first !== "p" || plan === "") return HOME;
  const query = new URLSearchParams(address.search);
  const known = VIEWS.find((name) => name === view) ?? "now";
  const fragment = address.hash.replace(/^#/, "");
  return {
    plan: decode(plan),
    view: known,
    filter: query.get("f") ?? "",
    todo: known === "todo" ? decode(todo) || null : decode(fragment) || null,
    at: known === "log" ? count(query.get("at")) : null,
    run: known === "run" ? count(query.get("n")) : null,
  };
}

export function addressOf(route: Route): string {
  if (route.plan === "") return "/";
  const query = new URLSearchParams();
  if (route.filter !== "") query.set("f", route.filter);
  if (route.view === "log" && route.at !== null) query.set("at", String(route.at));
  if (route.view === "run" && route.run !== null) query.set("n", String(route.run));
  const alone = route.view === "todo" && route.todo !== null;
  const path = `/p/${encodeURIComponent(route.plan)}/${route.view}${alone ? `/${encodeURIComponent(route.todo ?? "")}` : ""}`;
  const search = query.toString();
  const fragment = !alone && route.todo !== null ? `#${encodeURIComponent(route.todo)}` : "";
  return path + (search === "" ? "" : `?${search}`) + fragment;
}
