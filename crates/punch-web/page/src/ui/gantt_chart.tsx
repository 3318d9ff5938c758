// Plan and reality of a run over time, one lane for each seat. Every bar has its figures in words.
import type { JSX, RefObject } from "preact";
import { type Gantt, type GanttBar, ticks } from "../model/gantt.ts";
import { clock, openTodo, span, useLayoutEffect, useRef, useState } from "../shared.ts";

const LABEL = 34;
const LANE = 46;
const AXIS = 22;

/** The width of an element, as it is now. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, target.clientWidth)));
    observer.observe(target);
    setWidth(Math.max(240, target.clientWidth));
    return () => observer.disconnect();
  }, []);
  return width;
}

export function GanttChart(props: { gantt: Gantt; now: number }): JSX.Element {
  const { gantt, now } = props;
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const height = gantt.seats.length * LANE + AXIS;
  const x = (at: number): number => LABEL + ((at - gantt.from) / (gantt.to - gantt.from)) * (width - LABEL - 8);
  const marks = ticks(gantt.from, gantt.to, Math.max(2, Math.floor(width / 110)));
  return (
    <div class="chart" ref={holder}>
      <svg width={width} height={height} role="group" aria-label="Bars of work over time, one lane for each seat">
        {/* Diagonal lines, so that a failure shows without color. */}
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" /></pattern>
        {marks.map((at) => <g key={at}><path class="grid-line" d={`M${x(at)} 0V${height - AXIS}`} /><text class="axis" x={x(at)} y={height - 6} text-anchor="middle">{clock(at, at)}</text></g>)}
        {gantt.seats.map((seat, at) => <g key={seat}><path class="grid-line" d={`M0 ${(at + 1) * LANE}H${width}`} /><text class="axis" x="4" y={at * LANE + LANE / 2 + 4}>{seat}</text></g>)}
        {gantt.bars.map((bar, at) => <GanttMark key={at} bar={bar} x={x} lane={gantt.seats.indexOf(bar.seat)} />)}
        {now >= gantt.from && now <= gantt.to && <path class="now-line" d={`M${x(now)} 0V${height - AXIS}`} />}
      </svg>
    </div>
  );
}

function GanttMark(props: { bar: GanttBar; x: (at: number) => number; lane: number }): JSX.Element {
  const { bar, x, lane } = props;
  const left = x(bar.start);
  const width = Math.max(3, x(bar.end) - left - 1);
  const top = lane * LANE + (bar.kind === "real" ? 21 : bar.kind === "expected" ? 8 : 21);
  const height = bar.kind === "expected" ? 9 : 18;
  const failed = bar.outcome === "failed";
  const look = bar.kind === "real" ? (failed ? "failed" : bar.outcome === null ? "running" : "done") : "";
  const words = bar.kind === "real"
    ? `${bar.todo}, ${bar.outcome ?? "in progress"}, ${span(bar.end - bar.start)}${bar.attempt > 1 ? `, attempt ${bar.attempt}` : ""}`
    : bar.kind === "expected" ? `${bar.todo} was expected to take ${span(bar.end - bar.start)}` : `${bar.todo} is planned`;
  const label = bar.kind !== "expected" && bar.todo.length * 7 + 8 <= width ? bar.todo : "";
  return (
    <g
      class={`gantt ${bar.kind} ${look}`} role={bar.kind === "expected" ? "img" : "button"} tabindex={bar.kind === "real" ? 0 : undefined} aria-label={words} onClick={() => openTodo(bar.todo)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        openTodo(bar.todo);
      }}
    >
      <title>{words}</title>
      <rect x={left} y={top} width={width} height={height} rx="3" />
      {label !== "" && <text x={left + 5} y={top + 13}>{label}</text>}
    </g>
  );
}
