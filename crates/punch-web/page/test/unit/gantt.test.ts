import assert from "node:assert/strict";
import { test } from "node:test";
import { ganttOf, ticks } from "../../src/model/gantt.ts";
import type { RunAnswer, ScheduleAnswer } from "../../src/model/types.ts";

const MINUTE = 60_000;
const sum = (tokens: number) => ({ tokens, estimated: 0, cost: 0, uncosted: 0, ms: 0, turns: 0 });
const schedule: ScheduleAnswer = { revision: 1, agents: 1, makespan: 100, slots: [{ todo: "T-3", agent: 1, start: 0, end: 10_000 }], blocked: [] };
const answer = {
  run: { number: 1, startedAt: 0, endedAt: null, running: true, seats: [], spent: sum(10_000), limits: { tokens: null, cost: null, time: null } },
  todos: [{ id: "T-1", spent: sum(10_000), attempts: 1, estimated: 20_000 }],
  bars: [{ seat: 1, todo: "T-1", start: 0, end: 5 * MINUTE, outcome: "done", attempt: 1 }, { seat: 1, todo: "T-2", start: 5 * MINUTE, end: null, outcome: null, attempt: 1 }],
  ledger: [],
} as unknown as RunAnswer;

test("plan and reality are drawn at one pace", () => {
  const gantt = ganttOf(answer, schedule, 10 * MINUTE);
  const pace = 10_000 / (10 * MINUTE);
  assert.equal(gantt.pace, pace);
  const shape = gantt.bars.map((bar) => [bar.kind, bar.todo, bar.start / MINUTE, bar.end / MINUTE]);
  assert.deepEqual(shape, [["expected", "T-1", 0, 20], ["real", "T-1", 0, 5], ["real", "T-2", 5, 10], ["planned", "T-3", 10, 20]]);
  assert.deepEqual([gantt.from, gantt.to, gantt.seats], [0, 20 * MINUTE, [1]]);
});

test("without a run there is only a plan, and after it none", () => {
  assert.deepEqual(ganttOf(null, schedule, 0).bars.map((bar) => bar.kind), ["planned"]);
  const ended = { ...answer, run: { ...answer.run, running: false, endedAt: 10 * MINUTE } };
  assert.ok(ganttOf(ended, schedule, 99 * MINUTE).bars.every((bar) => bar.kind !== "planned"));
  assert.deepEqual(ganttOf(null, null, 5).bars, []);
});

test("the axis has round times inside, and never too many", () => {
  for (const span of [1, 7, 59, 240, 3_000, 100_000]) {
    const marks = ticks(1_000, 1_000 + span * MINUTE, 8);
    assert.ok(marks.length <= 9, `${span} minutes have ${marks.length} marks`);
    assert.ok(marks.every((at) => at >= 1_000 && at <= 1_000 + span * MINUTE && at % MINUTE === 0));
  }
});
