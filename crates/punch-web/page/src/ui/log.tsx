// The history of the plan: what changed, by whom, undo, and the plan as it was.
import type { JSX } from "preact";
import type { HistoryEntry, PastPlan } from "../model/types.ts";
import type { Problem } from "../net/http.ts";
import {
  asProblem, Await, Button, clock, Empty, Entry, navigate, outline, planPath, plural, read, useApp, useEffect, useFetched, useMemo, usePath,
  useState, WindowedList,
} from "../shared.ts";

const PAGE = 100;

interface HistoryPage {
  entries: HistoryEntry[];
  next: number | null;
}

export function Log(): JSX.Element {
  const at = useApp((state) => state.route.at);
  return at === null ? <Revisions /> : <Past revision={at} />;
}

function Revisions(): JSX.Element {
  const plan = useApp((state) => state.route.plan);
  const revision = useApp((state) => state.picture?.revision);
  const seen = useApp((state) => state.picture?.seen ?? 0);
  const fetched = useFetched<HistoryPage>(planPath(plan, `history?limit=${PAGE}`), revision);
  const { value } = fetched;
  const [older, setOlder] = useState<HistoryEntry[]>([]);
  const [next, setNext] = useState<number | null | undefined>(undefined);
  const [failed, setFailed] = useState<Problem | null>(null);
  useEffect(() => {
    setOlder([]);
    setNext(undefined);
  }, [plan]);
  const more = next === undefined ? value?.next : next;
  const load = async (): Promise<void> => {
    try {
      const page = await read<HistoryPage>(planPath(plan, `history?limit=${PAGE}&before=${more}`));
      setOlder((last) => last.concat(page.entries));
      setNext(page.next);
    } catch (cause) {
      setFailed(asProblem(cause));
    }
  };
  const oldest = value?.entries.at(-1)?.revision ?? 0;
  const entries = (value?.entries ?? []).concat(older.filter((entry) => entry.revision < oldest));
  usePath(entries.map((entry) => `revision:${entry.revision}`));
  if (value === null) return <Await of={fetched}>{() => null}</Await>;
  return (
    <div class="page narrow">
      {entries.length === 0 && <Empty title="Nothing has happened yet." />}
      <ol class="entries log">
        {entries.map((entry) => (
          <Entry key={entry.revision} entry={entry} unseen={entry.revision > seen}>
            <Button look="quiet small" label={`Show plan at revision ${entry.revision}`} onClick={() => navigate({ at: entry.revision })}>Show plan</Button>
          </Entry>
        ))}
      </ol>
      {failed !== null && <p class="need">{failed.message}</p>}
      {more != null && <Button look="more" onClick={() => void load()}>Show older changes</Button>}
    </div>
  );
}

/** The plan as it was, to look at. */
function Past(props: { revision: number }): JSX.Element {
  const plan = useApp((state) => state.route.plan);
  const now = useApp((state) => state.now);
  const fetched = useFetched<PastPlan>(planPath(plan, `at/${props.revision}`), props.revision);
  const { value } = fetched;
  const lines = useMemo(() => (value === null ? [] : outline(value.rows, value.phases, { matched: null, showClosed: true, folded: new Set() })), [value]);
  return (
    <div class="page list-page">
      <div class="page-bar past-bar" role="status">
        <Button look="small" icon="back" onClick={() => navigate({ at: null })}>Back to the log</Button>
        <span class="strong">The plan at revision {props.revision}</span>
        {value !== null && <span class="muted">{clock(value.at, now)} · {value.progress.completed} of {plural(value.progress.total, "todo")} done</span>}
      </div>
      <Await of={fetched}>{(past) => lines.length === 0 ? <Empty title="The plan was empty." /> : <WindowedList lines={lines} phases={past.phases} past />}</Await>
    </div>
  );
}
