import assert from "node:assert/strict";
import { test } from "node:test";
import { edgePath, GAP_X, GAP_Y, HEIGHT, WIDTH } from "../../src/model/edge_path.ts";

const STEP_X = WIDTH + GAP_X;
const STEP_Y = HEIGHT + GAP_Y;

test("an edge to the next layer is one curve", () => {
  const path = edgePath({ x: 0, y: 0 }, { x: STEP_X, y: STEP_Y }, new Map());
  const [end, bend] = [STEP_X - 5, (GAP_X - 5) / 2];
  assert.equal(path, `M${WIDTH} 26C${WIDTH + bend} 26 ${end - bend} ${STEP_Y + 26} ${end} ${STEP_Y + 26}`);
});

test("an edge over several layers runs behind no todo", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 500; round++) {
    const layers = Array.from({ length: 3 + random(5) }, () => ({ top: random(200), todos: 1 + random(9) }));
    const tops = new Map(layers.map(({ top }, at) => [at * STEP_X, top]));
    const end = (at: number): { x: number; y: number } => {
      const { top, todos } = layers[at] ?? { top: 0, todos: 1 };
      return { x: at * STEP_X, y: top + random(todos) * STEP_Y };
    };
    const path = edgePath(end(0), end(layers.length - 1), tops);
    const heights = [...path.matchAll(/ (\S+)H\d+/g)].map(([, y]) => Number(y));
    assert.equal(heights.length, layers.length - 2, path);
    heights.forEach((y, at) => {
      const { top, todos } = layers[at + 1] ?? { top: 0, todos: 0 };
      for (let n = 0; n < todos; n++) {
        assert.ok(y < top + n * STEP_Y || y > top + n * STEP_Y + HEIGHT, `${path} meets todo ${n} of layer ${at + 1}`);
      }
    });
  }
});
