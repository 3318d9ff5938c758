// Bars of a run over time: what happened, how long it was expected to take, and what is planned next. Pure.
import type { RunAnswer, ScheduleAnswer } from "./types.ts";

export interface GanttBar {
  seat: number;
  todo: string;
  start: number;
  end: number;
  kind: "real" | "expected" | "planned";
  /** How a finished attempt ended; `null` while it runs. */
  outcome: string | null;
  attempt: number;
}

export interface Gantt {
  bars: GanttBar[];
  seats: number[];
  from: number;
  to: number;
  /** Tokens per millisecond of one seat; `null` before anything was spent. */
  pace: number | null;
}

/** A plan without any run is drawn at this pace: about 50,000 tokens in 10 minutes. */
const USUAL_PACE = 50_000 / 600_000;
/** Bars beyond this many are left out; the table has all. */
const BARS = 600;

export function ganttOf(answer: RunAnswer | null, schedule: ScheduleAnswer | null, now: number): Gantt {
  const real = (answer?.bars ?? []).slice(-BARS);
  const busy = real.reduce((sum, bar) => sum + Math.max(0, (bar.end ?? now) - bar.start), 0);
  const tokens = answer?.run.spent.tokens ?? 0;
  const pace = busy > 0 && tokens > 0 ? tokens / busy : null;
  const speed = pace ?? USUAL_PACE;
  const estimates = new Map((answer?.todos ?? []).map((todo) => [todo.id, todo.estimated]));
  const bars: GanttBar[] = [];
  for (const bar of real) {
    const common = { seat: bar.seat, todo: bar.todo, start: bar.start, attempt: bar.attempt };
    const estimated = estimates.get(bar.todo) ?? null;
    if (estimated !== null) bars.push({ ...common, end: bar.start + estimated / speed, kind: "expected", outcome: null });
    bars.push({ ...common, end: Math.max(bar.end ?? now, bar.start), kind: "real", outcome: bar.end === null ? null : (bar.outcome ?? "ended") });
  }
  const running = answer === null || answer.run.running;
  const begin = answer === null ? now : Math.max(now, answer.run.startedAt);
  if (running) {
    for (const slot of (schedule?.slots ?? []).slice(0, BARS)) {
      const [start, end] = [begin + slot.start / speed, begin + slot.end / speed];
      bars.push({ seat: slot.agent, todo: slot.todo, start, end, kind: "planned", outcome: null, attempt: 0 });
    }
  }
  const seats = [...new Set([...(answer?.run.seats ?? []).map((seat) => seat.seat), ...bars.map((bar) => bar.seat)])].sort((a, b) => a - b);
  const from = Math.min(answer?.run.startedAt ?? now, ...bars.map((bar) => bar.start));
  const last = answer?.run.endedAt ?? now;
  return { bars, seats, from, to: Math.max(last, from + 60_000, ...bars.map((bar) => bar.end)), pace };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440].map((minutes) => minutes * 60_000);

/** Times for the axis: round, and at most as many as fit. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = Math.max(1, to - from);
  const step = STEPS.find((one) => span / one <= most) ?? Math.ceil(span / most / 86_400_000) * 86_400_000;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - offset) / step) * step + offset;
  const out: number[] = [];
  for (let at = first; at <= to; at += step) out.push(at);
  return out;
}
