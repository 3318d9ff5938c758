// Changing the plan: with the pointer, with the keyboard alone, several at once, and undoing it.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { existsSync } from "node:fs";
import { live, SCENE, stageWith, until } from "./stage.mjs";

let stage;
let page;
before(async () => {
  stage = await stageWith(...SCENE);
});
after(() => stage?.close());
beforeEach(async () => {
  page = await stage.open("/p/main/list");
});
afterEach(async () => {
  await page.close();
  assert.deepEqual(stage.problems, []);
});

const list = () => JSON.parse(stage.punch("list", "--all", "--json"));
const revision = () => JSON.parse(stage.punch("log", "--json", "--limit", "1")).revisions[0].revision;
const todo = (id) => list().todos.find((one) => one.id === id);
const row = (text) => page.locator(".row", { hasText: text });
const card = (text) => page.locator(".board-card", { hasText: text });
const toast = (text) => page.locator(".toast", { hasText: text }).waitFor();

/** Drags to a place below the upper edge of the target. */
async function drag(from, to, below = 120) {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(a.x + a.width / 2 + 12, a.y + a.height / 2 + 12);
  await page.mouse.move(b.x + b.width / 2, b.y + below, { steps: 5 });
  await page.mouse.up();
}

test("adding a todo with the keyboard", async () => {
  await page.keyboard.press("a");
  await page.keyboard.type("Added from the page");
  await page.keyboard.press("Enter");
  await row("Added from the page").waitFor();
  assert.ok(list().todos.some((one) => one.content === "Added from the page"));
});

test("editing a text in its row", async () => {
  await row("Write docs for hooks").dblclick();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Write better docs");
  await page.keyboard.press("Enter");
  await toast("Edited T-7");
  assert.equal(todo("T-7").content, "Write better docs");
  await page.keyboard.press("z");
  await row("Write docs for hooks").waitFor();
});

