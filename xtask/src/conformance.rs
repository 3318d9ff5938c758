//! The conformance suite of the protocol against a fixture behind our own HTTP stack. The suite and the runtime it
//! needs come from npm into `target/tools`; without npm the task says so and passes. The real server follows, under the
//! official inspector.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{TaskResult, inspector, process};

/// Pinned: the suite grows.
const PACKAGES: [&str; 2] = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22"];

/// Sends the token along: the suite has no option for headers.
const PRELOAD: &str = include_str!("conformance_token.mjs");

/// What the suite calls the frozen requirements of a revision. The one before has no such set; a golden handshake
/// covers it.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs both revisions; what the suite itself does not score does not count.
pub fn run() -> TaskResult {
    let tools = process::target()?.join("tools/conformance");
    if let Err(why) = install(&tools) {
        return process::skip("the conformance suite", &why.to_string());
    }
    process::run(process::cargo().args(BUILD))?;
    let fixture = Fixture::start(&tools)?;
    let preload = tools.join("token.mjs");
    fs::write(&preload, PRELOAD).map_err(|cause| cause.to_string())?;
    let mut failed = Vec::new();
    for revision in REVISIONS {
        println!("=== {revision}");
        let mut suite = Command::new(tools.join("node_modules/.bin/node"));
        suite.arg("--import").arg(&preload);
        suite.env("PUNCH_URL", &fixture.url).env("PUNCH_TOKEN", &fixture.token);
        suite.arg(tools.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        suite.args(["server", "--url", &fixture.url, "--requirements", revision]).current_dir(&tools);
        let output = suite.output().map_err(|cause| format!("cannot start the suite: {cause}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        println!("{}", said.split_once("=== SUMMARY ===").map_or(said.as_str(), |(_, summary)| summary.trim()));
        if !output.status.success() {
            failed.push(revision);
        }
    }
    if !failed.is_empty() {
        return Err(format!("requirements not met: {}", failed.join(", ")));
    }
    inspector::run()
}

const BUILD: [&str; 7] =
    ["build", "--package", "punch-serve", "--example", "conformance", "--features", "punch-serve/conformance"];

fn install(tools: &PathBuf) -> TaskResult {
    if tools.join("node_modules/.bin/conformance").exists() && tools.join("node_modules/.bin/node").exists() {
        return Ok(());
    }
    fs::create_dir_all(tools).map_err(|cause| cause.to_string())?;
    let mut npm = Command::new("npm");
    npm.current_dir(tools).args(["install", "--no-audit", "--no-fund", "--prefix", "."]).args(PACKAGES);
    process::read(&mut npm).map(|_| ())
}

/// The running fixture; ends with its handle.
struct Fixture {
    child: Child,
    url: String,
    token: String,
}

impl Fixture {
    fn start(tools: &Path) -> Result<Self, String> {
        let program = process::target()?.join("debug/examples/conformance");
        let child = Command::new(program).arg("0").arg(tools.join("token")).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|cause| format!("cannot start the fixture: {cause}"))?;
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut url).map_err(|cause| cause.to_string())?;
        }
        let token = fs::read_to_string(tools.join("token")).map_err(|cause| format!("no token: {cause}"))?;
        Ok(Self { child, url: url.trim().to_owned(), token: token.trim().to_owned() })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
