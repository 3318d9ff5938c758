// What a run has spent over time, against its limit.
import type { JSX } from "preact";
import type { RunAnswer } from "../model/types.ts";
import { useWidth } from "./gantt_chart.tsx";
import { clock, count, dollars, Section, useApp, useRef } from "../shared.ts";

const HEIGHT = 96;
const AXIS = 22;
/** Fewer entries than this are no curve. */
const ENTRIES = 2;

export function SpendChart(props: { answer: RunAnswer }): JSX.Element | null {
  const { run, ledger } = props.answer;
  const now = useApp((state) => state.now);
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  if (ledger.length < ENTRIES) return null;
  // Agents that report no cost still report tokens.
  const costs = ledger.some((entry) => entry.cost);
  const [words, limit] = costs ? [(sum: number) => dollars(sum / 1e6), run.limits.cost] : [count, run.limits.tokens];
  let sum = 0;
  const points = [...ledger].sort((a, b) => a.at - b.at).map((entry) => ({ at: entry.at, sum: (sum += (costs ? entry.cost : entry.tokens) ?? 0) }));
  const end = Math.max(run.endedAt ?? now, points.at(-1)?.at ?? 0, run.startedAt + 60_000);
  const most = Math.max(sum, limit ?? 0) * 1.05 || 1;
  const x = (at: number): number => 4 + ((at - run.startedAt) / (end - run.startedAt)) * (width - 8);
  const y = (value: number): number => HEIGHT - AXIS - (value / most) * (HEIGHT - AXIS - 14);
  const line = `M${x(run.startedAt)} ${y(0)}${points.map((point) => `H${x(point.at)}V${y(point.sum)}`).join("")}H${x(Math.max(run.endedAt ?? now, points.at(-1)?.at ?? 0))}`;
  const said = `${words(sum)} spent${limit === null ? "" : ` of ${words(limit)}`}`;
  return (
    <Section title={costs ? "Cost over time" : "Tokens over time"} aside={<span class="muted">{said}</span>}>
      <div class="chart" ref={holder}>
        <svg width={width} height={HEIGHT} role="img" aria-label={said}>
          <path class="spend-area" d={`${line}V${y(0)}Z`} />
          <path class="spend-line" d={line} />
          {limit !== null && <><path class="now-line" d={`M4 ${y(limit)}H${width - 4}`} /><text class="axis" x="6" y={y(limit) - 3}>limit {words(limit)}</text></>}
          <text class="axis" x="4" y={HEIGHT - 6}>{clock(run.startedAt, now)}</text>
          <text class="axis" x={width - 4} y={HEIGHT - 6} text-anchor="end">{clock(end, now)}</text>
        </svg>
      </div>
    </Section>
  );
}
