// The picture follows the store: other processes, lost connections, several tabs, two people in one field.
import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { live, SCENE, stageWith, until } from "./stage.mjs";

let stage;
before(async () => {
  stage = await stageWith(...SCENE);
});
after(() => stage?.close());

const row = (page, text) => page.locator(".row", { hasText: text });
/** The streams that the pages of this browser have asked for and not left. */
function streams(context) {
  const open = new Set();
  context.on("request", (request) => request.url().includes("/events") && open.add(request));
  for (const end of ["requestfinished", "requestfailed"]) context.on(end, (request) => open.delete(request));
  return open;
}

test("a change of another process appears, and focus stays where it was", async () => {
  const page = await stage.open("/p/main/list");
  await row(page, "Fuzz the reader").focus();
  stage.punch("add", "Added elsewhere", "--phase", "Store");
  await row(page, "Added elsewhere").waitFor();
  stage.punch("done", "T-5");
  await until(async () => (await row(page, "Better parser errors").count()) === 0, "a completed todo is still listed");
  const focused = await page.evaluate(() => document.activeElement?.textContent ?? "");
  assert.match(focused, /Fuzz the reader/);
  await page.close();
});

test("what needs you is announced, and counted in the title", async () => {
  const page = await stage.open("/p/main/list");
  const before = Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0);
  stage.punch("hold", "T-7", "Which hooks?");
  await page.locator("[role=status]", { hasText: "T-7 needs you" }).waitFor({ state: "attached" });
  assert.equal(Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0), before + 1);
  stage.punch("unhold", "T-7");
  await until(async () => Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0) === before, "the title still counts it");
  await page.close();
});

test("all tabs share one connection, and another tab takes over", async () => {
  const open = streams(stage.context);
  const pages = [];
  for (let n = 0; n < 4; n++) pages.push(await stage.open("/p/main/list"));
  stage.punch("add", "For every tab");
  for (const page of pages) await row(page, "For every tab").waitFor();
  assert.equal(open.size, 0, "a tab opened a stream of its own");
  // The first tab has the connection. Without it another one takes over.
  await stage.first.close();
  await until(() => open.size === 1, "no other tab took over");
  stage.punch("add", "After the first tab");
  for (const page of pages) await row(page, "After the first tab").waitFor();
  stage.first = pages.shift();
  for (const page of pages) await page.close();
});

test("after a lost connection the picture catches up", async () => {
  const page = await stage.open("/p/main/list");
  const port = new URL(stage.address).port;
  stage.stopServer();
  await page.locator(".live", { hasText: "trying" }).waitFor();
  stage.punch("add", "While the server was away");
  await stage.serve(port);
  // The session of the first link ended with the server.
  const login = page.getByRole("heading", { name: "Open the board" });
  await Promise.race([login.waitFor(), row(page, "While the server was away").waitFor()]);
  if (await login.isVisible()) {
    await page.getByLabel("Link or token").fill(stage.link);
    await page.getByRole("button", { name: "Open" }).click();
  }
  await live(page);
  await row(page, "While the server was away").waitFor();
  stage.punch("add", "And after it");
  await row(page, "And after it").waitFor();
  await stage.first.close();
  stage.first = page;
});

test("a store that vanishes leaves the last picture, and its return is noticed", async () => {
  const page = await stage.open("/p/main/list");
  const [here, away] = [stage.path("project/.punch"), stage.path("project/.away")];
  renameSync(here, away);
  // A write is refused with the reason, and the picture stays.
  await row(page, "Fuzz the reader").focus();
  await page.keyboard.press("s");
  await page.locator(".toast.refused").waitFor();
  await row(page, "Fuzz the reader").waitFor();
  rmSync(here, { recursive: true, force: true });
  renameSync(away, here);
  await live(page);
  stage.punch("add", "After it returned");
  await row(page, "After it returned").waitFor();
  await page.close();
});

test("two people edit one field: the second sees the change and loses nothing", async () => {
  const page = await stage.open("/p/main/todo/T-2");
  await page.getByRole("button", { name: "Edit description" }).click();
  const field = page.getByRole("textbox", { name: "Description" });
  await field.fill("What I am typing");
  stage.punch("edit", "T-2", "--description", "What the other one wrote");
  const notice = page.getByRole("alert").filter({ hasText: "Someone changed this" });
  await notice.waitFor();
  assert.match(await notice.innerText(), /What the other one wrote/);
  assert.equal(await field.inputValue(), "What I am typing");
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  // Leaving the todo loses nothing either.
  await page.goto(`${stage.address}/p/main/todo/T-2`);
  await page.getByRole("button", { name: "Edit description" }).click();
  await field.fill("What I am typing");
  stage.punch("edit", "T-2", "--description", "A third version");
  await page.getByRole("button", { name: "Keep mine" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".markdown", { hasText: "What I am typing" }).waitFor();
  assert.match(stage.punch("show", "T-2"), /What I am typing/);
  await page.close();
});

test("a draft survives closing the todo", async () => {
  const page = await stage.open("/p/main/list#T-3");
  await page.getByRole("button", { name: "Edit description" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Half a sentence");
  await row(page, "Fuzz the reader").click();
  await page.locator(".aside .todo-title", { hasText: "Fuzz the reader" }).waitFor();
  await row(page, "Backfill rows").click();
  assert.equal(await page.getByRole("textbox", { name: "Description" }).inputValue(), "Half a sentence");
  await page.close();
});

test("nothing went wrong on any page", () => assert.deepEqual(stage.problems, []));
