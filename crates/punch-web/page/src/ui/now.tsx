// The first page: what needs you, who works on what, what is next, and what changed since you looked.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { control, markSeen, navigate, openTodo, show } from "../model/actions.ts";
import { inboxKey } from "../model/announce.ts";
import { unseenCount } from "../model/picture.ts";
import { useApp } from "../model/state.ts";
import type { HistoryEntry, Row, Seat } from "../model/types.ts";
import { usePath } from "./cursor.ts";
import { Entry } from "./entry.tsx";
import { count, dollars, plural, span } from "./format.ts";
import { IconButton } from "./icons.tsx";
import { Inbox } from "./inbox.tsx";
import { Button, Empty, Message, Section, TodoLink, useCanWrite } from "./parts.tsx";
import { ReorderList } from "./reorder.tsx";
import { TodoRow } from "./todo_row.tsx";

/** Open todos that are listed here; the rest is on the page List. */
const NEXT = 12;
const WORKING = ["in_progress", "stalled", "reported"];
const RANK: Record<string, number> = { ready: 0, waiting: 1, stuck: 2, held: 3 };

export function Now(): JSX.Element {
  const picture = useApp((state) => state.picture);
  const matched = useApp((state) => state.matched);
  const rows = picture?.rows ?? [];
  const { working, next, open } = useMemo(() => {
    const shown = matched === null ? rows : rows.filter((row) => matched.has(row.uid));
    const waiting = shown.filter((row) => RANK[row.status] !== undefined);
    // What can be started comes first; inside, list order.
    const next = [...waiting].sort((a, b) => (RANK[a.status] === 0 ? 0 : 1) - (RANK[b.status] === 0 ? 0 : 1)).slice(0, NEXT);
    return { working: shown.filter((row) => WORKING.includes(row.status)), next, open: waiting.length };
  }, [rows, matched]);
  const seats = picture?.run?.running ? picture.run.seats : [];
  const seated = new Set(seats.map((seat) => seat.todo));
  const alone = working.filter((row) => !seated.has(row.id));
  const keys = [
    ...(picture?.inbox ?? []).map((item) => `inbox:${inboxKey(item)}`),
    ...seats.map((seat) => `seat:${seat.seat}`),
    ...[...alone, ...next].map((row) => `todo:${row.uid}`),
  ];
  usePath(keys);
  if (picture === null) return <></>;
  if (rows.length === 0) return <FirstTodo />;
  return (
    <div class="page narrow">
      <Inbox />
      <Section title="Working" count={seats.length + alone.length}>
        <Warnings />
        {seats.length + alone.length === 0
          ? <Empty title="Nobody is working.">Start agents with <code>punch run</code>, or connect yours with <code>punch install</code>.</Empty>
          : (
            <div class="table-rows">
              {seats.map((seat) => <SeatRow key={seat.seat} seat={seat} run={picture.run?.number ?? 0} />)}
              {alone.map((row) => <TodoRow key={row.uid} row={row} />)}
            </div>
          )}
      </Section>
      <NextUp rows={next} open={open} />
      <Unseen entries={picture.unseen} count={unseenCount(picture)} revision={picture.revision} />
    </div>
  );
}

/** Workers that were lost, and claims that nobody looks after. */
export function Warnings(): JSX.Element {
  const fleet = useApp((state) => state.picture?.fleet);
  return <>{fleet?.warnings.map((line) => <p class="warn"><Message text={line} /></p>)}</>;
}

function FirstTodo(): JSX.Element {
  const write = useCanWrite();
  return (
    <Empty title="The plan is empty.">
      <p>Add the first todo here, or let an agent write the plan.</p>
      {write && <p><Button look="primary" icon="plus" onClick={() => show({ kind: "add", after: null })}>Add a todo</Button></p>}
    </Empty>
  );
}

