//! `cargo xtask api`: schemathesis draws requests from the API's own description and sends them to a real `punch serve`. Every
//! answer must fit the description, and none may be an error of the server. The tool comes from PyPI into `target/tools`. The
//! tests of `punch-web` have a small equivalent that needs nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{TaskResult, process};

/// Pinned, as every tool that judges.
const PACKAGE: &str = "schemathesis==4.32.5";
/// How long requests are drawn unless told otherwise.
const SECONDS: &str = "60";
/// What must hold for every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// A plan, a todo and a run that exist, so that requests get past the address. Questions have numbers, not ids.
const CONFIG: &str = r#"
[parameters]
"path.plan" = "main"
"path.n" = 1

[[operations]]
include-path-regex = "/todos/"
parameters = { "path.id" = "T-1" }

[[operations]]
include-path-regex = "/questions/"
parameters = { "path.id" = 1 }
"#;
/// An agent that leaves a line in its log and works until the end: its run can be controlled.
const AGENT: &str = "exec:echo at work; sleep 3600";
/// The longest wait for it.
const STARTED: Duration = Duration::from_secs(30);
/// Streams never end, and ending the session would make every later request fail.
const LEFT_OUT: &str = "/events$|/session$";

/// A program that works beside the requests; dropping it ends it.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Draws requests for some time.
pub fn run(arguments: &[&str]) -> TaskResult {
    let seconds = match arguments {
        [] => SECONDS,
        ["--seconds", seconds] if seconds.parse::<u32>().is_ok() => seconds,
        unknown => return Err(format!("`api` takes --seconds N, not {}", unknown.join(" "))),
    };
    let tool = match install() {
        Ok(tool) => tool,
        Err(why) => {
            return process::skip("requests from the description", &format!("schemathesis is out of reach: {why}"));
        }
    };
    let punch = process::build_punch()?;
    let scratch = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let project = scratch.path();
    process::run(Command::new("git").args(["init", "--quiet"]).current_dir(project))?;
    for words in [&["add", "First", "--phase", "One"][..], &["add", "Second", "--needs", "T-1"]] {
        process::read(command(&punch, project).args(words))?;
    }
    let _run = start_run(&punch, project)?;
    let mut serve = command(&punch, project);
    serve.args(["serve", "--port", "0", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut served = Background(serve.spawn().map_err(|cause| cause.to_string())?);
    let out = served.0.stdout.take().ok_or("the server prints nothing")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).map_err(|cause| cause.to_string())?;
    let first: Value = serde_json::from_str(&line).map_err(|cause| format!("{cause}: {line}"))?;
    let text = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
    let config = project.join("schemathesis.toml");
    fs::write(&config, CONFIG).map_err(|cause| cause.to_string())?;
    let mut judge = Command::new(tool);
    judge.arg("--config-file").arg(&config).arg("run").arg(process::root().join("docs/formats/openapi.json"));
    judge.args(["--url", text("api").trim_end_matches("/api/v1")]);
    judge.arg("-H").arg(format!("Authorization: Bearer {}", text("token")));
    judge.args(["--exclude-path-regex", LEFT_OUT, "--checks", CHECKS, "--max-time", seconds, "--no-color"]);
    process::run(judge.current_dir(project))
}

/// Starts a run, and waits until its agent has written something.
fn start_run(punch: &Path, project: &Path) -> Result<Background, String> {
    let mut run = command(punch, project);
    run.args(["run", "--agent", AGENT]).stdout(Stdio::null()).stderr(Stdio::null());
    let run = Background(run.spawn().map_err(|cause| cause.to_string())?);
    let began = Instant::now();
    while !process::read(command(punch, project).args(["run", "show", "1"])).is_ok_and(|shown| shown.contains("T-1")) {
        if began.elapsed() > STARTED {
            return Err("the run gives its agent nothing to do".to_owned());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(run)
}

/// The program in a project of its own, without anything of the user's environment.
fn command(punch: &Path, project: &Path) -> Command {
    let mut command = Command::new(punch);
    command.current_dir(project).env_clear().env("HOME", project).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn install() -> Result<PathBuf, String> {
    let tools = process::target()?.join("tools/schemathesis");
    let tool = tools.join("bin/st");
    if !tool.exists() {
        process::read(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        process::read(Command::new(tools.join("bin/pip")).args(["install", "--quiet", PACKAGE]))?;
    }
    Ok(tool)
}
