// Every page in both sizes and themes: it is drawn, nothing is logged as an error, and axe has no serious finding.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { DESK, PHONE, SCENE, stageWith } from "./stage.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Each page with something that it must show. */
const PAGES = [
  ["/p/main/now", ".inbox-item", "Choose a license"],
  ["/p/main/now#T-2", ".aside .todo-title", "Migrate the schema"],
  ["/p/main/board", ".column-needs .board-card", "Choose a license"],
  ["/p/main/list", "[role=grid] .row", "Better parser errors"],
  ["/p/main/list?f=p%3A1", "[role=grid] .row", "Migrate the schema"],
  ["/p/main/graph", ".node", "T-2"],
  ["/p/main/run", ".chart", ""],
  ["/p/main/log", ".log .entry", "T-8"],
  ["/p/main/log?at=5", ".past-bar", "revision 5"],
  ["/p/main/todo/T-2", ".todo-title", "Migrate the schema"],
];

let stage;
before(async () => {
  stage = await stageWith(...SCENE);
});
after(() => stage?.close());

/** What axe calls serious or critical. */
async function findings(page) {
  // The page's policy forbids script that is not its own; the debugger may run it all the same.
  await page.evaluate(AXE);
  // A dialog fades in, and its text has too little contrast until it is there.
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)));
  const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
  return result.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
}

for (const [name, size] of [["desk", DESK], ["phone", PHONE]]) {
  for (const scheme of ["light", "dark"]) {
    test(`every page, ${name}, ${scheme}`, async () => {
      const page = await stage.open("/p/main/now", size);
      await page.emulateMedia({ colorScheme: scheme });
      for (const [path, selector, text] of PAGES) {
        await page.goto(stage.address + path);
        await page.locator(selector, { hasText: text }).first().waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${path} is ${wide} pixels wider than the screen`);
        assert.deepEqual(await findings(page), [], path);
      }
      await page.close();
      assert.deepEqual(stage.problems, []);
    });
  }
}

test("dialogs have no serious finding either", async () => {
  const page = await stage.open("/p/main/list");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press("Escape");
  await page.keyboard.press("a");
  await page.getByRole("dialog", { name: "Add a todo" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.close();
});

test("targets are large enough for fingers", async () => {
  const page = await stage.open("/p/main/now", PHONE);
  const small = await page.evaluate(() => {
    const all = [...document.querySelectorAll("main button, nav a, header button, header select")];
    return all.map((one) => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0 && (box.height < 24 || box.width < 24)).map(([text]) => text);
  });
  assert.deepEqual(small, []);
  await page.close();
});
