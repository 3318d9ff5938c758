//! The web page: `cargo xtask web` builds its bundle, and the step `page` of the gate checks types, unit tests and that the
//! bundle in the tree belongs to its sources.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{Done, process};

/// Where the sources of the page are.
const PAGE: &str = "crates/punch-web/page";
/// The files of the bundle.
const BUNDLE: [&str; 4] = ["index.html", "app.js", "app.css", "sources.sha256"];

/// Builds the bundle.
pub fn run(arguments: &[&str]) -> Done {
    match arguments {
        [] => {
            install()?;
            process::run(node().arg("build.mjs"))
        }
        unknown => Err(format!("`web` takes no arguments, not {}", unknown.join(" "))),
    }
}

/// Checks types, unit tests, and that the bundle in the tree is what its sources give. Where npm is out of reach it says so and
/// passes; in CI that is a failure.
pub fn check() -> Done {
    if let Err(why) = install() {
        return skip(&format!("npm cannot install the tools of the page: {why}"));
    }
    process::run(npm().args(["run", "--silent", "check"]))?;
    process::run(npm().args(["run", "--silent", "test"]))?;
    compare_bundle()
}

fn skip(why: &str) -> Done {
    if process::in_ci() {
        return Err(why.to_owned());
    }
    println!("    SKIPPED: {why}");
    Ok(())
}

fn page() -> PathBuf {
    process::root().join(PAGE)
}

fn npm() -> Command {
    let mut command = process::command("npm");
    command.current_dir(page());
    command
}

fn node() -> Command {
    let mut command = process::command("node");
    command.current_dir(page());
    command
}

/// Exactly the packages of the lock file. No package runs a script while it is installed.
fn install() -> Done {
    process::read(npm().args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])).map(|_| ())
}

/// Builds the bundle elsewhere and compares every byte.
fn compare_bundle() -> Done {
    let fresh = process::target()?.join("tmp/page");
    process::run(node().args(["build.mjs", "--out"]).arg(&fresh))?;
    let read = |path: PathBuf| fs::read(&path).map_err(|cause| format!("{}: {cause}", path.display()));
    for name in BUNDLE {
        if read(fresh.join(name))? != read(page().join("dist").join(name))? {
            return Err(format!("{PAGE}/dist/{name} is not what its sources give: run `cargo xtask web`"));
        }
    }
    Ok(())
}
