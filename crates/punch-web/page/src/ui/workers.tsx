// The workers of a fleet on all machines: what each does, and what nobody looks after.
import type { JSX } from "preact";
import type { FleetAnswer, FleetClaim } from "../model/types.ts";
import { fullTime, plural, Section, span, Table, TodoLink, useApp, useFetched, Warnings } from "../shared.ts";

/** Workers on all machines. Read again when what is known in short changes, and every minute. */
export function Workers(): JSX.Element | null {
  const plan = useApp((state) => state.route.plan);
  const now = useApp((state) => state.now);
  const fleet = useApp((state) => state.picture?.fleet ?? null);
  const answer = useFetched<FleetAnswer>(fleet === null ? null : "/fleet", `${Math.floor(now / 60_000)}/${JSON.stringify(fleet)}`);
  if (fleet === null) return null;
  const doing = (claim: FleetClaim): JSX.Element => (
    <div key={`${claim.plan}/${claim.todo}`}>
      {claim.plan === plan ? <TodoLink id={claim.todo} status /> : <span class="mono theirs">{claim.todo}</span>} <span class="theirs">{claim.text}</span>
      <span class="muted"> {claim.plan !== plan && `${claim.plan} · `}{claim.reported ? "handed in" : claim.since !== null && span(now - claim.since)}</span>
    </div>
  );
  const workers = (answer.value?.workers ?? []).filter((worker) => worker.state !== "gone").sort((a, b) => a.host.localeCompare(b.host));
  return (
    <Section title="Workers" count={workers.length} aside={<span class="muted">{fleet.busy} of {plural(fleet.seats, "seat")} in use</span>}>
      <Warnings />
      {workers.length > 0 && (
        <Table
          head={["Machine", "Worker", "State", "Works on", "Labels", "#Seats", "#Per hour", "Seen"]}
          rows={workers.map((worker) => [
            <span class="theirs">{worker.host}</span>,
            <span class="theirs">{worker.name}</span>,
            <span class={`chip ${worker.state === "lost" ? "warn" : ""}`}>{worker.state}</span>,
            worker.claims.map(doing),
            <span class="theirs">{worker.labels.join(" ")}</span>,
            `${worker.claims.filter((claim) => !claim.reported).length}/${worker.seats}`,
            worker.perHour,
            <span class="nowrap" title={fullTime(worker.seenAt)}>{span(now - worker.seenAt)} ago</span>,
          ])}
        />
      )}
    </Section>
  );
}
