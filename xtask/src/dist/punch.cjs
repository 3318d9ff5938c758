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
  const { optionalDependencies } = require("../package.json");
  if (`@punchlist/${platform}` in optionalDependencies) {
    console.error(`error: the package @punchlist/${platform} is not installed`);
    console.error("hint: reinstall punchlist without `--omit=optional`");
  } else {
    console.error(`error: punchlist has no package for ${platform}`);
    console.error("hint: build punch from source with cargo");
  }
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
