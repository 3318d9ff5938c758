import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS, moveOp, opsOf } from "../../src/model/changes.ts";
import { COLUMNS, columnOf, needingYou, opsToColumn } from "../../src/model/columns.ts";
import { outline } from "../../src/model/outline.ts";
import type { Row } from "../../src/model/types.ts";
import { isSingleKey, KEYS, keyCap, pressed } from "../../src/ui/key_table.ts";

const STATUSES = [
  "ready", "waiting", "stuck", "held", "parked", "empty", "in_progress", "stalled", "reported", "completed", "cancelled", "failed",
];
const row = (id: string, status: string, more: Partial<Row> = {}): Row => ({ uid: Number(id.slice(2)), id, status, text: id, position: 0, updated: 0, ...more });

test("every status has one column, and what needs you is never hidden in another", () => {
  const needing = needingYou({ inbox: [{ kind: "question", todo: "T-1", text: "", since: 0, blocks: 0, action: "" }, { kind: "quiet", todo: "T-2", text: "", since: 0, blocks: 0, action: "" }] });
  assert.deepEqual([...needing], ["T-1"]);
  const names: string[] = COLUMNS.map((column) => column.name);
  for (const status of STATUSES) {
    assert.ok(names.includes(columnOf(row("T-9", status), needing)), status);
    if (!["completed", "cancelled"].includes(status)) assert.equal(columnOf(row("T-1", status), needing), "needs");
  }
});

test("a drop never offers ops that do nothing", () => {
  for (const status of STATUSES) {
    for (const { name } of COLUMNS) {
      const ops = opsToColumn(row("T-1", status), name);
      if (Array.isArray(ops)) assert.ok(ops.length > 0 && ops.every((op) => op["id"] === "T-1"), `${status} to ${name}`);
    }
  }
});

test("moving among others names a neighbor, never the todo itself", () => {
  const order = ["a", "b", "c"];
  assert.deepEqual(moveOp("b", order, 0), { op: "move", id: "b", before: "a" });
  assert.deepEqual(moveOp("b", order, 1), { op: "move", id: "b", after: "a" });
  assert.deepEqual(moveOp("b", order, 9), { op: "move", id: "b", after: "c" });
  assert.equal(moveOp("a", ["a"], 3), null);
});

test("every action has its own key, and ops or a dialog", () => {
  assert.equal(new Set(ACTIONS.map((action) => action.key)).size, ACTIONS.length);
  for (const action of ACTIONS) {
    assert.ok(KEYS.some((entry) => entry.run === `act:${action.name}` && entry.keys.includes(action.key)), action.name);
    const ops = opsOf(action.name, ["T-1", "T-2"]);
    if (ops !== null) assert.equal(ops.length, 2);
  }
});

test("no key means two things", () => {
  const keys = KEYS.flatMap((entry) => entry.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(pressed({ key: " ", ctrlKey: false, metaKey: false, altKey: false }), "Space");
  assert.equal(pressed({ key: "ArrowUp", ctrlKey: false, metaKey: false, altKey: true }), "Alt+ArrowUp");
  assert.deepEqual(["g n", "+", "Ctrl+d", "Alt+ArrowUp"].map(keyCap), [["g", "n"], ["+"], ["Ctrl", "d"], ["Alt", "↑"]]);
  assert.deepEqual(["a", "g n", "F2", "Ctrl+a"].map(isSingleKey), [true, true, false, false]);
});

test("the list has every todo exactly once, under its phase", () => {
  const phases = [{ uid: 1, name: "One" }, { uid: 2, name: "Two" }, { uid: 3, name: "Empty" }];
  const rows = [row("T-1", "ready"), row("T-2", "completed", { phase: 1 }), row("T-3", "ready", { phase: 1 }), row("T-4", "ready", { phase: 2 }), row("T-5", "ready", { phase: 99 })];
  const shape = (options: Partial<Parameters<typeof outline>[2]>): string[] =>
    outline(rows, phases, { matched: null, showClosed: false, folded: new Set(), ...options }).map((line) => (line.kind === "todo" ? line.row.id : line.kind === "phase" ? line.name : `+${line.count}`));
  assert.deepEqual(shape({ showClosed: true }), ["T-1", "T-5", "One", "T-2", "T-3", "Two", "T-4", "Empty"]);
  assert.deepEqual(shape({}), ["T-1", "T-5", "One", "T-3", "+1", "Two", "T-4", "Empty"]);
  assert.deepEqual(shape({ folded: new Set([1]) }), ["T-1", "T-5", "One", "Two", "T-4", "Empty"]);
  assert.deepEqual(shape({ matched: new Set([2]) }), ["One", "T-2"]);
});
