// What the page costs on a plan of 10,000 todos, for `cargo xtask bench boards`. Prints one JSON object for each figure.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { live, Stage } from "./stage.mjs";

const TODOS = 10_000;
const OPENED = 5;
const UPDATES = 20;
/** Limits: milliseconds until the first picture, of the main thread for one update, of the longest task. */
const FIRST = 300;
const UPDATE = 16;
const LONGEST = 100;

const print = (name, value, limit) => console.log(JSON.stringify({ name, value, limit }));

/** In the page: when the document had arrived, when the first rows were drawn, and how long the longest task took. */
function observe() {
  window.bench = { longest: 0, drawn: 0 };
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.bench.longest = Math.max(window.bench.longest, task.duration);
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (document.querySelector(".row, .seat, .inbox-item") === null) return requestAnimationFrame(look);
    // The next frame shows what is in the document now.
    requestAnimationFrame(() => setTimeout(() => (window.bench.drawn = performance.now())));
  };
  requestAnimationFrame(look);
}

const stage = new Stage();
try {
  const plan = join(stage.folder, "plan.md");
  writeFileSync(plan, Array.from({ length: TODOS }, (_, n) => `- [ ] Todo number ${n + 1}\n`).join(""));
  stage.punch("import", plan);
  await stage.serve();
  await stage.browser();
  let [first, longest] = [Infinity, 0];
  let page = stage.first;
  for (let n = 0; n < OPENED; n++) {
    page = await stage.page();
    await page.addInitScript(observe);
    await page.goto(`${stage.address}/p/main/list`);
    await page.waitForFunction(() => window.bench.drawn > 0);
    const seen = await page.evaluate(() => ({
      first: window.bench.drawn - performance.getEntriesByType("navigation")[0].responseEnd, longest: window.bench.longest,
    }));
    [first, longest] = [Math.min(first, seen.first), n === 0 ? seen.longest : Math.min(longest, seen.longest)];
    if (n + 1 < OPENED) await page.close();
  }
  await live(page);
  print("page, first picture after the document", first, FIRST);
  print("page, longest task while it opens", longest, LONGEST);
  const session = await stage.context.newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.filter(({ name }) => ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].includes(name)).reduce((sum, { value }) => sum + value, 0);
  };
  await page.evaluate(() => (window.bench.longest = 0));
  const before = await busy();
  for (let n = 0; n < UPDATES; n++) {
    stage.punch("edit", `T-${n + 1}`, "--content", `Changed ${n}`);
    await page.locator(".row", { hasText: `Changed ${n}` }).first().waitFor();
  }
  print("page, update by another process (main thread)", (await busy() - before) / UPDATES, UPDATE);
  print("page, longest task while it is updated", await page.evaluate(() => window.bench.longest), LONGEST);
} finally {
  await stage.close();
}
