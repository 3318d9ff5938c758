// Every page in both sizes and themes: it is drawn, nothing is logged as an error, and axe has no serious finding.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DESK, findings, PHONE, SCENE, stageWith } from "./stage.mjs";

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

test("on a phone, several todos are selected by touch, and nothing covers what can be pressed", async () => {
  const page = await stage.open("/p/main/list", PHONE);
  await page.getByRole("checkbox", { name: "Select T-5" }).check();
  await page.getByRole("checkbox", { name: "Select T-6" }).check();
  await page.getByRole("toolbar", { name: "Selected todos" }).getByText("2 todos selected").waitFor();
  assert.ok(await page.locator('[data-key="todo:5"] .grip').isVisible(), "a todo cannot be dragged");
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await page.goto(`${stage.address}/p/main/now`);
  await page.locator(".inbox-item").first().waitFor();
  const covered = () => page.evaluate(() => {
    const buttons = [...document.querySelectorAll("main button")].map((one) => [one, one.getBoundingClientRect()]);
    const top = document.querySelector("main").getBoundingClientRect();
    const seen = buttons.filter(([, box]) => box.width > 0 && box.top >= top.top && box.bottom <= top.bottom);
    const corners = (box) => [[box.left + 2, box.top + 2], [box.right - 2, box.top + 2], [box.left + 2, box.bottom - 2], [box.right - 2, box.bottom - 2]];
    return seen.filter(([one, box]) => corners({ left: box.left + 6, right: box.right - 6, top: box.top + 6, bottom: box.bottom - 6 }).some(([x, y]) => !one.contains(document.elementFromPoint(x, y)))).map(([one]) => one.textContent);
  });
  for (const share of [0, 0.5, 1]) {
    await page.evaluate((share) => document.querySelector("main").scrollTo(0, share * 10_000), share);
    assert.deepEqual(await covered(), []);
  }
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("dialog", { name: "Add a todo" }).waitFor();
  await page.keyboard.press("Escape");
  assert.ok(await page.getByRole("button", { name: "Log out" }).isVisible());
  await page.close();
});
