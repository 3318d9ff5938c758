// Everything about one todo: beside a page, or on its own.
import type { ComponentChildren, JSX } from "preact";
import type { Row, TodoAnswer, TodoRecord, WhyAnswer } from "../model/types.ts";
import {
  act, ACTIONS, Age, AnswerHold, Await, Button, Command, count, IconButton, navigate, openTodo, plural, QuestionCard, show, span, StatusIcon,
  statusWord, TodoLink, todoPath, useApp, useCanWrite, useFetched, useState, WordForm, write,
} from "../shared.ts";
import { Markdown } from "./markdown.tsx";
import { EditableText } from "./text_field.tsx";
import { Attempts, Evidence, History, Notes, Work } from "./todo_record.tsx";

export function Todo(props: { id: string; beside?: boolean }): JSX.Element {
  const { id, beside } = props;
  const plan = useApp((state) => state.route.plan);
  const row = useApp((state) => state.picture?.byId.get(id));
  const fetched = useFetched<TodoAnswer>(todoPath(plan, id), row);
  return (
    <article class={`todo ${beside ? "" : "page narrow"}`} key={row?.uid}>
      <header class="todo-bar">
        {beside
          ? <IconButton name="close" label="Close" class="close" onClick={() => openTodo(null)} />
          : <IconButton name="back" label="Back to the list" onClick={() => navigate({ view: "list", todo: null })} />}
        <span class="id theirs">{id}</span>
        {row !== undefined && <span class="with-icon"><StatusIcon status={row.status} silent /><span class={`s-${row.status}`}>{statusWord(row.status)}</span></span>}
        <span class="grow" />
        {beside && <IconButton name="graph" label="Show in the graph" onClick={() => navigate({ view: "graph" })} />}
        {beside && <IconButton name="out" label="Open as a page" onClick={() => navigate({ view: "todo" })} />}
      </header>
      <Await of={fetched}>{(value) => <Detail answer={value} row={row ?? value.row} gone={row === undefined || fetched.problem?.status === 404} />}</Await>
    </article>
  );
}

function Detail(props: { answer: TodoAnswer; row: Row; gone: boolean }): JSX.Element {
  const { answer, row, gone } = props;
  const { todo, markdown } = answer;
  const question = useApp((state) => state.picture?.questions.find((one) => one.todo === todo.id));
  return (
    <>
      {gone && <p class="banner" role="status">{todo.id} is archived. What you typed here is kept until you discard it.</p>}
      <EditableText uid={row.uid} id={todo.id} field="content" label="Text" value={todo.content} required>
        <h1 class="todo-title theirs">{todo.content || "No text"}</h1>
      </EditableText>
      <Actions row={row} />
      {question !== undefined && <Part title={`${question.agent} asks`} class="asks"><QuestionCard key={question.id} question={question} /></Part>}
      <Hold todo={todo} />
      <Why row={row} id={todo.id} />
      <Facts todo={todo} row={row} />
      <Part title="Description">
        <EditableText uid={row.uid} id={todo.id} field="description" label="Description" value={todo.description ?? ""}>
          {markdown.description.length > 0 ? <Markdown blocks={markdown.description} /> : <p class="muted">None.</p>}
        </EditableText>
      </Part>
      <Part title="Done when">
        <EditableText uid={row.uid} id={todo.id} field="verificationCriteria" label="Criteria" value={todo.verificationCriteria ?? ""}>
          {markdown.criteria.length > 0 ? <Markdown blocks={markdown.criteria} /> : <p class="muted">No criteria.</p>}
        </EditableText>
        {answer.check !== null && <Check check={answer.check} todo={todo} />}
      </Part>
      <Evidence todo={todo} />
      <Notes answer={answer} />
      <Attempts answer={answer} />
      <Work id={todo.id} answer={answer} />
      <History id={todo.id} row={row} />
    </>
  );
}

export function Part(props: { title: string; count?: number; class?: string; aside?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <section class={`part ${props.class ?? ""}`}>
      <header class="part-head"><h2>{props.title}{props.count !== undefined && <span class="count">{props.count}</span>}</h2>{props.aside}</header>
      {props.children}
    </section>
  );
}

