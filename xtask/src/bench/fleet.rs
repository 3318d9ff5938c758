//! `cargo xtask bench fleet`: plans in PostgreSQL beside pgbench on the same server, and a hook on a local socket beside one on
//! a store in a file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use punch_testkit::goals::{Goal, Goals};
use punch_testkit::postgres::{Cluster, Disk, programs};
use serde_json::json;

use crate::process;

/// How often each hook runs.
const RUNS: usize = 41;

/// Runs both parts, the second one also if the first one misses its goals.
pub fn fleet() -> Result<(), String> {
    if process::in_ci() {
        crate::postgres::install()?;
    }
    let fleet = process::run(process::cargo().args(["bench", "--package", "punch-store-pg", "--bench", "fleet"]));
    process::run(process::cargo().args(["build", "--locked", "--release", "--package", "punch-cli", "--quiet"]))?;
    let mut goals = Goals::default();
    if programs().is_none() {
        println!("SKIPPED: PostgreSQL is not installed");
        goals.skip("hook, beside a file", "PostgreSQL is not installed");
    } else {
        hooks(&process::target()?.join("release/punch"), &mut goals)?;
    }
    fleet.and(goals.end())
}

/// Wall time of a hook that mirrors a list of an agent, by turns on a server and on a file.
fn hooks(punch: &Path, goals: &mut Goals) -> Result<(), String> {
    let cluster = Cluster::start(Disk::Durable).map_err(|cause| cause.to_string())?;
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project).map_err(|cause| cause.to_string())?;
    process::run(process::command("git").args(["init", "-q"]).arg(&project))?;
    let (server, file) = (cluster.address("postgres"), folder.path().join("store").display().to_string());
    let command = |store: &str, arguments: &[&str]| {
        let mut command = Command::new(punch);
        command.args(arguments).current_dir(&project).env_clear().env("HOME", folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("PUNCH_STORE", store);
        command.env("PUNCH_PROJECT", "bench").stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    for store in [&server, &file] {
        process::read(&mut command(store, &["init", "--no-agents"]))?;
    }
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..RUNS {
        for (store, times) in [&server, &file].into_iter().zip(&mut times) {
            let status = if n % 2 == 0 { "in_progress" } else { "pending" };
            let todos = json!([{"content": "one", "activeForm": "one", "status": status}]);
            let report = json!({"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
                "tool_use_id": format!("c{n}"), "tool_input": {"todos": todos}, "tool_response": {}, "cwd": project});
            let begun = Instant::now();
            let mut hook = command(store, &["hook", "--agent", "claude", "PostToolUse"]);
            let mut child = hook.stdin(Stdio::piped()).spawn().map_err(|cause| cause.to_string())?;
            if let Some(mut stdin) = child.stdin.take() {
                stdin.write_all(report.to_string().as_bytes()).map_err(|cause| cause.to_string())?;
            }
            let ended = child.wait().map_err(|cause| cause.to_string())?;
            if !ended.success() {
                return Err(format!("the hook ended with {ended}"));
            }
            times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    let [server, file] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let (name, ratio) = ("hook, beside a file", server / file);
    let verdict = goals.judge(name, server, Goal::AtMost(15.0));
    println!("{name:<32}{server:>9.2} ms{file:>9.2} ms{ratio:>8.2}{:>8}  {verdict}", "15 ms");
    Ok(())
}
