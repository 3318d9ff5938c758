// The frame around every page: header, tabs, the page, the open todo beside it, and what floats above.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { dismiss, leave, logIn, navigate, openTodo, retry, setFilter, show, undo } from "../model/actions.ts";
import { setRegion } from "../model/announce.ts";
import { reconnect } from "../model/plan_feed.ts";
import { useApp } from "../model/state.ts";
import { addressOf, type View } from "../net/route.ts";
import { keepFocus } from "./cursor.ts";
import { clock, dollars, plural } from "./format.ts";
import { Icon, IconButton } from "./icons.tsx";
import { List } from "./list.tsx";
import { Now } from "./now.tsx";
import { Overlays } from "./overlays.tsx";
import { Button, Command, Empty, Message, PauseButton, plainClick, useCanWrite } from "./parts.tsx";
import { SelectionBar } from "./selection.tsx";

export const TABS: readonly { view: View; title: string }[] = [
  { view: "now", title: "Now" },
  { view: "board", title: "Board" },
  { view: "list", title: "List" },
  { view: "graph", title: "Graph" },
  { view: "run", title: "Run" },
  { view: "log", title: "Log" },
];

export function App(): JSX.Element {
  const loggedOut = useApp((state) => state.loggedOut);
  const missing = useApp((state) => state.missing);
  const picture = useApp((state) => state.picture);
  const view = useApp((state) => state.route.view);
  const todo = useApp((state) => state.route.todo);
  const overlay = useApp((state) => state.overlay);
  useEffect(keepFocus, [picture]);
  const beside = picture !== null && view !== "todo" && todo !== null;
  return (
    <>
      {loggedOut !== null ? <Login why={loggedOut} /> : (
        <div class={`shell ${beside ? "beside" : ""}`} inert={overlay !== null}>
          <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
          <Header />
          <Tabs />
          <main id="main" class={`main view-${view}`} tabIndex={-1}>
            {picture !== null ? <Page view={view} todo={todo} /> : missing !== null ? <Missing {...missing} /> : <Loading />}
          </main>
          {beside && <aside class="aside" aria-label={`Todo ${todo}`}><OnDemand key={todo} page="todo" id={todo} beside /></aside>}
          <SelectionBar />
        </div>
      )}
      <Overlays />
      <Toasts />
      <div class="hidden" role="status" aria-live="polite" ref={setRegion} />
    </>
  );
}

function Page(props: { view: View; todo: string | null }): JSX.Element {
  switch (props.view) {
    case "now": return <Now />;
    case "list": return <List />;
    case "todo": return props.todo === null ? <List /> : <OnDemand key={props.todo} page="todo" id={props.todo} />;
    default: return <OnDemand key={props.view} page={props.view} id="" />;
  }
}

/** What a page may need besides the state: the todo to show, and whether it stands beside another page. */
interface Shown {
  id: string;
  beside?: boolean;
}

type Drawn = (props: Shown) => JSX.Element;

/** Pages with a script of their own, see build.mjs. */
const LOAD: Record<"board" | "graph" | "run" | "log" | "todo", () => Promise<Drawn>> = {
  board: async () => (await import("./board.tsx")).Board,
  graph: async () => (await import("./graph.tsx")).Graph,
  run: async () => (await import("./run.tsx")).Run,
  log: async () => (await import("./log.tsx")).Log,
  todo: async () => (await import("./todo.tsx")).Todo,
};

function loadStyle(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: `/${name}.css`, onload: resolve, onerror: reject });
    document.head.append(link);
  });
}

/** Those among them that also have a style sheet. */
const STYLED: View[] = ["board", "graph", "run"];

const LOADED = new Map<View, Drawn>();