/** The stage of a seat in words; silence for long is said, not hidden behind "working". */
export function seatStage(seat: Seat, now: number, quietAfter: number): { words: string; tone: string } {
  const silent = seat.lastSign === null ? 0 : now - seat.lastSign;
  if (["working", "starting"].includes(seat.stage) && silent > quietAfter) return { words: `quiet ${span(silent)}`, tone: "warn" };
  if (seat.stage === "asking") return { words: "asks you", tone: "need" };
  return { words: seat.stage, tone: ["working", "checking", "starting"].includes(seat.stage) ? "good" : "muted" };
}

export function SeatRow(props: { seat: Seat; run: number }): JSX.Element {
  const { seat, run } = props;
  const now = useApp((state) => state.now);
  const quietAfter = useApp((state) => state.picture?.quietAfter ?? 300_000);
  const row = useApp((state) => (seat.todo === null ? undefined : state.picture?.byId.get(seat.todo)));
  const at = useApp((state) => state.cursor === `seat:${seat.seat}`);
  const write = useCanWrite();
  const stage = seatStage(seat, now, quietAfter);
  return (
    <div class="seat" data-key={`seat:${seat.seat}`} tabIndex={at ? 0 : -1} onDblClick={() => seat.todo !== null && openTodo(seat.todo)}>
      <span class="seat-number muted">{seat.seat}</span>
      <span class="seat-agent theirs clip" title={seat.agent}>{seat.agent}</span>
      <span class="seat-todo clip">{seat.todo === null ? <span class="muted">no todo</span> : <TodoLink id={seat.todo} status><span class="theirs">{row?.text}</span></TodoLink>}</span>
      <span class={`seat-stage nowrap ${stage.tone}`}>{stage.words}{seat.wanted !== "go" && seat.stage !== "paused" && seat.stage !== "stopped" && <span class="muted"> · {seat.wanted === "stop" ? "stopping" : "pausing"}</span>}</span>
      <span class="seat-figure number muted">{seat.todo === null ? "" : span(now - seat.since)}</span>
      <span class="seat-figure number muted">{count(seat.tokens)}</span>
      <span class="seat-figure number muted">{dollars(seat.cost / 1e6)}</span>
      {write && (
        <span class="seat-actions">
          {seat.wanted === "pause"
            ? <IconButton name="play" label={`Resume seat ${seat.seat}`} onClick={() => void control(run, "resume", seat.seat)} />
            : <IconButton name="pause" label={`Pause seat ${seat.seat}`} onClick={() => void control(run, "pause", seat.seat)} />}
          <IconButton name="stop" label={`Stop seat ${seat.seat}`} onClick={() => show({ kind: "stop", run, seat: seat.seat })} />
        </span>
      )}
      {seat.line !== "" && seat.todo !== null && <span class="seat-line muted clip theirs" title={seat.line}>{seat.line}</span>}
    </div>
  );
}

function NextUp(props: { rows: Row[]; open: number }): JSX.Element {
  const more = props.open - props.rows.length;
  return (
    <Section
      title="Next" count={props.open}
      aside={<span class="muted hint-keys">drag, or <kbd>Alt</kbd> <kbd>↑</kbd> <kbd>↓</kbd></span>}
    >
      {props.rows.length === 0 ? <Empty title="Nothing is waiting to be done." /> : <ReorderList rows={props.rows} />}
      {more > 0 && <Button look="quiet small more" onClick={() => navigate({ view: "list" })}>{plural(more, "more todo")} in the list</Button>}
    </Section>
  );
}

function Unseen(props: { entries: HistoryEntry[]; count: number; revision: number }): JSX.Element {
  const { count, revision } = props;
  const entries = props.entries.slice(0, 20);
  const mark = count > 0 && <Button look="quiet small" onClick={() => void markSeen(revision)}>Mark as seen</Button>;
  return (
    <Section title="Since you last looked" count={count} aside={mark || undefined}>
      {count === 0 ? <Empty title="Nothing changed." /> : <ul class="entries">{entries.map((entry) => <Entry key={entry.revision} entry={entry} />)}</ul>}
      {count > entries.length && <Button look="quiet small more" onClick={() => navigate({ view: "log" })}>{count - entries.length} more in the log</Button>}
    </Section>
  );
}
