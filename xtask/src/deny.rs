//! cargo-deny, where it can run: bans and sources always, advisories where their database can be fetched.

use std::{path::PathBuf, process::Command, time::Duration};

use crate::{Done, process};

/// Bumped by hand, so that a new release cannot break the gate overnight.
const VERSION: &str = "0.20.2";

/// Checks with the cargo-deny at hand; `install` builds one under `target/tools` if there is none.
pub fn check(install: bool) -> Done {
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
    let tools = process::target().ok()?.join("tools");
    let built = tools.join("bin").join("cargo-deny");
    let works = |program: &PathBuf| process::read(Command::new(program).arg("--version")).is_ok();
    if let Some(found) = [PathBuf::from("cargo-deny"), built.clone()].into_iter().find(works) {
        return Some(found);
    }
    if !install {
        println!("    skipped: cargo-deny is not installed; `cargo xtask test --with-deny` builds it (some minutes)");
        return None;
    }
    println!("    building cargo-deny {VERSION} into target/tools");
    let built_now = process::run(
        process::cargo()
            .args(["install", "cargo-deny", "--locked", "--quiet", "--version", VERSION, "--root"])
            .arg(&tools),
    );
    match built_now {
        Ok(()) => Some(built),
        Err(cause) => {
            println!("    skipped: cargo-deny cannot be built here: {cause}");
            None
        }
    }
}