function OnDemand(props: Shown & { page: keyof typeof LOAD }): JSX.Element {
  const { page, ...shown } = props;
  const [state, setState] = useState<"loading" | "loaded" | "failed">(LOADED.has(page) ? "loaded" : "loading");
  useEffect(() => {
    if (state === "loaded") return;
    Promise.all([LOAD[page](), STYLED.includes(page) && loadStyle(page)]).then(([drawn]) => {
      LOADED.set(page, drawn);
      setState("loaded");
    }, () => setState("failed"));
  }, []);
  const Drawn = LOADED.get(page);
  if (Drawn !== undefined) return <Drawn {...shown} />;
  if (state === "loading") return <Loading />;
  return <Empty title="This page could not be loaded."><Button onClick={() => location.reload()}>Reload</Button></Empty>;
}

function Header(): JSX.Element {
  const picture = useApp((state) => state.picture);
  const plans = useApp((state) => state.plans);
  const plan = useApp((state) => state.route.plan);
  const server = useApp((state) => state.server);
  const write = useCanWrite();
  return (
    <header class="header">
      <h1 class="logo"><span class="logo-mark" aria-hidden="true"><svg viewBox="0 0 16 16" class="icon"><path d="M3.5 8.5 6.6 11.5 12.5 4.8" /></svg></span><span class="logo-name">{server?.project ?? "Punchlist"}</span></h1>
      <select class="plan" aria-label="Plan" value={plan} onChange={(event) => navigate({ plan: event.currentTarget.value, todo: null, filter: "", at: null, run: null })}>
        {plans.every((other) => other.name !== plan) && <option value={plan}>{plan || "no plan"}</option>}
        {plans.map((other) => <option key={other.name} value={other.name}>{other.name}</option>)}
      </select>
      <Filter />
      <div class="grow" />
      {picture !== null && (
        <>
          <button type="button" class={`button quiet needs-badge ${picture.inbox.length > 0 ? "on" : ""}`} onClick={() => navigate({ view: "now", todo: null })}>
            {picture.inbox.length === 0 ? "Nothing needs you" : plural(picture.inbox.length, "needs you", "need you")}
          </button>
          <span class="figures muted nowrap"><span>{picture.progress.completed} of {picture.progress.total} done</span><Spend /></span>
          <PauseButton />
        </>
      )}
      <LiveDot />
      {write && <Button look="primary small add-button" icon="plus" onClick={() => show({ kind: "add", after: null })}>Add</Button>}
      <button type="button" class="icon-button keys-button" aria-label="? Keys" title="Keys" onClick={() => show({ kind: "keys" })}>?</button>
      {server !== null && <IconButton name="out" label="Log out" class="out-button" onClick={() => void leave()} />}
    </header>
  );
}

function Spend(): JSX.Element | null {
  const run = useApp((state) => state.picture?.run ?? null);
  if (run === null || !run.running) return null;
  const limit = run.limits.cost === null ? "" : ` of ${dollars(run.limits.cost / 1e6)}`;
  return <span> · {dollars(run.spent.cost / 1e6)}{limit}</span>;
}

function LiveDot(): JSX.Element {
  const connection = useApp((state) => state.connection);
  const last = useApp((state) => state.lastLive);
  const revision = useApp((state) => state.picture?.revision);
  const failed = useApp((state) => state.picture?.failedWrite ?? null);
  const now = useApp((state) => state.now);
  if (connection === "live") {
    return (
      <span class="live nowrap" title={failed ?? `Revision ${revision ?? 0}, up to date`}>
        <span class={`dot ${failed === null ? "on" : "stale"}`} aria-hidden="true" />
        {failed === null ? <><span class="live-word">live</span> <span class="muted revision">r{revision ?? 0}</span></> : <span class="warn">an agent could not write</span>}
      </span>
    );
  }
  return (
    <button type="button" class="live button quiet small nowrap" title="Try again" onClick={reconnect}>
      <span class="dot" aria-hidden="true" />{connection === "connecting" || last === 0 ? "connecting" : `last ${clock(last, now)}, trying`}
    </button>
  );
}

