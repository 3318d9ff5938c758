// Small pieces that every page uses.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { control, openTodo, toast } from "../model/actions.ts";
import { get, useApp } from "../model/state.ts";
import type { Row } from "../model/types.ts";
import { addressOf } from "../net/route.ts";
import { age, fullTime, span } from "./format.ts";
import type { Fetched } from "./fetched.ts";
import { Icon, StatusIcon } from "./icons.tsx";

/** A button. `look` names classes besides `button`: small, primary, quiet, danger. */
export function Button(props: {
  look?: string;
  icon?: string;
  /** What it does, where the words on it do not say it. */
  label?: string;
  submit?: boolean;
  disabled?: boolean;
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <button type={props.submit ? "submit" : "button"} class={`button ${props.look ?? ""}`} aria-label={props.label} disabled={props.disabled} onClick={props.onClick}>
      {props.icon && <Icon name={props.icon} />}{props.children}
    </button>
  );
}

/** What was asked for, or why it is not there. */
export function Await<T>(props: { of: Fetched<T>; children: (value: T) => ComponentChildren }): JSX.Element {
  const { value, problem } = props.of;
  if (value !== null) return <>{props.children(value)}</>;
  return problem === null ? <div class="empty muted" aria-busy="true">Reading…</div> : <Empty title={problem.message}><Message text={problem.hint} /></Empty>;
}

/** A table that scrolls by itself. Headings that begin with `#` are over numbers. */
export function Table(props: { head: string[]; rows: ComponentChildren[][] }): JSX.Element {
  const look = (column: number): string => (props.head[column]?.startsWith("#") ? "number" : "");
  return (
    <div class="table-scroll" tabIndex={0}>
      <table class="table">
        <thead><tr>{props.head.map((title, at) => <th scope="col" class={look(at)}>{title.replace("#", "")}</th>)}</tr></thead>
        <tbody>{props.rows.map((row) => <tr>{row.map((cell, at) => <td class={look(at)}>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** One text and a button. Ctrl+Enter sends; what was typed stays until it is accepted. */
export function TextForm(props: {
  label: string;
  button: string;
  send: (text: string) => Promise<boolean>;
  back?: () => void;
  optional?: boolean;
  disabled?: boolean;
  /** Without a visible label, and without focus at the start. */
  quiet?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!props.quiet) field.current?.focus();
  }, []);
  const blocked = busy || props.disabled || (text.trim() === "" && !props.optional);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (blocked) return;
    setBusy(true);
    if (await props.send(text.trim())) setText("");
    setBusy(false);
  };
  const area = (
    <textarea
      ref={field} data-first class="field" rows={props.quiet ? 2 : 3} value={text} maxLength={10_000} aria-label={props.quiet ? props.label : undefined} placeholder={props.quiet ? props.label : undefined}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send(event);
        else if (event.key !== "Escape") event.stopPropagation();
      }}
    />
  );
  return (
    <form class="form" onSubmit={send}>
      {props.quiet ? area : <label class="labelled">{props.label}{area}</label>}
      {props.children}
      {(!props.quiet || text.trim() !== "") && <div class="buttons"><Button submit look="primary" disabled={blocked}>{props.button}</Button>{props.back && <Button look="quiet" onClick={props.back}>Back</Button>}</div>}
    </form>
  );
}

/** A word or two in a line. Enter saves, Escape gives up. */
export function WordForm(props: { label: string; text: string; button: string; save: (text: string) => Promise<boolean>; done: () => void }): JSX.Element {
  const [text, setText] = useState(props.text);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await props.save(text)) props.done();
  };
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form class="inline-form" onSubmit={save}>
      <input ref={field} class="field" aria-label={props.label} placeholder={props.label} value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => { event.stopPropagation(); if (event.key === "Escape") props.done(); }} />
      <Button submit look="small">{props.button}</Button>
    </form>
  );
}

/** How long ago, with the exact time on hover. */
export function Age(props: { since: number }): JSX.Element {
  const now = useApp((state) => state.now);
  return <time class="age muted" dateTime={new Date(props.since).toISOString()} title={fullTime(props.since)}>{age(now - props.since)}</time>;
}

export function plainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

/** A link to a todo, with its status where that is known. */
export function TodoLink(props: { id: string; status?: boolean; children?: ComponentChildren }): JSX.Element {
  const row = useApp((state) => state.picture?.byId.get(props.id));
  const route = useApp((state) => state.route);
  const open = (event: MouseEvent): void => {
    if (!plainClick(event)) return;
    event.preventDefault();
    event.stopPropagation();
    openTodo(props.id);
  };
  return (
    <a class="todo-link" href={addressOf({ ...route, view: "todo", todo: props.id })} title={row?.text} onClick={open}>
      {props.status && row && <StatusIcon status={row.status} />}
      <span class="mono theirs">{props.id}</span>{props.children}
    </a>
  );
}

