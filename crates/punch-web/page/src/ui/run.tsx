// A run: seats, plan and reality over time, spending against its limits, estimates against what it took.
import type { JSX } from "preact";
import { ganttOf } from "../model/gantt.ts";
import type { AgentSession, RunAnswer, RunState, RunSummary, ScheduleAnswer } from "../model/types.ts";
import { GanttChart } from "./gantt_chart.tsx";
import { SpendChart } from "./spend_chart.tsx";
import {
  Age, Bar, Button, clock, count, dollars, Empty, fullTime, get, Message, Meter, navigate, PauseButton, planPath, plural, post, refuse,
  SeatRow, Section, show, span, Table, toast, TodoLink, useApp, useCanWrite, useEffect, useFetched, useMemo, usePath, useState,
} from "../shared.ts";

export function Run(): JSX.Element {
  const plan = useApp((state) => state.route.plan);
  const wanted = useApp((state) => state.route.run);
  const current = useApp((state) => state.picture?.run ?? null);
  const revision = useApp((state) => state.picture?.revision);
  const runs = useFetched<{ runs: RunSummary[] }>(planPath(plan, "runs?limit=20"), `${current?.number}/${current?.running}`);
  const list = runs.value?.runs ?? [];
  const number = wanted ?? current?.number ?? list[0]?.number ?? null;
  const version = `${revision}/${current?.spent.tokens}/${current?.running}`;
  const answer = useFetched<RunAnswer>(number === null ? null : planPath(plan, `runs/${number}`), version);
  const agents = Math.max(1, current?.running ? current.seats.length : 2);
  const schedule = useFetched<ScheduleAnswer>(planPath(plan, `schedule?agents=${agents}`), revision);
  if (number === null && runs.value === null) return <div class="empty muted">Reading the run…</div>;
  const detail = answer.value?.run.number === number ? answer.value : null;
  // What is live in the picture is newer than the answer.
  const run = current !== null && current.number === number ? current : (detail?.run ?? null);
  return (
    <div class="page run-page">
      {run === null
        ? (answer.problem === null || number === null ? <NoRun /> : <Empty title={answer.problem.message}><Message text={answer.problem.hint} /></Empty>)
        : <RunHead run={run} runs={list} />}
      {run !== null && <Meters run={run} />}
      {run?.running && <Seats run={run} />}
      <Sessions />
      <Fleet />
      {detail !== null && <SpendChart answer={detail} />}
      <Timeline answer={detail} schedule={run === null || run.running ? schedule.value : null} />
      {detail !== null && <><Estimates answer={detail} /><Ledger answer={detail} /></>}
    </div>
  );
}

/** Workers on all machines. Their script is loaded only where there are any. */
function Fleet(): JSX.Element | null {
  const has = useApp((state) => state.picture?.fleet != null);
  const [drawn, setDrawn] = useState<{ Workers: () => JSX.Element | null } | null>(null);
  useEffect(() => {
    if (has) void import("./workers.tsx").then(setDrawn);
  }, [has]);
  return drawn && <drawn.Workers />;
}

const SWITCH = {
  pause: "The session may stop, until you resume it",
  resume: "The session is sent back to work when it stops early",
  off: "The session may stop",
};

async function decide(session: string, wanted: keyof typeof SWITCH): Promise<void> {
  try {
    await post(planPath(get().route.plan, `sessions/${encodeURIComponent(session)}/control`), { wanted });
    toast(SWITCH[wanted]);
  } catch (cause) {
    refuse(cause);
  }
}

/** Sessions that work on the plan: whether each is sent back to work when it stops early, and what was decided last. */
function Sessions(): JSX.Element | null {
  const sessions = useApp((state) => state.picture?.sessions) ?? [];
  const write = useCanWrite();
  if (sessions.length === 0) return null;
  const button = (one: AgentSession, wanted: keyof typeof SWITCH, word: string): JSX.Element =>
    <Button look="small" label={`${word}: session ${one.session}`} onClick={() => void decide(one.session, wanted)}>{word}</Button>;
  return (
    <Section title="Sessions" count={sessions.length}>
      <Table
        head={["Agent", "Session", "Auto-continue", "#Continuations", "Last decision", ...(write ? ["Change"] : [])]}
        rows={sessions.map((one) => [
          <span class="theirs">{one.agent}</span>,
          <span class="mono theirs" title={one.session}>{one.session.slice(0, 8)}</span>,
          <span class={`chip ${one.switch === "on" ? "" : "warn"}`}>{one.switch}</span>,
          `${one.continuation} of ${one.of}`,
          <>{one.decision === "" ? "–" : <span class="theirs">{one.decision}</span>}{one.decidedAt !== null && <> · <Age since={one.decidedAt} /></>}</>,
          ...(write ? [<span class="buttons">{one.switch === "on" ? button(one, "pause", "Pause") : button(one, "resume", "Resume")}{one.switch !== "off" && button(one, "off", "Off")}</span>] : []),
        ])}
      />
    </Section>
  );
}

function NoRun(): JSX.Element {
  return <Empty title="No run yet.">Start one: <code>punch run --agent claude</code>. The plan would take:</Empty>;
}

function stateWords(run: RunState): { words: string; tone: string } {
  if (!run.running) return { words: run.outcome, tone: run.outcome === "finished" ? "done" : "" };
  return { go: { words: "running", tone: "work" }, pause: { words: "pausing", tone: "warn" }, stop: { words: "stopping", tone: "warn" } }[run.wanted] ?? { words: run.wanted, tone: "" };
}

