#!/usr/bin/env node
// Starts the program of this system's package. `punch install` writes the path of that program into agents' settings, so
// hooks do not pay for starting node.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "punch.exe" : "punch";
let path;
try {
  path = require.resolve(`@punchlist/${platform}/bin/${program}`);
} catch {
  console.error(`error: punchlist has no program for ${platform} here`);
  console.error("hint: reinstall without `--omit=optional`, or build from source with cargo");
  process.exit(1);
}
const result = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
if (result.error) {
  console.error(`error: cannot start ${path}: ${result.error.message}`);
  process.exit(1);
}
if (result.signal) {
  process.kill(process.pid, result.signal);
}
process.exit(result.status ?? 1);