/** A command to type in a terminal, with a button that copies it. */
export function Command(props: { line: string }): JSX.Element {
  const copy = (event: Event): void => {
    event.stopPropagation();
    navigator.clipboard.writeText(props.line).then(() => toast("Copied"), () => toast("Select the command and copy it by hand."));
  };
  return (
    <div class="command">
      <code class="theirs">{props.line}</code>
      <Button look="quiet small" label={`Copy ${props.line}`} onClick={copy}>Copy</Button>
    </div>
  );
}

export function Priority(props: { priority?: number }): JSX.Element | null {
  if (props.priority === undefined || props.priority === 3) return null;
  return <span class={`priority p${props.priority}`} title={`Priority ${props.priority}`}>P{props.priority}</span>;
}

/** The marks of a row: owner, labels, what is odd about it. */
export function Marks(props: { row: Row }): JSX.Element {
  const { row } = props;
  return (
    <span class="marks">
      {row.badges?.map((badge) => <span key={badge} class={`chip ${/stale|fail|out/.test(badge) ? "warn" : badge === "checked" ? "done" : ""}`}>{badge.replace("_", " ")}</span>)}
      {row.owner !== undefined && <span class="chip work theirs" title={row.owner}>{row.owner}</span>}
      {row.labels?.map((label) => <span key={label} class="chip theirs">#{label}</span>)}
      {row.notes !== undefined && <span class="muted with-icon" title={`${row.notes} notes`}><Icon name="note" />{row.notes}</span>}
    </span>
  );
}

/** Why a row is not worked on, or since when it is. */
export function Reason(props: { row: Row }): JSX.Element | null {
  const { row } = props;
  const now = useApp((state) => state.now);
  const why = row.why?.join("; ");
  if (why) return <span class={`why theirs ${row.status === "stuck" ? "warn" : "muted"}`} title={why}>{why}</span>;
  if (row.since !== undefined) return <span class="why muted" title={fullTime(row.since)}>{span(now - row.since)}</span>;
  return null;
}

export function Blocks(props: { count: number }): JSX.Element | null {
  if (props.count === 0) return null;
  const words = `${props.count} open ${props.count === 1 ? "todo waits" : "todos wait"} for it`;
  return <span class="muted nowrap" title={words}>blocks {props.count}</span>;
}

export function Section(props: { title: string; count?: number; aside?: ComponentChildren; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class={`section ${props.class ?? ""}`} aria-label={props.title}>
      <header class="section-head">
        <h2>{props.title}{props.count !== undefined && <span class="count">{props.count}</span>}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

/** A message of the server: what stands between backticks is a name or a command. */
export function Message(props: { text: string | null }): JSX.Element {
  return <span class="theirs">{(props.text ?? "").split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</span>;
}

export function Empty(props: { title: string; children?: ComponentChildren }): JSX.Element {
  return <div class="empty"><p class="strong"><Message text={props.title} /></p>{props.children && <div class="muted">{props.children}</div>}</div>;
}

/** A share of a limit as a bar, with its figures in words. */
export function Meter(props: { label: string; value: string; share: number | null; limit: string | null }): JSX.Element {
  const tone = props.share === null ? "" : props.share >= 1 ? "over" : props.share > 0.8 ? "near" : "";
  return (
    <div class="meter">
      <div class="meter-label"><span class="muted">{props.label}</span><span class={tone === "" ? "" : tone === "over" ? "need" : "warn"}>{props.value}{props.limit !== null && <span class="muted"> of {props.limit}</span>}</span></div>
      <Bar share={props.share ?? 0} tone={tone} label={`${props.label}: ${props.value}${props.limit === null ? "" : ` of ${props.limit}`}`} />
    </div>
  );
}

export function Bar(props: { share: number; tone?: string; label: string }): JSX.Element {
  const width = Math.max(0, Math.min(1, props.share)) * 100;
  return (
    <svg class={`bar ${props.tone ?? ""}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={props.label}>
      <rect class="track" width="100" height="6" /><rect class="fill" width={width} height="6" />
    </svg>
  );
}

/** Pauses the run that is going, or resumes it. */
export function PauseButton(): JSX.Element | null {
  const run = useApp((state) => state.picture?.run ?? null);
  const write = useCanWrite();
  if (!run?.running || !write) return null;
  const goes = run.wanted === "go";
  return <Button look="small pause-button" icon={goes ? "pause" : "play"} onClick={() => void control(run.number, goes ? "pause" : "resume")}>{goes ? "Pause" : "Resume"}</Button>;
}

export function canWrite(): boolean {
  return get().picture?.can.write ?? false;
}

export function useCanWrite(): boolean {
  return useApp((state) => state.picture?.can.write ?? false);
}
