//! cargo-deny, where it can run: bans and sources always, advisories where their database can be fetched.

use std::{path::PathBuf, time::Duration};

use crate::{TaskResult, cargo_tool::CargoTool, process};

const TOOL: CargoTool = CargoTool { name: "cargo-deny", version: "0.20.2" };

/// Checks with the cargo-deny at hand; `install` builds one under `target/tools` if there is none.
pub fn check(install: bool) -> TaskResult {
    let Some(program) = find_or_build(install) else { return Ok(()) };
    let deny = || process::command(&program);
    process::run(deny().args(["--log-level", "error", "check", "licenses", "bans", "sources"]))?;
    if !process::succeeds_within(Duration::from_secs(60), deny().args(["fetch", "db"])) {
        println!("    skipped: advisories, their database cannot be fetched from here");
        return Ok(());
    }
    process::run(deny().args(["--log-level", "error", "check", "--disable-fetch", "advisories"]))
}

fn find_or_build(install: bool) -> Option<PathBuf> {
    if !install {
        let found = TOOL.find();
        if found.is_none() {
            println!(
                "    skipped: cargo-deny is not installed; `cargo xtask test --with-deny` builds it (some minutes)"
            );
        }
        return found;
    }
    TOOL.find_or_build().map_err(|cause| println!("    skipped: cargo-deny cannot be built here: {cause}")).ok()
}
