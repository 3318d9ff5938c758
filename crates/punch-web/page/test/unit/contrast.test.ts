// WCAG 2.2, 1.4.3 and 1.4.11: contrast of every pair of colors that is used together, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync("style/tokens.css", "utf8");
const pairs = [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];

function colors(theme: "light" | "dark"): Map<string, string> {
  return new Map(pairs.map((found) => [found[1] ?? "", found[theme === "light" ? 2 : 3] ?? ""]));
}

function luminance(color: string): number {
  const channel = (at: number): number => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const GROUNDS = ["bg", "surface", "raised", "sunken", "hover", "accent-soft"];
const TEXTS = ["text", "muted", "accent", "need", "warn", "work", "done"];

for (const theme of ["light", "dark"] as const) {
  const palette = colors(theme);
  const color = (name: string): string => palette.get(name) ?? assert.fail(`${theme} has no color ${name}`);
  const check = (front: string, ground: string, least: number): void => {
    const found = contrast(color(front), color(ground));
    assert.ok(found >= least, `${theme}: ${front} on ${ground} has ${found.toFixed(2)}, at least ${least} is needed`);
  };

  test(`${theme}: text can be read on every ground`, () => {
    for (const ground of GROUNDS) for (const front of TEXTS) check(front, ground, 4.5);
    for (const name of ["need", "warn", "work", "done"]) {
      check(name, `${name}-soft`, 4.5);
      check("text", `${name}-soft`, 4.5);
      check("muted", `${name}-soft`, 4.5);
    }
    check("on-accent", "accent", 4.5);
    check("on-need", "need", 4.5);
  });

  test(`${theme}: edges of fields and focus rings stand out`, () => {
    for (const ground of GROUNDS) for (const front of ["line-strong", "focus"]) check(front, ground, 3);
  });
}

test("every color is a pair", () => {
  assert.deepEqual(css.match(/^ {2}--[a-z-]+: #/gm), null);
});
