//! cargo-deny, where it can run: bans and sources always, advisories where their database can be fetched.

use std::{path::PathBuf, time::Duration};

use crate::{TaskResult, cargo_tool::CargoTool, process};

const TOOL: CargoTool = CargoTool { name: "cargo-deny", version: "0.20.2" };

/// Checks with the cargo-deny at hand; `install` builds one under `target/tools` if there is none.
pub fn check(install: bool) -> TaskResult {
    let program = match find_or_build(install) {
        Ok(program) => program,
        Err(why) => return process::skip("bans and advisories", &why),
    };
    let deny = || process::command(&program);
    process::run(deny().args(["--log-level", "error", "check", "licenses", "bans", "sources"]))?;
    if !process::succeeds_within(Duration::from_secs(60), deny().args(["fetch", "db"])) {
        // Not a failure anywhere: a network may be closed to GitHub, and the licences and bans above were checked.
        println!("    SKIPPED advisories: their database on GitHub cannot be fetched from here");
        return Ok(());
    }
    process::run(deny().args(["--log-level", "error", "check", "--disable-fetch", "advisories"]))
}

fn find_or_build(install: bool) -> Result<PathBuf, String> {
    if install {
        return TOOL.find_or_build().map_err(|cause| format!("cargo-deny cannot be built here: {cause}"));
    }
    let hint = "cargo-deny is not installed; `cargo xtask test --with-deny` builds it (some minutes)";
    TOOL.find().ok_or_else(|| hint.to_owned())
}
