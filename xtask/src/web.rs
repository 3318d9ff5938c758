//! The web page: `cargo xtask web` builds its bundle, and `--pictures` takes screenshots for the documentation. Two steps of the
//! gate belong to it: `page` checks that the bundle belongs to its sources, `browser` runs every page in chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TaskResult, boards, process};

/// Where the sources of the page are.
const PAGE: &str = "crates/punch-web/page";
/// The files of the bundle.
const BUNDLE: [&str; 13] = [
    "index.html",
    "app.js",
    "app.css",
    "board.js",
    "board.css",
    "graph.js",
    "graph.css",
    "run.js",
    "run.css",
    "log.js",
    "todo.js",
    "workers.js",
    "sources.sha256",
];

/// Builds the bundle, or takes the pictures.
pub fn run(arguments: &[&str]) -> TaskResult {
    match arguments {
        [] => {
            install()?;
            process::run(node().arg("build.mjs"))
        }
        ["--pictures"] => {
            install()?;
            let chromium = chromium().ok_or("chromium is missing: install it with your package manager")?;
            let punch = process::build_punch()?;
            let mut script = node();
            script.arg("test/browser/pictures.mjs").arg(process::root().join("docs/images"));
            process::run(script.env("PUNCH", punch).env("CHROMIUM", chromium))
        }
        unknown => Err(format!("`web` takes nothing or --pictures, not {}", unknown.join(" "))),
    }
}

/// Checks types, unit tests, and that the bundle in the tree is what its sources give. Where npm is out of reach it says so and
/// passes; in CI that is a failure.
pub fn check() -> TaskResult {
    if let Err(why) = install() {
        return process::skip("the page", &format!("npm cannot install its tools: {why}"));
    }
    process::run(npm().args(["run", "--silent", "check"]))?;
    process::run(npm().args(["run", "--silent", "test"]))?;
    compare_bundle()
}

/// Runs the page in chromium against the real binary. Where npm, chromium or tmux is out of reach it says so and passes; in CI
/// that is a failure.
pub fn browse() -> TaskResult {
    if let Err(why) = install() {
        return process::skip("the page", &format!("npm cannot install its tools: {why}"));
    }
    let Some(chromium) = chromium() else { return process::skip("the page", "chromium is missing") };
    if !boards::tmux::is_available() {
        return process::skip("the page", "tmux is missing");
    }
    let punch = process::build_punch()?;
    process::run(npm().args(["run", "--silent", "browser"]).env("PUNCH", punch).env("CHROMIUM", chromium))
}

/// What the page costs in chromium, for `bench boards`: name, value and limit of each figure. `None` where npm or chromium is out
/// of reach.
pub fn bench(punch: &Path) -> Result<Option<Vec<PageTiming>>, String> {
    let (Ok(()), Some(chromium)) = (install(), chromium()) else { return Ok(None) };
    let mut script = node();
    script.arg("test/browser/bench.mjs").env("PUNCH", punch).env("CHROMIUM", chromium);
    let printed = process::read(&mut script)?;
    let figure = |line: &str| -> Option<PageTiming> {
        let figure: serde_json::Value = serde_json::from_str(line).ok()?;
        let number = |name: &str| figure[name].as_f64();
        Some(PageTiming { name: figure["name"].as_str()?.to_owned(), value: number("value")?, limit: number("limit")? })
    };
    Ok(Some(printed.lines().filter_map(figure).collect()))
}

/// Something measured in milliseconds, and its limit.
pub struct PageTiming {
    pub name: String,
    pub value: f64,
    pub limit: f64,
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
fn install() -> TaskResult {
    process::read(npm().args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])).map(|_| ())
}

/// Builds the bundle elsewhere and compares every byte.
fn compare_bundle() -> TaskResult {
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

/// Finds chromium; in CI it is installed by name.
fn chromium() -> Option<PathBuf> {
    let find = || {
        let path = std::env::var_os("PATH")?;
        let candidates =
            std::env::split_paths(&path).flat_map(|folder| [folder.join("chromium"), folder.join("chromium-browser")]);
        candidates.into_iter().find(|candidate| Path::is_file(candidate))
    };
    find().or_else(|| {
        if process::in_ci() {
            let _ = Command::new("apt-get").args(["install", "-y", "-qq", "chromium"]).output();
        }
        find()
    })
}
