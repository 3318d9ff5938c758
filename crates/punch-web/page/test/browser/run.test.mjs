// A run with agents: questions, seats, pausing and stopping.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stageWith, until } from "./stage.mjs";

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

test("nothing went wrong on any page", () => assert.deepEqual(stage.problems, []));
