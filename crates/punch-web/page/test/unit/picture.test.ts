import assert from "node:assert/strict";
import { test } from "node:test";
import { applyActivity, applyChange, applyQuestion, applyRows, fits, type Picture, pictureOf, unseenCount } from "../../src/model/picture.ts";
import type { BoardAnswer, ChangeEvent, HistoryEntry, Question, Row } from "../../src/model/types.ts";

/** Numbers that look random and are the same in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const PHASES = [{ uid: 1, name: "Build" }, { uid: 2, name: "Docs" }];

function row(uid: number, next: (below: number) => number): Row {
  const phase = next(4);
  return {
    uid, id: `T-${uid}`, status: ["ready", "waiting", "completed"][next(3)] ?? "ready", text: `text ${next(1000)}`,
    position: next(50) * 1000, updated: 0, ...(phase === 0 || phase === 3 ? {} : { phase }),
  };
}

function board(rows: Row[], revision = 1): BoardAnswer {
  return {
    plan: "main", revision, now: 0, rows, phases: PHASES, counts: {}, progress: { completed: 0, total: 0, percent: 0 }, inbox: [],
    questions: [], run: null, sessions: [], fleet: null, seen: 0, unseen: [], quietAfter: 0, failedWrite: null, can: { write: true, answer: true },
  };
}

function change(from: number, revision: number, more: Partial<ChangeEvent>): ChangeEvent {
  return { from, revision, now: 0, history: [], rows: [], gone: [], counts: {}, progress: { completed: 1, total: 2, percent: 50 }, ...more };
}

test("after any changes the picture equals one that is read afresh", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    const truth = new Map<number, Row>();
    for (let uid = 1; uid <= next(12); uid++) truth.set(uid, row(uid, next));
    let picture = pictureOf(board([...truth.values()]));
    for (let revision = 2; revision <= 12; revision++) {
      const rows: Row[] = [];
      const gone: number[] = [];
      for (let n = next(4); n > 0; n--) {
        const uid = 1 + next(20);
        if (next(4) === 0 && truth.delete(uid)) gone.push(uid);
        else if (!gone.includes(uid)) {
          const fresh = row(uid, next);
          truth.set(uid, fresh);
          const known = rows.findIndex((other) => other.uid === uid);
          if (known >= 0) rows[known] = fresh;
          else rows.push(fresh);
        }
      }
      const kept = rows.filter((one) => !gone.includes(one.uid));
      // The answer to an own write may arrive before the stream, after it, or not at all.
      if (next(2) === 0) picture = applyRows(picture, revision, kept, gone);
      picture = applyChange(picture, change(revision - 1, revision, { rows: kept, gone }));
      if (next(2) === 0) picture = applyRows(picture, revision, [], []);
      const fresh = pictureOf(board([...truth.values()], revision));
      assert.deepEqual(picture.rows, fresh.rows, `seed ${seed}, revision ${revision}`);
      assert.deepEqual([...picture.byId.entries()], [...fresh.byId.entries()]);
      assert.equal(picture.byUid.size, truth.size);
    }
  }
});

test("a change is applied only where it fits", () => {
  const picture = pictureOf(board([], 184));
  assert.equal(fits(picture, change(184, 185, {})), "apply");
  assert.equal(fits(picture, change(184, 184, {})), "apply", "time alone changes rows without a revision");
  assert.equal(fits(picture, change(180, 184, {})), "skip");
  assert.equal(fits(picture, change(180, 186, {})), "gap");
  assert.equal(fits(picture, change(185, 186, {})), "gap");
});

test("changes since you looked are newest first, and go when they are seen", () => {
  const entry = (revision: number) => ({ revision, at: 0, by: "user", changes: "" });
  let picture: Picture = { ...pictureOf(board([], 5)), seen: 4, unseen: [entry(5)] };
  picture = applyChange(picture, change(5, 7, { history: [entry(6), entry(7)] }));
  assert.deepEqual(picture.unseen.map((one) => one.revision), [7, 6, 5]);
  picture = applyActivity(picture, { now: 0, run: null, sessions: [], fleet: null, inbox: [], questions: [], seen: 6, failedWrite: null });
  assert.deepEqual(picture.unseen.map((one) => one.revision), [7]);
});

test("a question stays until it is answered", () => {
  const question = { id: 7, state: "open" } as Question;
  let picture = applyQuestion(pictureOf(board([])), question);
  picture = applyQuestion(picture, { ...question, text: "again" });
  assert.deepEqual(picture.questions.map((one) => one.text), ["again"]);
  assert.deepEqual(applyQuestion(picture, { ...question, state: "answered" }).questions, []);
});

test("an update of 10,000 rows replaces only what changed", () => {
  const next = random(1);
  const rows = Array.from({ length: 10_000 }, (_, at) => row(at + 1, next));
  const picture = pictureOf(board(rows));
  const one = { ...(rows[5_000] as Row), text: "changed" };
  const after = applyChange(picture, change(1, 2, { rows: [one] }));
  assert.equal(after.byUid.get(one.uid)?.text, "changed");
  // Rows that did not change are the same values, so nothing else is drawn again.
  assert.equal(after.rows.filter((other, at) => other !== picture.rows[at]).length, 1);
});

test("changes since you looked are counted even where they are not kept", () => {
  const entry = (revision: number): HistoryEntry => ({ revision, at: 0, by: "x", changes: "" });
  let picture = pictureOf({ ...board([], 400), seen: 100, unseen: Array.from({ length: 50 }, (_, at) => entry(400 - at)) });
  assert.equal(unseenCount(picture), 300);
  picture = applyChange(picture, change(400, 401, { history: [entry(401)] }));
  assert.deepEqual([unseenCount(picture), picture.unseen.length], [301, 50]);
  const activity = { now: 0, run: null, sessions: [], fleet: null, inbox: [], questions: [], failedWrite: null };
  assert.equal(unseenCount(applyActivity(picture, { ...activity, seen: 401 })), 0);
  // The mark of a reader is only in the tab: the server does not know it.
  const reader = { ...picture, seen: 401, can: { write: false, answer: false } };
  assert.equal(unseenCount(applyActivity(reader, { ...activity, seen: 100 })), 0);
});