function Filter(): JSX.Element {
  const filter = useApp((state) => state.route.filter);
  const error = useApp((state) => state.filterError);
  const matched = useApp((state) => state.matched);
  const [text, setText] = useState(filter);
  const field = useRef<HTMLInputElement>(null);
  // The address is the state: going back changes the field, typing changes the address.
  useEffect(() => {
    if (document.activeElement !== field.current) setText(filter);
  }, [filter]);
  const type = (value: string): void => {
    setText(value);
    setFilter(value);
  };
  return (
    <div class="filter" role="search">
      <Icon name="search" />
      <input
        ref={field} id="filter" class="field" type="text" value={text} placeholder="Filter: is:ready p:1 -docs" aria-label="Filter todos"
        aria-invalid={error !== null} aria-describedby={error === null ? undefined : "filter-error"} autocomplete="off" spellcheck={false}
        autocapitalize="off" maxLength={500}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            if (text === "") field.current?.blur();
            else type("");
            event.stopPropagation();
          } else if (event.key === "Enter") field.current?.blur();
        }}
      />
      {matched !== null && error === null && <span class="filter-count muted">{matched.size}</span>}
      {text !== "" && <IconButton name="close" label="Clear the filter" onClick={() => type("")} />}
      {error !== null && <p id="filter-error" class="filter-error" role="alert"><Message text={error} /></p>}
    </div>
  );
}

function Tabs(): JSX.Element {
  const route = useApp((state) => state.route);
  const needs = useApp((state) => state.picture?.inbox.length ?? 0);
  const current = route.view === "todo" ? "list" : route.view;
  return (
    <nav class="tabs" aria-label="Pages">
      {TABS.map(({ view, title }) => {
        const target = { ...route, view, at: null, run: null, todo: route.view === "todo" ? null : route.todo };
        return (
          <a
            key={view} class="tab" href={addressOf(target)} aria-current={view === current ? "page" : undefined}
            onClick={(event) => {
              if (!plainClick(event)) return;
              event.preventDefault();
              navigate(target);
            }}
          >
            <Icon name={view} /><span>{title}</span>
            {view === "now" && needs > 0 && <span class="tab-count" aria-label={plural(needs, "item")}>{needs}</span>}
          </a>
        );
      })}
    </nav>
  );
}

function Toasts(): JSX.Element {
  const toasts = useApp((state) => state.toasts);
  return (
    <div class="toasts">
      {toasts.map((toast) => (
        <div key={toast.id} class={`toast ${toast.kind}`}>
          <div class="grow"><p><Message text={toast.text} /></p>{toast.hint !== null && <p class="muted"><Message text={toast.hint} /></p>}</div>
          {toast.undo !== null && <Button look="small" onClick={() => { dismiss(toast.id); void undo(toast.undo ?? undefined); }}>Undo</Button>}
          <IconButton name="close" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  );
}

function Missing(props: { text: string; hint: string | null }): JSX.Element {
  return (
    <Empty title={props.text}>
      <p><Message text={props.hint} /></p>
      <p><Button onClick={retry}>Try again</Button></p>
    </Empty>
  );
}

function Loading(): JSX.Element {
  return <div class="empty muted" aria-busy="true">Reading the plan…</div>;
}

function Login(props: { why: string }): JSX.Element {
  const [token, setToken] = useState("");
  const enter = (event: Event): void => {
    event.preventDefault();
    // People paste the whole link.
    void logIn(token.trim().replace(/^.*#t=/, ""));
  };
  return (
    <main class="login">
      <div class="login-card">
        <h1>Open the board</h1>
        {props.why !== "" && <p class="need" role="alert">{props.why}</p>}
        <p class="muted">The board opens with a link that works once. For a new one, press Enter where punch serve runs, or start it:</p>
        <Command line="punch serve" />
        <form onSubmit={enter}>
          <label class="labelled">Link or token
            <input class="field mono" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
          </label>
          <Button submit look="primary" disabled={token.trim() === ""}>Open</Button>
        </form>
      </div>
    </main>
  );
}

export function closeTodo(): void {
  openTodo(null);
}
