import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser, type ServerEvent } from "../../src/net/sse.ts";

function all(pieces: string[]): ServerEvent[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

const STREAM = ': keep\r\n\r\nid: 5\nevent: change\ndata: {"a":1}\ndata: second\n\ndata:bare\n\nevent: time\n\nid\ndata\n\n';
const EVENTS: ServerEvent[] = [
  { event: "change", data: '{"a":1}\nsecond', id: "5" },
  { event: "message", data: "bare", id: "5" },
  { event: "message", data: "", id: "" },
];

test("events are the same wherever the stream is cut", () => {
  assert.deepEqual(all([STREAM]), EVENTS);
  for (let first = 0; first <= STREAM.length; first++) {
    for (const second of [first, first + 1, first + 7, STREAM.length]) {
      const cut = [STREAM.slice(0, first), STREAM.slice(first, second), STREAM.slice(Math.max(first, second))];
      assert.deepEqual(all(cut), EVENTS, `cut at ${first} and ${second}`);
    }
  }
});

test("every line end counts once", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = ["data: x", "", "data: y", "", ""].join(end);
    const data = all([...text]).map((event) => event.data);
    // A lone carriage return at the end may still be followed by a line feed, and ends the line all the same.
    assert.deepEqual(data, ["x", "y"], JSON.stringify(end));
  }
});

test("a byte order mark is skipped", () => {
  assert.deepEqual(all(["\ufeffdata: x\n\n"]).map((event) => event.data), ["x"]);
});
