// Text of todos is not ours: whatever it contains, it stays text. Sizes from nothing to 10,000 todos.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DESK, live, PHONE, Stage, stageWith, until } from "./stage.mjs";

const PROBES = [
  "<img src=x onerror=globalThis.hacked=1>",
  "<script>globalThis.hacked=1</script>",
  '"><svg onload=globalThis.hacked=1>',
  "[link](javascript:globalThis.hacked=1)",
  "<a href='javascript:globalThis.hacked=1'>x</a>",
  "{{constructor.constructor('globalThis.hacked=1')()}}",
  "\u202Etxt.exe \u2066 bidi \u0007 bell",
  "x".repeat(10_000),
];

let stage;
before(async () => {
  stage = new Stage();
  stage.punch("config", "set", "limits.long", "100000");
  for (const probe of PROBES) {
    const id = `T-${PROBES.indexOf(probe) + 1}`;
    stage.punch("add", probe.slice(0, 500), "--description", `${probe}\n\n- ${probe}\n\n\`\`\`\n${probe}\n\`\`\``, "--criteria", probe, "--phase", probe.slice(0, 40), "--files", `${probe.slice(0, 100)}/**`);
    stage.punch("note", id, probe);
  }
  stage.punch("hold", "T-1", PROBES[0]);
  stage.punch("hold", "T-2", PROBES[1]);
  stage.punch("start", "T-3");
  stage.punch("fail", "T-3", PROBES[2]);
  stage.punch("done", "T-4", "--evidence", PROBES[3]);
  stage.punch("start", "T-5", "--owner", PROBES[0]);
  await stage.serve();
  await stage.browser();
});
after(() => stage?.close());

/** Nothing of the text has become an element, and none of it ran. */
async function isHarmless(page, what) {
  const found = await page.evaluate(() => ({
    hacked: globalThis.hacked,
    elements: document.querySelectorAll("main img, main script, main iframe, main [onerror], main [onload], main a[href^='javascript:'], aside img, aside script").length,
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  assert.deepEqual([what, found.hacked, found.elements], [what, undefined, 0]);
  assert.ok(found.wide <= 0, `${what} is ${found.wide} pixels wider than the screen`);
}

test("hostile text is shown as text on every page", async () => {
  for (const size of [DESK, PHONE]) {
    const page = await stage.open("/p/main/now", size);
    for (const view of ["now", "board", "list", "graph", "run", "log", ...PROBES.map((_, at) => `todo/T-${at + 1}`)]) {
      await page.goto(`${stage.address}/p/main/${view}`);
      await live(page);
      await until(() => page.evaluate(() => document.querySelector("main [aria-busy]") === null), "the page stays busy");
      await isHarmless(page, view);
    }
    assert.ok((await page.content()).length > 0);
    await page.close();
  }
  assert.deepEqual(stage.problems, []);
});

test("what an agent says, asks, prints and is called is shown as text", async () => {
  const own = await stageWith(["add", "Work (ask)"], ["add", "More work"]);
  try {
    const said = PROBES.slice(0, -1).join(" ");
    const escaped = JSON.stringify(said).slice(1, -1);
    void own.run(2, 600, [], { SAY: escaped, COMMAND: escaped });
    own.report(PROBES[0], "UserPromptSubmit", { prompt: "go" });
    const todos = [{ content: PROBES[1], status: "in_progress", activeForm: PROBES[2] }];
    own.report(PROBES[0], "PostToolUse", { tool_name: "TodoWrite", tool_input: { todos }, tool_response: {} });
    own.report(PROBES[0], "Stop", { stop_hook_active: false });
    for (const size of [DESK, PHONE]) {
      const page = await own.open("/p/main/now", size);
      await page.locator(".question-text", { hasText: PROBES[0] }).waitFor();
      await page.locator(".seat-line", { hasText: PROBES[1] }).first().waitFor();
      await isHarmless(page, "now");
      await page.goto(`${own.address}/p/main/run`);
      await page.locator("td", { hasText: PROBES[0].slice(0, 8) }).first().waitFor();
      await isHarmless(page, "run");
      await page.goto(`${own.address}/p/main/todo/T-1`);
      await page.locator(".question-text", { hasText: PROBES[2] }).waitFor();
      await page.getByRole("button", { name: "Output of the agent" }).click();
      await page.locator(".output", { hasText: "onerror" }).first().waitFor();
      await isHarmless(page, "todo");
      await page.close();
    }
    assert.deepEqual(own.problems, []);
  } finally {
    await own.close();
  }
});

test("the policy of the page forbids HTML from strings and script from elsewhere", async () => {
  const page = await stage.open("/p/main/list");
  const outcome = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>x</b>";
      return "allowed";
    } catch (error) {
      return error.constructor.name;
    }
  });
  assert.equal(outcome, "TypeError");
  await page.close();
  stage.problems.length = 0;
});

test("an address with a hostile filter, plan or todo does no harm", async () => {
  const page = await stage.page();
  for (const path of ["/p/main/list?f=%3Cimg%20src=x%20onerror=globalThis.hacked=1%3E", "/p/main/todo/%3Cscript%3E", "/p/%3Cimg%20src=x%3E/now", "/p/main/list#%E0%A4%A"]) {
    await page.goto(stage.address + path);
    await page.locator("main").waitFor();
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  }
  await page.close();
});

test("the token leaves the address, and works once", async () => {
  assert.ok(!stage.first.url().includes("#t="));
  const other = await stage.chromium.newContext();
  const page = await other.newPage();
  await page.goto(stage.link);
  await page.getByText("already used").waitFor();
  await other.close();
});

test("an empty plan invites, and the first todo appears", async () => {
  const empty = await stageWith(["add", "Soon gone"], ["rm", "T-1"]);
  try {
    const page = await empty.open("/p/main/now");
    await page.getByText("The plan is empty.").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.type("The first");
    await page.keyboard.press("Enter");
    await page.locator(".row", { hasText: "The first" }).waitFor();
  } finally {
    await empty.close();
  }
});

test("10,000 todos: only what can be seen is drawn, and the keyboard reaches the end", async () => {
  const large = new Stage();
  try {
    const lines = Array.from({ length: 10_000 }, (_, at) => `- [ ] Todo number ${at + 1}`);
    large.punchWith(`${lines.join("\n")}\n`, "import", "-", "--format", "markdown");
    await large.serve();
    await large.browser();
    const page = await large.open("/p/main/list");
    await page.locator(".row", { hasText: "Todo number 1" }).first().waitFor();
    assert.ok((await page.locator(".row").count()) < 120);
    assert.equal(await page.locator("[role=grid]").getAttribute("aria-rowcount"), "10000");
    await page.keyboard.press("G");
    await page.locator(".row:focus", { hasText: "Todo number 10000" }).waitFor();
    large.punch("edit", "T-10000", "--content", "The very last");
    await page.locator(".row:focus", { hasText: "The very last" }).waitFor();
    for (const view of ["board", "graph", "now"]) {
      await page.goto(`${large.address}/p/main/${view}`);
      await live(page);
      assert.ok((await page.evaluate(() => document.querySelectorAll("main *").length)) < 12_000, view);
    }
    assert.deepEqual(large.problems, []);
  } finally {
    await large.close();
  }
});
