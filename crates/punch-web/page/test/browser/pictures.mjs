// Pictures of the page for the documentation, taken while agents work: `cargo xtask web --pictures`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { live, SCENE, stageWith, until } from "./stage.mjs";

const folder = process.argv[2] ?? "pictures";
const DESK = { width: 1200, height: 760 };
/** A run with its timeline. */
const TALL = { width: 1200, height: 1000 };
const PHONE = { width: 375, height: 720 };

/** Name, address, size and theme of each picture. */
const PICTURES = [
  ["serve-now", "/p/main/now#T-2", DESK, "light"],
  ["serve-board", "/p/main/board", DESK, "light"],
  ["serve-list", "/p/main/list", DESK, "light"],
  ["serve-graph", "/p/main/graph#T-4", DESK, "light"],
  ["serve-run", "/p/main/run", TALL, "light"],
  ["serve-log", "/p/main/log", DESK, "light"],
  ["serve-todo", "/p/main/todo/T-2", DESK, "light"],
  ["serve-phone", "/p/main/now", PHONE, "light"],
  ["serve-dark", "/p/main/now#T-2", DESK, "dark"],
  ["serve-phone-dark", "/p/main/list", PHONE, "dark"],
];

/** Todos that are completed before the pictures are taken: the run has spent something, and its agents work on the next ones. */
const QUICK = ["T-5", "T-7"];
const ESTIMATES = { "T-2": "60k", "T-3": "40k", "T-4": "20k", "T-5": "25k", "T-6": "50k", "T-7": "35k" };

const stage = await stageWith(
  ...SCENE,
  ["edit", "T-2", "--content", "Migrate the schema (ask)", "--description", "Add `state` to every row. **Old readers** must keep working:\n\n- no column is dropped\n- the default is `open`"],
  ["edit", "T-2", "--criteria", "Both versions read the migrated file."],
  ["add", "Show examples in the docs", "--phase", "Docs", "--needs", "T-7", "--tokens", "30k"],
  ...Object.entries(ESTIMATES).map(([id, tokens]) => ["edit", id, "--tokens", tokens]),
);
try {
  mkdirSync(folder, { recursive: true });
  // Agents hold what they work on until the pictures are taken.
  void stage.run(3, 600, ["--max-cost", "5"], { QUICK: QUICK.join(" "), COST: "0.42", TOKENS: "31000" });
  await stage.first.locator(".inbox-item", { hasText: "sqlx migrate run" }).waitFor();
  const ended = (id) => JSON.parse(stage.punch("show", id, "--json")).todo.status === "completed";
  await until(() => QUICK.every(ended), "the run completes nothing");
  const page = await stage.page();
  for (const [name, path, size, colorScheme] of PICTURES) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(stage.address + path);
    await live(page);
    await page.waitForFunction(() => document.querySelector("[aria-busy]") === null);
    await page.waitForTimeout(800);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  console.log(`    ${PICTURES.length} pictures are in ${folder}`);
} finally {
  await stage.close();
}
