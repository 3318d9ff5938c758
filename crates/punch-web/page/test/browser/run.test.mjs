// A run with agents: questions, seats, pausing and stopping.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findings, live, stageWith, until } from "./stage.mjs";

let stage;
before(async () => {
  stage = await stageWith(["add", "Migrate the schema (ask)"], ["add", "Write the docs"], ["add", "Try it (ask)", "--needs", "T-2"]);
});
after(() => stage?.close());

test("a question is answered in the browser, once, and the agent continues", async () => {
  const page = await stage.open("/p/main/now");
  const second = await stage.open("/p/main/now");
  const ended = stage.run(2, 0.2);
  const item = page.locator(".inbox-item", { hasText: "Migrate the schema" });
  await item.getByText("sqlx migrate run --database-url sqlite:dev.db").waitFor();
  await second.locator(".inbox-item", { hasText: "sqlx" }).first().waitFor();
  assert.deepEqual(await findings(page), [], "while an agent asks");
  // A button that appears under the pointer does nothing for a moment.
  await item.getByRole("button", { name: "Allow once" }).click();
  await item.waitFor({ state: "detached" });
  await second.locator(".inbox-item", { hasText: "Migrate the schema" }).waitFor({ state: "detached" });
  const next = page.locator(".inbox-item", { hasText: "Try it" });
  await next.getByRole("button", { name: "Deny with a reason…" }).click();
  await next.getByLabel("Why not?").fill("Not on this machine");
  await next.getByRole("button", { name: "Deny", exact: true }).click();
  await ended;
  const answers = stage.trace("answers");
  assert.match(answers, /"behavior":"allow"/);
  assert.match(answers, /"behavior":"deny"/);
  await page.goto(`${stage.address}/p/main/run`);
  await page.getByText("Plan and reality").waitFor();
  await page.locator(".gantt.real").first().waitFor();
  await page.locator("table", { hasText: "Estimated" }).getByText("T-1").waitFor();
  assert.deepEqual(await findings(page), [], "after a run");
  await page.close();
  await second.close();
});

test("a run is paused, resumed and stopped", async () => {
  const page = await stage.open("/p/main/run");
  for (const text of ["One", "Two", "Three"]) stage.punch("add", text);
  const ended = stage.run(1, 30);
  await page.locator(".seat").waitFor();
  await page.locator(".run-head").getByRole("button", { name: "Pause" }).click();
  await page.locator(".run-head").getByText("pausing").waitFor();
  await page.keyboard.press("P");
  await page.locator(".run-head").getByText("running").waitFor();
  await page.locator(".run-head").getByRole("button", { name: "Stop…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await ended;
  await until(async () => (await page.locator(".run-head").getByRole("button", { name: "Stop…" }).count()) === 0, "the run still shows as running");
  await page.close();
});

test("a check command is shown with the command that approves it, and cannot be approved here", async () => {
  const check = "make check && make install";
  stage.punch("add", "Build it", "--id", "build", "--verify", check);
  const page = await stage.open("/p/main/now");
  const item = page.locator(".inbox-item", { hasText: "Build it" });
  await item.getByText("punch verify --allow build").waitFor();
  assert.deepEqual(await item.getByRole("button").allTextContents(), ["Copy"]);
  await item.focus();
  for (const key of ["y", "Enter"]) await page.keyboard.press(key);
  await page.goto(`${stage.address}/p/main/todo/build`);
  await page.locator(".check", { hasText: check }).getByText("punch verify --allow build").waitFor();
  assert.deepEqual(await page.locator(".check").getByRole("button").allTextContents(), ["Copy"]);
  assert.throws(() => stage.punch("verify", "build"), /not approved|approve/);
  await page.close();
});

test("a check that takes long is named until it ends", async () => {
  stage.punch("add", "Slow check", "--id", "slow", "--verify", "sleep 3");
  stage.punch("verify", "--allow", "slow");
  stage.punch("config", "set", "policy.verify", "command");
  // A server reads its settings when it starts.
  stage.stopServer();
  await stage.serve();
  await stage.first.goto(stage.link);
  await live(stage.first);
  const page = await stage.open("/p/main/todo/slow");
  await page.getByRole("button", { name: "Complete", exact: true }).click();
  await page.locator(".toast", { hasText: "Checking slow" }).waitFor();
  await page.locator(".toast", { hasText: "Completed slow" }).waitFor();
  assert.equal(await page.locator(".toast", { hasText: "Checking" }).count(), 0);
  await page.close();
});

test("a session is shown with its last decision, and is paused, resumed and switched off", async () => {
  const report = (event, fields) => stage.report("1a2b3c4d", event, fields);
  report("UserPromptSubmit", { prompt: "go" });
  const todos = [{ content: "Look around", status: "in_progress", activeForm: "Looking around" }];
  report("PostToolUse", { tool_name: "TodoWrite", tool_input: { todos }, tool_response: {} });
  report("Stop", { stop_hook_active: false });
  const page = await stage.open("/p/main/run");
  const session = page.getByRole("row").filter({ hasText: "1a2b3c4d" });
  await session.getByText("sent back to work (1 of ").waitFor();
  assert.deepEqual(await findings(page), []);
  await session.getByRole("button", { name: "Pause" }).click();
  await session.getByText("paused", { exact: true }).waitFor();
  report("Stop", { stop_hook_active: true });
  await session.getByText("allowed to stop").waitFor();
  await session.getByRole("button", { name: "Resume" }).click();
  await session.getByText("on", { exact: true }).waitFor();
  await session.getByRole("button", { name: "Off" }).click();
  await session.getByText("off", { exact: true }).waitFor();
  await page.close();
});

test("nothing went wrong on any page", () => assert.deepEqual(stage.problems, []));
