import assert from "node:assert/strict";
import { test } from "node:test";
import { age, count, dollars, percent, plural, span } from "../../src/ui/format.ts";
import { listWindow, scrollFor } from "../../src/ui/window.ts";

test("spans are short", () => {
  const spans = [0, 59_999, 60_000, 3_599_999, 3_600_000, 4_320_000, 86_400_000].map(span);
  assert.deepEqual(spans, ["0s", "59s", "1m", "59m", "1h", "1h 12m", "1d"]);
  assert.equal(span(-5), "0s");
  assert.equal(age(59_000), "now");
});

test("counts and amounts are short", () => {
  const counts = [0, 950, 999, 1_000, 1_949, 96_400, 999_499, 999_500, 1_900_000, 120_000_000].map(count);
  assert.deepEqual(counts, ["0", "950", "999", "1k", "1.9k", "96k", "999k", "1M", "1.9M", "120M"]);
  assert.equal(dollars(4.1), "$4.10");
  assert.deepEqual([plural(1, "todo"), plural(0, "todo"), plural(2, "todo")], ["1 todo", "0 todos", "2 todos"]);
  assert.deepEqual([percent(1, 3), percent(5, 0), percent(9, 3)], [33, 0, 100]);
});

test("a window covers what can be seen and never more than a screen and its margins", () => {
  for (const rows of [0, 1, 7, 60, 10_000]) {
    for (const scrolled of [-50, 0, 1, 35, 36, 1_000, 359_000, 9_999_999]) {
      const { first, end } = listWindow(rows, 36, scrolled, 800);
      assert.ok(first >= 0 && end <= rows && end - first <= 48, `${rows} rows at ${scrolled}: ${first} to ${end}`);
      const top = Math.max(0, Math.min(scrolled, rows * 36 - 800));
      assert.ok(first * 36 <= top && (end === rows || end * 36 >= top + 800));
    }
  }
});

test("scrolling stops as soon as the row can be seen", () => {
  assert.equal(scrollFor(0, 36, 0, 100), null);
  assert.equal(scrollFor(0, 36, 10, 100), 0);
  assert.equal(scrollFor(3, 36, 0, 100), 44);
});