function RunHead(props: { run: RunState; runs: RunSummary[] }): JSX.Element {
  const { run, runs } = props;
  const now = useApp((state) => state.now);
  const write = useCanWrite();
  const state = stateWords(run);
  return (
    <div class="run-head">
      <select class="field run-select" aria-label="Run" value={run.number} onChange={(event) => navigate({ run: Number(event.currentTarget.value) })}>
        {runs.every((one) => one.number !== run.number) && <option value={run.number}>Run {run.number}</option>}
        {runs.map((one) => <option key={one.number} value={one.number}>Run {one.number} · {clock(one.startedAt, now)}</option>)}
      </select>
      <span class={`chip ${state.tone}`}>{state.words}</span>
      <span class="muted" title={fullTime(run.startedAt)}>began {clock(run.startedAt, now)}{run.endedAt !== null && `, ended ${clock(run.endedAt, now)}`}</span>
      <span class="grow" />
      {write && run.running && (
        <>
          <PauseButton />
          <Button look="danger" icon="stop" onClick={() => show({ kind: "stop", run: run.number, seat: null })}>Stop…</Button>
        </>
      )}
    </div>
  );
}

function Meters(props: { run: RunState }): JSX.Element {
  const { run } = props;
  const now = useApp((state) => state.now);
  const took = (run.endedAt ?? now) - run.startedAt;
  const { spent, limits } = run;
  const share = (value: number, limit: number | null): number | null => (limit === null || limit === 0 ? null : value / limit);
  return (
    <div class="meters">
      <Meter label="Time" value={span(took)} share={share(took, limits.time)} limit={limits.time === null ? null : span(limits.time)} />
      <Meter label="Cost" value={dollars(spent.cost / 1e6)} share={share(spent.cost, limits.cost)} limit={limits.cost === null ? null : dollars(limits.cost / 1e6)} />
      <Meter label="Tokens" value={count(spent.tokens)} share={share(spent.tokens, limits.tokens)} limit={limits.tokens === null ? null : count(limits.tokens)} />
      <div class="meter-note muted">
        {plural(spent.turns, "turn")}
        {spent.estimated > 0 && ` · ${count(spent.estimated)} tokens are estimated`}
        {spent.uncosted > 0 && ` · ${count(spent.uncosted)} tokens have no price`}
      </div>
    </div>
  );
}

function Seats(props: { run: RunState }): JSX.Element {
  const { run } = props;
  usePath(run.seats.map((seat) => `seat:${seat.seat}`));
  return (
    <Section title="Seats" count={run.seats.length}>
      {run.seats.length === 0 ? <Empty title="No agent has a seat yet." /> : <div class="table-rows">{run.seats.map((seat) => <SeatRow key={seat.seat} seat={seat} run={run.number} />)}</div>}
    </Section>
  );
}

function Timeline(props: { answer: RunAnswer | null; schedule: ScheduleAnswer | null }): JSX.Element | null {
  const { answer, schedule } = props;
  const now = useApp((state) => state.now);
  const gantt = useMemo(() => ganttOf(answer, schedule, now), [answer, schedule, now]);
  if (gantt.bars.length === 0) return null;
  const aside = <span class="muted legend"><span class="swatch real" /> worked <span class="swatch failed" /> failed <span class="swatch planned" /> {gantt.pace === null ? "planned" : "planned at this pace"}</span>;
  return <Section title="Plan and reality" aside={aside}><GanttChart gantt={gantt} now={answer?.run.endedAt ?? now} /></Section>;
}

function Estimates(props: { answer: RunAnswer }): JSX.Element {
  const todos = props.answer.todos;
  const most = Math.max(1, ...todos.map((todo) => Math.max(todo.spent.tokens, todo.estimated ?? 0)));
  return (
    <Section title="Estimated and actual tokens" count={todos.length}>
      {todos.length === 0 ? <Empty title="Nothing was spent yet." /> : (
        <Table
          head={["Todo", "Share", "#Estimated", "#Actual", "#Cost", "#Attempts"]}
          rows={todos.map(({ id, spent, estimated, attempts }) => [
            <TodoLink id={id} status />,
            <>
              <Bar share={spent.tokens / most} label={`${count(spent.tokens)} tokens`} />
              {estimated !== null && <Bar tone="hollow" share={estimated / most} label={`${count(estimated)} tokens estimated`} />}
            </>,
            estimated === null ? "–" : count(estimated),
            <span class={estimated !== null && spent.tokens > 1.5 * estimated ? "warn" : ""}>{count(spent.tokens)}</span>,
            dollars(spent.cost / 1e6),
            attempts,
          ])}
        />
      )}
    </Section>
  );
}

function Ledger(props: { answer: RunAnswer }): JSX.Element {
  const { answer } = props;
  const now = useApp((state) => state.now);
  return (
    <Section title="What happened" count={answer.steps.length + answer.earlier}>
      {answer.because.length > 0 && <ul class="because">{answer.because.map((line) => <li key={line} class="theirs">{line}</li>)}</ul>}
      <ol class="entries">{answer.steps.slice(-100).reverse().map((step, at) => <li key={at} class="entry"><time class="muted nowrap" title={fullTime(step.at)}>{clock(step.at, now)}</time><span class="theirs">{step.text}</span></li>)}</ol>
    </Section>
  );
}
