import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const KB = 1024;
const size = (name: string): number => gzipSync(readFileSync(`dist/${name}`), { level: 9 }).length;
const sum = (names: string[]): number => names.map(size).reduce((one, other) => one + other, 0);
const ALWAYS = ["index.html", "app.css", "app.js"];
const ON_DEMAND = [...["board", "graph", "run"].map((page) => [`${page}.js`, `${page}.css`]), ["log.js"], ["todo.js"]];
/** Loaded by a page where there is something to show. */
const PARTS = ["workers.js"];

test("opening any page of the board loads at most 45 KB, compressed: document, style sheet and scripts", () => {
  for (const page of ON_DEMAND) {
    const loaded = sum([...ALWAYS, ...page]);
    assert.ok(loaded <= 45 * KB, `with ${page.join(", ")}, ${loaded} bytes are loaded`);
  }
});

test("what few projects need adds at most 1 KB to a page", () => {
  for (const part of PARTS) assert.ok(size(part) <= KB, `${part} has ${size(part)} bytes`);
});

test("a todo that is opened beside a page adds at most 6 KB", () => {
  assert.ok(size("todo.js") <= 6 * KB, `todo.js has ${size("todo.js")} bytes`);
});

test("all files together have at most 57 KB", () => {
  const all = sum([...ALWAYS, ...ON_DEMAND.flat(), ...PARTS]);
  assert.ok(all <= 57 * KB, `all files have ${all} bytes`);
});
