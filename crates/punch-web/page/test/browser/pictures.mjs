// Pictures of the page for the documentation, taken while agents work: `cargo xtask web --pictures`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { live, SCENE, stageWith } from "./stage.mjs";

const folder = process.argv[2] ?? "pictures";
const DESK = { width: 1200, height: 760 };
const PHONE = { width: 375, height: 720 };

/** Name, address, size and theme of each picture. */
const PICTURES = [
  ["serve-now", "/p/main/now#T-2", DESK, "light"],
  ["serve-board", "/p/main/board", DESK, "light"],
  ["serve-graph", "/p/main/graph#T-4", DESK, "light"],
  ["serve-run", "/p/main/run", DESK, "light"],
  ["serve-phone", "/p/main/now", PHONE, "light"],
  ["serve-dark", "/p/main/now#T-2", DESK, "dark"],
  ["serve-phone-dark", "/p/main/list", PHONE, "dark"],
];

const stage = await stageWith(...SCENE, ["edit", "T-2", "--content", "Migrate the schema (ask)"]);
try {
  mkdirSync(folder, { recursive: true });
  // Agents hold what they work on until the pictures are taken.
  void stage.run(3, 600);
  await stage.first.locator(".inbox-item", { hasText: "sqlx migrate run" }).waitFor();
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
