// What needs you, in the order of the inbox, with everything that settles it in place.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { markSeen, openTodo, write } from "../model/actions.ts";
import { canNotify, inboxKey, KINDS } from "../model/announce.ts";
import { get, useApp } from "../model/state.ts";
import type { InboxItem } from "../model/types.ts";
import { Icon, StatusIcon } from "./icons.tsx";
import { Age, Blocks, Button, Command, Empty, Section, TextForm, TodoLink, useCanWrite } from "./parts.tsx";
import { QuestionCard } from "./question.tsx";

const SIGN: Record<string, JSX.Element> = {
  question: <Icon name="question" />,
  hold: <StatusIcon status="held" silent />,
  conflict: <Icon name="warning" />,
  failed: <StatusIcon status="failed" silent />,
  stuck: <StatusIcon status="stuck" silent />,
  approval: <Icon name="warning" />,
  budget: <Icon name="warning" />,
  quiet: <Icon name="warning" />,
  finished: <StatusIcon status="completed" silent />,
};

export function Inbox(): JSX.Element {
  const inbox = useApp((state) => state.picture?.inbox) ?? [];
  const [asks, setAsks] = useState(canNotify);
  const ask = (): void => void Notification.requestPermission().then(() => setAsks(canNotify()));
  return (
    <Section title="Needs you" count={inbox.length} class={inbox.length > 0 ? "urgent" : ""} aside={asks && <Button look="quiet small" onClick={ask}>Notify me</Button>}>
      {inbox.length === 0 ? <Empty title="Nothing needs you.">What waits for you appears here.</Empty> : (
        <ul class="cards">{inbox.map((item) => <Item key={inboxKey(item)} item={item} />)}</ul>
      )}
    </Section>
  );
}

function Item(props: { item: InboxItem }): JSX.Element {
  const { item } = props;
  const key = `inbox:${inboxKey(item)}`;
  const at = useApp((state) => state.cursor === key);
  const question = useApp((state) => state.picture?.questions.find((one) => one.id === item.question));
  const row = useApp((state) => (item.todo ? state.picture?.byId.get(item.todo) : undefined));
  // The text begins with the todo's own; it is not said twice.
  const text = row !== undefined && item.text.startsWith(`${row.text}: `) ? item.text.slice(row.text.length + 2) : item.text;
  const tone = item.kind === "finished" ? "good" : ["approval", "budget", "quiet", "stuck"].includes(item.kind) ? "warn" : "need";
  const open = (event: Event): void => {
    if (item.todo && !(event.target as Element).closest("button, a, textarea, input, pre, .command")) openTodo(item.todo);
  };
  return (
    <li class={`card inbox-item ${tone}`} data-key={key} tabIndex={at ? 0 : -1} onClick={open}>
      <div class="card-line">
        <span class={tone}>{SIGN[item.kind]}</span>
        {item.todo && <TodoLink id={item.todo} />}
        <span class="grow card-title theirs">{row?.text ?? (item.todo ? "" : text)}</span>
        <span class={`nowrap ${tone}`}>{KINDS[item.kind] ?? item.kind}{question !== undefined && ` · ${question.agent}`}</span>
        <Blocks count={item.blocks} />
        <Age since={item.since} />
      </div>
      {question !== undefined ? <QuestionCard question={question} /> : (
        <div class="inbox-body">
          {item.todo && text !== row?.text && <p class="card-text theirs">{text}</p>}
          <Settle item={item} text={text === row?.text ? "" : text} />
        </div>
      )}
    </li>
  );
}

function Settle(props: { item: InboxItem; text: string }): JSX.Element | null {
  const { item } = props;
  const can = useCanWrite();
  const id = item.todo ?? "";
  if (item.kind === "hold" && can) return <AnswerHold id={id} asked={props.text} />;
  if (item.kind === "failed" && can) {
    return (
      <div class="buttons">
        <Button onClick={() => openTodo(id)}>Output</Button>
        <Button onClick={() => void write([{ op: "reopen", id }], `Reopened ${id}`)}>Try again</Button>
        <Button look="quiet" onClick={() => void write([{ op: "drop", id }], `Cancelled ${id}`)}>Cancel it</Button>
      </div>
    );
  }
  if (item.kind === "finished") {
    return <div class="buttons"><Button onClick={() => void markSeen(get().picture?.revision ?? 0)}>Mark as seen</Button></div>;
  }
  return (
    <div class="grow">
      {item.kind === "approval" && <p class="muted">Commands are approved in a terminal, where you see exactly what will run:</p>}
      <Command line={item.action} />
    </div>
  );
}

/** An answer becomes a note with the question, which goes with the hold, and the hold ends, in one step. */
export function AnswerHold(props: { id: string; asked: string }): JSX.Element {
  const { id, asked } = props;
  const [answering, setAnswering] = useState(false);
  if (answering) {
    const send = (text: string): Promise<boolean> => write([{ op: "note", id, text: asked ? `${asked} — ${text}` : text }, { op: "release", id }], `Answered ${id}`);
    return <TextForm label="Your answer" button="Answer" send={send} back={() => setAnswering(false)} />;
  }
  return (
    <div class="buttons">
      <Button look="primary" onClick={() => setAnswering(true)}>Answer…</Button>
      <Button onClick={() => void write([{ op: "release", id }], `Released ${id}`)}>End the hold</Button>
    </div>
  );
}