function Actions(props: { row: Row }): JSX.Element | null {
  const { row } = props;
  if (!useCanWrite()) return null;
  const first = ACTIONS.filter((action) => ["start", "done", "release", "reopen", "hold", "note"].includes(action.name) && action.fits(row.status)).slice(0, 4);
  return (
    <div class="buttons todo-actions">
      {first.map((action) => <Button key={action.name} look="small" onClick={() => void act(action.name, [row.id])}>{action.label}</Button>)}
      <Button look="small" onClick={() => show({ kind: "menu", ids: [row.id] })}>More…</Button>
    </div>
  );
}

function Hold(props: { todo: TodoRecord }): JSX.Element | null {
  const { hold, id } = props.todo;
  const now = useApp((state) => state.now);
  const can = useCanWrite();
  if (hold === undefined) return null;
  const kind = hold.kind === "human" ? "Waits for you" : hold.kind === "parked" ? "Set aside" : `On hold (${hold.kind})`;
  return (
    <Part title={kind} class={hold.kind === "human" || hold.kind === "conflict" ? "asks" : ""}>
      <p class="theirs">{hold.reason}</p>
      {hold.until != null && <p class="muted">Ends in {span(hold.until - now)}.</p>}
      {hold.at !== undefined && <p class="muted">Since <Age since={hold.at} />{hold.by !== undefined && <>, by <span class="theirs">{hold.by}</span></>}</p>}
      {can && hold.kind === "human" && <AnswerHold id={id} asked={hold.reason} />}
    </Part>
  );
}

const CLOSED = ["completed", "cancelled", "failed", "archived"];

function Why(props: { row: Row; id: string }): JSX.Element | null {
  const plan = useApp((state) => state.route.plan);
  const asks = (props.row.why?.length ?? 0) > 0 && !CLOSED.includes(props.row.status);
  const { value } = useFetched<WhyAnswer>(asks ? todoPath(plan, props.id, "/why") : null, props.row);
  if (!asks) return null;
  return <Part title="Why it waits"><p class="why-text theirs">{value?.text ?? props.row.why?.join("; ")}</p></Part>;
}

function Check(props: { check: NonNullable<TodoAnswer["check"]>; todo: TodoRecord }): JSX.Element {
  const { check, todo } = props;
  const last = todo.lastCheck;
  return (
    <div class="check">
      <p><code class="check-command theirs">{check.command}</code></p>
      {last !== undefined && (
        <p class={last.passed ? "good" : "need"}>
          {last.passed ? "Passed" : "Failed"}{last.exitCode != null && `, exit code ${last.exitCode}`}{last.at !== undefined && <> · <Age since={last.at} /></>}{last.commit !== undefined && <span class="muted mono"> {last.commit.slice(0, 8)}</span>}
        </p>
      )}
      {check.approved ? <p class="muted">Approved: it runs when the todo is completed.</p> : (
        <>
          <p class="warn">Not approved yet. Approve it in a terminal, where you see exactly what will run:</p>
          <Command line={check.approve} />
        </>
      )}
    </div>
  );
}

