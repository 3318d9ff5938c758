// Workers on the page Run, and what the first page says when one is lost.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Stage } from "./stage.mjs";

let stage;
let worker;
before(async () => {
  stage = new Stage();
  Object.assign(stage.environment, { PUNCH_WORKER_LEASE: "3s" });
  const git = (...words) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: join(stage.folder, "project"), env: stage.environment });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("init", "-q", "--bare", "../remote.git");
  git("remote", "add", "origin", "../remote.git");
  git("push", "-q", "origin", "main");
  stage.punch("add", "Train the model", "--label", "runs-on:gpu");
  await stage.serve();
  await stage.browser();
});
after(async () => {
  worker?.kill("SIGKILL");
  await stage?.close();
});

test("a worker is listed with what it does, and a lost one is a warning", async () => {
  const page = await stage.open("/p/main/run");
  worker = spawn(process.env.PUNCH, ["worker", "--name", "near", "--label", "gpu", "--agent", "exec:sleep 20"], {
    cwd: join(stage.folder, "project"), env: stage.environment, stdio: "ignore",
  });
  const row = page.locator("section[aria-label=Workers] tr", { hasText: "near" });
  await row.getByText("Train the model").waitFor();
  for (const text of ["working", "gpu", "1/1"]) await row.getByText(text, { exact: true }).waitFor();
  assert.deepEqual(JSON.parse(stage.punch("worker", "list", "--json")).figures.busy, 1);
  worker.kill("SIGKILL");
  await new Promise((resolve) => worker.on("exit", resolve));
  const now = await stage.open("/p/main/now");
  const until = Date.now() + 30_000;
  // The board looks at the fleet after a write, or when a minute has passed.
  while ((await now.getByText("worker near on").count()) === 0 && Date.now() < until) {
    stage.punch("note", "T-1", "still waiting");
    await now.waitForTimeout(500);
  }
  await now.getByText("T-1 of plan main is stuck: its worker near is gone").waitFor();
  await row.getByText("lost").waitFor();
  assert.deepEqual(stage.problems, []);
  await now.close();
  await page.close();
});