test("editing the description, and undoing it from the message", async () => {
  await row("Fuzz the reader").click();
  await page.getByRole("button", { name: "Edit description" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Feed it **noise**.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".markdown strong", { hasText: "noise" }).waitFor();
  await page.locator(".toast", { hasText: "Edited T-6" }).getByRole("button", { name: "Undo" }).click();
  await until(() => !(todo("T-6").description ?? ""), "the description is still there");
});

test("a card dropped on Working is started", async () => {
  await page.goto(`${stage.address}/p/main/board`);
  await drag(card("Better parser errors"), page.locator(".column-working"));
  await page.locator(".column-working .board-card", { hasText: "Better parser errors" }).waitFor();
  assert.equal(todo("T-5").shown, "in_progress");
  // You work on one todo at a time.
  stage.punch("reopen", "T-5");
});

test("a drop that a rule forbids snaps back and says why", async () => {
  await page.goto(`${stage.address}/p/main/board`);
  await drag(card("Drop the old column"), page.locator(".column-working"));
  await page.locator(".toast.refused").waitFor();
  assert.match(await page.locator(".toast.refused").innerText(), /T-3/);
  await page.locator(".column-waiting .board-card", { hasText: "Drop the old column" }).waitFor();
  assert.equal(todo("T-4").shown, "waiting");
});

test("dropping on Needs you asks for the reason", async () => {
  await page.goto(`${stage.address}/p/main/board`);
  await drag(card("Write docs for hooks"), page.locator(".column-needs"));
  await page.getByLabel("Reason or question").fill("For whom?");
  await page.keyboard.press("Control+Enter");
  await page.locator(".column-needs .board-card", { hasText: "Write docs for hooks" }).waitFor();
  stage.punch("unhold", "T-7");
  await page.locator(".column-ready .board-card", { hasText: "Write docs for hooks" }).waitFor();
});

test("a card is carried with the keyboard alone", async () => {
  await page.goto(`${stage.address}/p/main/board`);
  await card("Write docs for hooks").focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowRight");
  await page.locator(".column-working.allowed").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(todo("T-7").shown, "ready");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await page.locator(".column-working .board-card", { hasText: "Write docs for hooks" }).waitFor();
  stage.punch("reopen", "T-7");
});

test("reordering by drag and by keys", async () => {
  const order = () => list().todos.map((one) => one.id).filter((id) => ["T-2", "T-3", "T-4"].includes(id));
  await row("Drop the old column").hover();
  await drag(row("Drop the old column").locator(".grip"), row("Backfill rows"), 3);
  await toast("Moved T-4");
  await until(() => order().join() !== "T-2,T-3,T-4", "the order is the same");
  stage.punch("undo");
  const listed = async () => (await page.locator(".row .id").allInnerTexts()).filter((id) => ["T-2", "T-3", "T-4"].includes(id)).join();
  await until(async () => (await listed()) === "T-2,T-3,T-4", "the page does not show the order");
  await row("Backfill rows").focus();
  await page.keyboard.press("Alt+ArrowDown");
  await until(async () => (await listed()) === "T-2,T-4,T-3", "T-3 did not move down");
  assert.equal(order().join(), "T-2,T-4,T-3");
  await page.keyboard.press("K");
  await until(() => order().join() === "T-2,T-3,T-4", "T-3 did not move up");
});

test("several at once, in one revision", async () => {
  const before = revision();
  await row("Fuzz the reader").focus();
  await page.keyboard.press("Space");
  await row("Release notes").focus();
  await page.keyboard.press("Space");
  await page.getByText("2 todos selected").waitFor();
  await page.getByRole("toolbar").getByRole("button", { name: "Cancel" }).click();
  await toast("Cancelled T-6, T-9");
  assert.deepEqual([todo("T-6").shown, todo("T-9").shown, revision()], ["cancelled", "cancelled", before + 1]);
  await page.keyboard.press("z");
  await until(() => todo("T-9").shown === "waiting", "it was not undone");
});

test("several todos are given to a new agent, which starts at once", async () => {
  for (const text of ["Fuzz the reader", "Release notes"]) {
    await row(text).focus();
    await page.keyboard.press("Space");
  }
  await page.keyboard.press("b");
  await page.getByRole("dialog").getByRole("button", { name: "Start claude" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Enter");
  await toast("Gave T-6, T-9 to claude");
  await page.getByText("todos selected").waitFor({ state: "detached" });
  await until(() => existsSync(stage.path("traces/assigned")), "no agent was started");
  assert.match(stage.trace("assigned"), /IDs: T-6, T-9/);
  await row("Fuzz the reader").click();
  await page.getByRole("button", { name: "Output of the agent" }).click();
  await page.locator(".aside .output", { hasText: "the agent speaks" }).waitFor();
  await page.keyboard.press("Escape");
});

test("a session that may not start agents says so", async () => {
  const context = await stage.chromium.newContext();
  const reader = await context.newPage();
  const token = /^\S+$/m.exec(stage.punch("token", "new", "phone"))[0];
  await reader.goto(`${stage.address}/#t=${token}`);
  // Leaving before the page has its session would log nobody in.
  await live(reader);
  await reader.goto(`${stage.address}/p/main/list`);
  await reader.locator(".row", { hasText: "Fuzz the reader" }).focus();
  await reader.keyboard.press("b");
  await reader.locator(".toast.refused", { hasText: "may not start agents" }).waitFor();
  await context.close();
});

test("answering a hold adds a note and releases it", async () => {
  await page.goto(`${stage.address}/p/main/now`);
  const item = page.locator(".inbox-item", { hasText: "Choose a license" });
  await item.getByRole("button", { name: "Answer…" }).click();
  await item.getByLabel("Your answer").fill("MIT");
  await page.keyboard.press("Control+Enter");
  await item.waitFor({ state: "detached" });
  assert.equal(todo("T-8").shown, "ready");
  assert.match(stage.punch("show", "T-8"), /MIT or Apache\? — MIT/);
});

test("the log undoes a revision and shows the plan as it was", async () => {
  stage.punch("cancel", "T-9");
  await page.goto(`${stage.address}/p/main/log`);
  const entry = page.locator(".log .entry").first();
  await entry.getByText("T-9").waitFor();
  await entry.getByRole("button", { name: /^Undo/ }).click();
  await until(() => todo("T-9").shown === "waiting", "it was not undone");
  await page.locator(".log .entry").last().getByRole("button", { name: /^Show plan at revision/ }).click();
  await page.getByText("The plan at revision 1").waitFor();
  await page.locator(".row").first().waitFor();
  assert.equal(await page.locator(".row").count(), 1);
});

test("everything can be reached without a pointer", async () => {
  const heading = async (view) => page.locator(`.tab[aria-current]`, { hasText: view }).waitFor();
  for (const [key, view] of [["1", "Now"], ["2", "List"], ["3", "Graph"], ["4", "Log"], ["5", "Run"], ["6", "Board"]]) {
    await page.keyboard.press(key);
    await heading(view);
  }
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await heading("List");
  await page.keyboard.press("/");
  await page.keyboard.type("is:ready");
  await page.keyboard.press("Enter");
  await until(() => page.url().includes("f=is%3Aready"), "the filter is not in the address");
  await page.locator(".filter-count").waitFor();
  // Headings of phases are on the way.
  do {
    await page.keyboard.press("j");
    await page.locator("[data-key]:focus").waitFor();
  } while ((await page.locator(".row:focus").count()) === 0);
  await page.keyboard.press("Enter");
  await page.locator(".aside").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".aside").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await until(() => !page.url().includes("f="), "Escape does not clear the filter");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByRole("button", { name: /Board: columns/ }).click();
  await heading("Board");
});

test("single keys can be switched off", async () => {
  await page.keyboard.press("?");
  await page.getByLabel("Use single letters and signs as keys").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  assert.match(page.url(), /list/);
  await page.keyboard.press("?");
  await page.getByLabel("Use single letters and signs as keys").check();
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  await until(() => page.url().includes("/now"), "keys stay off");
});

test("a wrong filter is explained, and going back restores the last one", async () => {
  await page.locator("#filter").fill("nope:x");
  await page.locator("#filter-error").waitFor();
  await page.locator("#filter").fill("p:1");
  await page.locator("#filter-error").waitFor({ state: "detached" });
  await until(async () => (await page.locator(".row").count()) === 1, "the filter does not apply");
  await page.keyboard.press("Enter");
  await page.keyboard.press("6");
  await page.goBack();
  assert.equal(await page.locator("#filter").inputValue(), "p:1");
});