function Facts(props: { todo: TodoRecord; row: Row }): JSX.Element {
  const { todo, row } = props;
  const write = useCanWrite();
  const phases = useApp((state) => state.picture?.phases) ?? [];
  const set = (field: string, value: unknown) => void edit(todo.id, field, value);
  const acts = todo.effectivePriority !== undefined && todo.effectivePriority < (todo.priority ?? 3);
  return (
    <dl class="facts">
      <div><dt>Priority</dt><dd>
        {write
          ? <select class="field" aria-label="Priority" value={todo.priority ?? 3} onChange={(event) => set("priority", Number(event.currentTarget.value))}>{[1, 2, 3, 4, 5].map((n) => <option key={n} value={n}>P{n}{n === 1 ? ", most urgent" : n === 3 ? ", usual" : ""}</option>)}</select>
          : `P${todo.priority ?? 3}`}
        {acts && <span class="muted">acts as P{todo.effectivePriority}: urgent work waits for it</span>}
      </dd></div>
      <div><dt>Phase</dt><dd>
        {write
          ? <select class="field" aria-label="Phase" value={todo.phase ?? ""} onChange={(event) => set("phase", event.currentTarget.value || null)}><option value="">none</option>{[...new Set(phases.map((phase) => phase.name))].map((name) => <option key={name} value={name}>{name}</option>)}</select>
          : (todo.phase ?? "none")}
      </dd></div>
      <div><dt>Needs</dt><dd><Links id={todo.id} ids={todo.dependsOn ?? []} field="dependsOn" /></dd></div>
      <div><dt>Blocks</dt><dd>{todo.blocks === undefined ? <span class="muted">nothing</span> : <span class="links">{todo.blocks.map((id) => <TodoLink key={id} id={id} status />)}</span>}</dd></div>
      <div><dt>Labels</dt><dd><Labels todo={todo} /></dd></div>
      {todo.owner !== undefined && <div><dt>Owner</dt><dd class="theirs">{todo.owner}{row.since !== undefined && <span class="muted"> · <Age since={row.since} /></span>}</dd></div>}
      <div><dt>Tokens</dt><dd>{todo.estimatedTokens === undefined && todo.actualTokens === undefined ? <span class="muted">no estimate</span> : <>{todo.estimatedTokens !== undefined && `${count(todo.estimatedTokens)} estimated`}{todo.estimatedTokens !== undefined && todo.actualTokens !== undefined && ", "}{todo.actualTokens !== undefined && `${count(todo.actualTokens)} spent`}</>}{todo.complexity !== undefined && <span class="muted"> · {todo.complexity}</span>}</dd></div>
      {todo.files !== undefined && <div><dt>Files</dt><dd class="mono theirs">{todo.files.join(", ")}</dd></div>}
      {todo.lastError !== undefined && <div><dt>Last error</dt><dd class="need theirs">{todo.lastError}{todo.attempts !== undefined && <span class="muted"> · {plural(todo.attempts, "failed attempt")}</span>}</dd></div>}
    </dl>
  );
}

async function edit(id: string, field: string, value: unknown): Promise<boolean> {
  return write([{ op: "edit", id, [field]: value }], `Edited ${id}`);
}

function Links(props: { id: string; ids: string[]; field: "dependsOn" }): JSX.Element {
  const { id, ids, field } = props;
  const [adding, setAdding] = useState(false);
  const can = useCanWrite();
  const add = (text: string): Promise<boolean> => edit(id, field, [...new Set([...ids, ...words(text)])]);
  return (
    <span class="links">
      {ids.length === 0 && !adding && <span class="muted">nothing</span>}
      {ids.map((one) => (
        <span key={one} class="linked"><TodoLink id={one} status />{can && <IconButton name="close" class="tiny" label={`Remove ${one} from what ${id} needs`} onClick={() => void edit(id, field, ids.filter((other) => other !== one))} />}</span>
      ))}
      {adding ? <WordForm label="Id of a todo" text="" button="Add" save={add} done={() => setAdding(false)} />
        : can && <IconButton name="plus" class="tiny" label={`Add something that ${id} needs`} onClick={() => setAdding(true)} />}
    </span>
  );
}

function words(text: string): string[] {
  return text.split(/[\s,#]+/).filter((word) => word !== "");
}

function Labels(props: { todo: TodoRecord }): JSX.Element {
  const { id, labels = [] } = props.todo;
  const [editing, setEditing] = useState(false);
  const can = useCanWrite();
  if (editing) return <WordForm label="Labels" text={labels.join(" ")} button="Save" save={(text) => edit(id, "labels", [...new Set(words(text))])} done={() => setEditing(false)} />;
  return (
    <span class="links">
      {labels.length === 0 && <span class="muted">none</span>}
      {labels.map((label) => <span key={label} class="chip theirs">#{label}</span>)}
      {can && <IconButton name="edit" class="tiny" label="Edit labels" onClick={() => setEditing(true)} />}
    </span>
  );
}
