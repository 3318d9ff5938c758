// Going from plan to plan, and around in the graph.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SCENE, stageWith, until } from "./stage.mjs";

let stage;
before(async () => {
  stage = await stageWith(...SCENE, ["plan", "new", "release"], ["add", "Tag the commit", "--plan", "release"], ["plan", "use", "main"]);
});
after(() => stage?.close());

const row = (page, text) => page.locator(".row", { hasText: text });

test("each plan has its own page, and changes arrive on the one that is open", async () => {
  const page = await stage.open("/p/main/list");
  await row(page, "Better parser errors").waitFor();
  await page.getByLabel("Plan", { exact: true }).selectOption("release");
  await row(page, "Tag the commit").waitFor();
  assert.equal(new URL(page.url()).pathname, "/p/release/list");
  assert.equal(await row(page, "Better parser errors").count(), 0);
  stage.punch("add", "Only in main");
  stage.punch("add", "Write the notes", "--plan", "release");
  await row(page, "Write the notes").waitFor();
  assert.equal(await row(page, "Only in main").count(), 0);
  // What is written here goes to this plan.
  await page.keyboard.press("a");
  await page.keyboard.type("Announce it");
  await page.keyboard.press("Enter");
  await row(page, "Announce it").waitFor();
  const contents = (plan) => JSON.parse(stage.punch("list", "--json", "--plan", plan)).todos.map((one) => one.content);
  assert.ok(contents("release").includes("Announce it") && !contents("main").includes("Announce it"));
  await page.goBack();
  await row(page, "Only in main").waitFor();
  await page.close();
});

test("the graph is panned and zoomed with keys, wheel, pointer and buttons, and fits again", async () => {
  const page = await stage.open("/p/main/graph");
  const svg = page.locator(".graph-svg");
  await page.locator(".node").first().waitFor();
  const box = async () => (await svg.getAttribute("viewBox")).split(" ").map(Number);
  /** Does something and returns the box before and after it. */
  const changed = async (act) => {
    const before = await box();
    await act();
    await until(async () => (await box()).join() !== before.join(), "the graph did not move");
    return [before, await box()];
  };
  await page.getByRole("button", { name: "Fit" }).click();
  const fitted = await box();
  await svg.focus();
  let [from, to] = await changed(() => page.keyboard.press("ArrowRight"));
  assert.ok(to[0] > from[0] && to[2] === from[2], "the arrow pans");
  [from, to] = await changed(() => page.keyboard.press("+"));
  assert.ok(to[2] < from[2] && to[3] < from[3], "plus zooms in");
  [from, to] = await changed(() => page.getByRole("button", { name: "Zoom out" }).click());
  assert.ok(to[2] > from[2]);
  const area = await svg.boundingBox();
  await page.mouse.move(area.x + area.width / 2, area.y + area.height - 20);
  [from, to] = await changed(() => page.mouse.wheel(0, -200));
  assert.ok(to[2] < from[2], "the wheel zooms");
  [from, to] = await changed(async () => {
    await page.mouse.down();
    await page.mouse.move(area.x + area.width / 2 - 120, area.y + area.height - 60, { steps: 4 });
    await page.mouse.up();
  });
  assert.ok(to[0] > from[0] && to[1] > from[1] && Math.abs(to[2] - from[2]) < 0.01, "dragging pans");
  await page.getByRole("button", { name: "Fit" }).click();
  await until(async () => (await box()).join() === fitted.join(), "it does not fit again");
  assert.equal(new URL(page.url()).hash, "", "no todo was opened");
  await page.close();
});

test("nothing went wrong on any page", () => assert.deepEqual(stage.problems, []));
