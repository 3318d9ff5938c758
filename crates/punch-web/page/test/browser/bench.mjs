// What the page costs on a plan of 10,000 todos with phases and dependencies, for `cargo xtask bench boards`. Prints one JSON object for each figure.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { live, Stage, until } from "./stage.mjs";

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
  const plan = join(stage.folder, "plan.json");
  // Four of five todos wait for others.
  const todo = (n) => ({ id: `T-${n}`, content: `Todo number ${n}`, phase: `Phase ${Math.floor(n / 500) + 1}`, dependsOn: n % 5 === 1 ? [] : [`T-${n - 1}`] });
  writeFileSync(plan, JSON.stringify({ todos: Array.from({ length: TODOS }, (_, n) => todo(n + 1)) }));
  stage.punch("import", plan);
  await stage.serve();
  await stage.browser();
  const [firsts, longest] = [[], []];
  let page = stage.first;
  for (let n = 0; n < OPENED; n++) {
    page = await stage.page();
    await page.addInitScript(observe);
    await page.goto(`${stage.address}/p/main/list`);
    await page.waitForFunction(() => window.bench.drawn > 0);
    const seen = await page.evaluate(() => ({
      first: window.bench.drawn - performance.getEntriesByType("navigation")[0].responseEnd, longest: window.bench.longest,
    }));
    firsts.push(seen.first);
    longest.push(seen.longest);
    if (n + 1 < OPENED) await page.close();
  }
  await live(page);
  // The tab that has the connection for all does most: this one has it once the first is gone, and another one follows it.
  await stage.first.close();
  await until(() => page.evaluate(() => navigator.locks.query()).then(({ held }) => held.length > 0), "no tab took over");
  await live(page);
  stage.first = await stage.open("/p/main/now");
  await page.bringToFront();
  print("page, first picture after the document", firsts.sort((a, b) => a - b)[Math.floor(OPENED / 2)], FIRST);
  print("page, longest task while it opens", Math.max(...longest), LONGEST);
  const session = await stage.context.newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.filter(({ name }) => ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"].includes(name)).reduce((sum, { value }) => sum + value, 0);
  };
  for (const [view, shown] of [["list", ".row"], ["graph", ".node"]]) {
    // A link of the page: a new document would give the connection to another tab.
    await page.locator(`nav a[href*="/${view}"]`).click();
    const changed = page.locator(`${shown}[data-key^="todo:"]`).first();
    await changed.waitFor();
    await page.waitForTimeout(500);
    // A todo that is on the screen; numbers of todos are those of the list.
    const id = (await changed.getAttribute("data-key")).replace("todo:", "T-");
    await page.evaluate(() => (window.bench.longest = 0));
    const before = await busy();
    for (let n = 0; n < UPDATES; n++) {
      stage.punch("edit", id, "--content", `Changed in ${view} ${n}`);
      await page.locator(shown, { hasText: `Changed in ${view} ${n}` }).first().waitFor();
    }
    print(`page, ${view}: update by another process (main thread)`, (await busy() - before) / UPDATES, UPDATE);
    print(`page, ${view}: longest task while it is updated`, await page.evaluate(() => window.bench.longest), LONGEST);
  }
} finally {
  await stage.close();
}
