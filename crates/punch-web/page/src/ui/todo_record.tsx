// What was done about a todo: evidence, notes, attempts, the work itself, and its history.
import type { JSX } from "preact";
import type { HistoryEntry, Row, TodoAnswer, TodoRecord } from "../model/types.ts";
import {
  Age, asProblem, Button, clock, count, dollars, Entry, fullTime, read, span, Table, TextForm, toast, todoPath, useApp, useCanWrite,
  useFetched, useState, write,
} from "../shared.ts";
import { Markdown } from "./markdown.tsx";
import { Part } from "./todo.tsx";

export function Evidence(props: { todo: TodoRecord }): JSX.Element | null {
  const evidence = props.todo.evidence ?? [];
  if (evidence.length === 0) return null;
  return (
    <Part title="Evidence" count={evidence.length}>
      <ul class="evidence">
        {[...evidence].reverse().map((one, at) => (
          <li key={at}>
            <p class="evidence-line">
              {one.exitCode !== undefined && <span class={`chip ${one.exitCode === 0 ? "done" : "need"}`}>exit {one.exitCode}</span>}
              {one.command !== undefined && <code class="theirs">{one.command}</code>}
              {one.commit !== undefined && <span class="mono muted" title={one.commit}>{one.commit.slice(0, 8)}</span>}
              {one.at !== undefined && <Age since={one.at} />}
            </p>
            {one.text !== undefined && one.text !== "" && <Output text={one.text} />}
          </li>
        ))}
      </ul>
    </Part>
  );
}

export function Notes(props: { answer: TodoAnswer }): JSX.Element {
  const { todo, markdown } = props.answer;
  const notes = todo.notes ?? [];
  const can = useCanWrite();
  const now = useApp((state) => state.now);
  const heard = props.answer.informed.filter((one) => one.at !== null);
  return (
    <Part title="Notes" count={notes.length}>
      <ul class="notes">
        {notes.map((note, at) => (
          <li key={at} class="note">
            <p class="muted note-head"><span class="theirs">{note.by ?? "user"}</span>{note.at !== undefined && <time title={fullTime(note.at)}> · {clock(note.at, now)}</time>}</p>
            <Markdown blocks={markdown.notes[at] ?? [{ type: "paragraph", text: [{ type: "text", text: note.text }] }]} />
          </li>
        ))}
      </ul>
      {heard.length > 0 && <p class="muted">Read by {heard.map((one) => `${one.agent} at ${clock(one.at ?? 0, now)}`).join(", ")}.</p>}
      {can && <TextForm quiet label="Add a note; agents read it" button="Add note" send={(text) => write([{ op: "note", id: todo.id, text }], `Added a note to ${todo.id}`)} />}
    </Part>
  );
}

export function Attempts(props: { answer: TodoAnswer }): JSX.Element | null {
  const { attempts } = props.answer;
  const now = useApp((state) => state.now);
  if (attempts.length === 0) return null;
  return (
    <Part title="Attempts" count={attempts.length}>
      <Table
        head={["", "Agent", "When", "#Took", "#Tokens", "#Cost"]}
        rows={attempts.map((one) => [one.attempt, <span class="theirs">{one.agent}{one.run != null && <span class="muted"> · run {one.run}</span>}</span>, clock(one.at, now), span(one.ms), count(one.tokens), one.cost == null ? "–" : dollars(one.cost / 1e6)])}
      />
    </Part>
  );
}

/** The diff of its worktree and the output of its agent, read when you ask for them. */
export function Work(props: { id: string; answer: TodoAnswer }): JSX.Element | null {
  const { id, answer } = props;
  const plan = useApp((state) => state.route.plan);
  const [diff, setDiff] = useState<string | null>(null);
  const [log, setLog] = useState<string | null>(null);
  const load = async (what: "diff" | "log"): Promise<void> => {
    try {
      const found = await read<{ diff?: string; log?: string; cut: boolean }>(todoPath(plan, id, `/${what}`));
      const text = (what === "diff" ? found.diff : found.log) ?? "";
      const whole = text === "" ? "(nothing)" : found.cut ? (what === "diff" ? `${text}\n… (cut)` : `… (cut)\n${text}`) : text;
      if (what === "diff") setDiff(whole);
      else setLog(whole);
    } catch (cause) {
      const problem = asProblem(cause);
      toast(problem.message, { kind: "refused", hint: problem.hint });
    }
  };
  if (answer.lane === null && !answer.hasLog) return null;
  return (
    <Part title="Work">
      {answer.lane !== null && <p class="lane"><code class="theirs">{answer.lane.path}</code> <span class="muted">{answer.lane.size}</span></p>}
      <div class="buttons">
        {answer.lane !== null && <Button look="small" onClick={() => void load("diff")}>{diff === null ? "Diff" : "Read the diff again"}</Button>}
        {answer.hasLog && <Button look="small" onClick={() => void load("log")}>{log === null ? "Output of the agent" : "Read the output again"}</Button>}
      </div>
      {diff !== null && <Diff text={diff} />}
      {log !== null && <Output text={log} />}
    </Part>
  );
}

/** The end of an output is what counts, so it is scrolled there. */
function Output(props: { text: string }): JSX.Element {
  const end = (element: HTMLElement | null): void => element?.scrollTo(0, element.scrollHeight);
  return <pre class="output theirs" tabIndex={0} ref={end}>{props.text.replace(/\n+$/, "")}</pre>;
}

/** Lines of a diff that are drawn; a longer one is better read in a terminal. */
const DIFF_LINES = 2_000;

function Diff(props: { text: string }): JSX.Element {
  const lines = props.text.split("\n");
  const look = (line: string): string =>
    line.startsWith("diff ") ? "diff-file" : line.startsWith("@@") ? "diff-place" : /^(\+\+\+|---|index )/.test(line) ? "diff-meta" : line.startsWith("+") ? "diff-in" : line.startsWith("-") ? "diff-out" : "";
  return (
    <div class="diff" tabIndex={0} role="group" aria-label="Diff">
      {lines.slice(0, DIFF_LINES).map((line, at) => <div key={at} class={`diff-line theirs ${look(line)}`}>{line || " "}</div>)}
      {lines.length > DIFF_LINES && <div class="diff-line muted">… {lines.length - DIFF_LINES} more lines</div>}
    </div>
  );
}

export function History(props: { id: string; row: Row }): JSX.Element | null {
  const { id, row } = props;
  const plan = useApp((state) => state.route.plan);
  const [limit, setLimit] = useState(8);
  const { value } = useFetched<{ entries: HistoryEntry[] }>(todoPath(plan, id, `/history?limit=${limit}`), row);
  const entries = value?.entries ?? [];
  if (entries.length === 0) return null;
  return (
    <Part title="History">
      <ul class="entries">
        {entries.map((entry) => <Entry key={entry.revision} entry={entry} />)}
      </ul>
      {entries.length >= limit && limit < 200 && <Button look="quiet small more" onClick={() => setLimit(200)}>Show more</Button>}
    </Part>
  );
}
