import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const KB = 1024;
const size = (name: string): number => gzipSync(readFileSync(`dist/${name}`), { level: 9 }).length;

test("the script is at most 45 KB, compressed, and the rest of the page at most 8 KB", () => {
  assert.ok(size("app.js") <= 45 * KB, `the script has ${size("app.js")} bytes`);
  const rest = size("app.css") + size("index.html");
  assert.ok(rest <= 8 * KB, `style sheet and document have ${rest} bytes`);
});
