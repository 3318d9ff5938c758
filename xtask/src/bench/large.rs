//! `cargo xtask bench large`: what each command costs on a plan of 200,000 todos. The limits are for the time that a user
//! waits, so run it on a machine that does nothing else; the CPU time beside it shows whether the machine was busy.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cli::call::{CallCost, call_to};
use super::cli::plan::BenchPlan;
use super::cli::programs::BenchPrograms;
use super::tool_server::ToolServer;
use crate::{TaskResult, process};

/// Todos of the plan.
const TODOS: u32 = 200_000;
/// Seconds that a command may take which people wait for.
const INTERACTIVE: f64 = 1.0;
/// Seconds that a command may take which shows its progress.
const WITH_PROGRESS: f64 = 5.0;

/// Commands that people type and wait for, in an order in which each has something to do.
const TYPED: &[&[&str]] = &[
    &[],
    &["status"],
    &["status", "--json"],
    &["watch", "--once"],
    &["next"],
    &["list", "-n", "200"],
    &["list", "is:blocked", "-n", "200"],
    &["list", "--ready"],
    &["list", "--label", "area/store"],
    &["list", "--tree"],
    &["search", "199999"],
    &["show", "T-77"],
    &["why", "T-190000"],
    &["why"],
    &["inbox"],
    &["log"],
    &["log", "T-77"],
    &["stats"],
    &["stats", "cost"],
    &["add", "One more"],
    &["note", "T-77", "seen"],
    &["edit", "T-77", "--priority", "1"],
    &["edit", "T-150000", "--needs", "T-100"],
    &["edit", "T-90", "--verify", "true"],
    &["verify", "--allow", "T-90"],
    &["verify", "T-90"],
    &["move", "T-78", "--before", "T-77"],
    &["claim", "--owner", "me"],
    &["claim", "T-85", "--owner", "me"],
    &["unclaim", "T-85", "--owner", "me"],
    &["start", "T-81"],
    &["done", "T-81"],
    &["fail", "T-82", "the API answers 500"],
    &["reopen", "T-81"],
    &["rm", "T-83"],
    &["hold", "T-79", "waits for an answer"],
    &["unhold", "T-79"],
    &["cancel", "T-80"],
    &["undo"],
    &["redo"],
];

/// Commands over the whole plan, which show their progress on a terminal.
const WHOLE: &[&[&str]] = &[
    &["schedule"],
    &["graph"],
    &["checkpoint", "save"],
    &["doctor"],
    &["verify", "--all"],
    &["run", "--agent", "exec:true", "--dry-run"],
    &["run", "--agent", "exec:true", "--max-turns", "3"],
];

/// What a run ends with that reaches its limit.
const LIMIT: i32 = 4;

/// Hook events that an agent waits for. The first one makes a list of the session, which the others need.
const HOOKS: [&str; 2] = ["hook TodoWrite", "hook Stop"];

/// Readings of a tool, which an agent waits for, with the todo they are about.
const READINGS: [(&str, Option<&str>); 6] =
    [("plan", None), ("next", None), ("why", Some("T-190000")), ("why", None), ("schedule", None), ("history", None)];

/// Measures, prints, and fails if a command takes too long.
pub fn large() -> TaskResult {
    let room = tempfile::tempdir_in(process::target()?).map_err(|cause| format!("no room: {cause}"))?;
    let programs = BenchPrograms::build(room.path())?;
    let (mut plan, imported) = BenchPlan::make(&programs, room.path().join("large"), TODOS)?;
    print("import", imported.wall, &used(imported), None);
    let mut missed = Vec::new();
    for (commands, limit) in [(TYPED, INTERACTIVE), (WHOLE, WITH_PROGRESS)] {
        for words in commands {
            let code = if words.contains(&"--max-turns") { LIMIT } else { 0 };
            let cost = call_to(&mut plan.punch(words), code)?;
            let name = format!("punch {}", words.join(" "));
            if !print(&name, cost.wall, &used(cost), Some(limit)) {
                missed.push(name);
            }
        }
    }
    for name in HOOKS {
        let cost = plan.hook(name)?;
        if !print(&format!("punch {name}"), cost.wall, &used(cost), Some(INTERACTIVE)) {
            missed.push(name.to_owned());
        }
    }
    let mut server = ToolServer::start(plan.punch(&[]), &[])?;
    for (view, todo) in READINGS {
        let name = format!("todo_read {view} {}", todo.unwrap_or_default());
        let wall = reading(&mut server, view, todo)?;
        if !print(&name, wall, "", Some(INTERACTIVE)) {
            missed.push(name);
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("over the limit: {}", missed.join(", "))) }
}

/// Reads a view through the tool. A refusal is answered, too, but its time says nothing.
fn reading(server: &mut ToolServer, view: &str, todo: Option<&str>) -> Result<Duration, String> {
    let mut arguments = json!({"view": view});
    if let Some(todo) = todo {
        arguments["id"] = Value::from(todo);
    }
    let start = Instant::now();
    let answer = server.call("todo_read", &arguments)?;
    let wall = start.elapsed();
    if answer.starts_with("Error ") { Err(format!("todo_read {view}: {answer}")) } else { Ok(wall) }
}

/// CPU time and memory of a command.
fn used(cost: CallCost) -> String {
    format!("{:>7.2} s CPU {:>7.0} MB", cost.cpu.as_secs_f64(), cost.resident as f64 / 1e6)
}

/// Prints a row; false if it is over its limit.
fn print(name: &str, wall: Duration, used: &str, limit: Option<f64>) -> bool {
    let wall = wall.as_secs_f64();
    let verdict = match limit {
        None => String::new(),
        Some(limit) if wall <= limit => format!("at most {limit} s: met"),
        Some(limit) => format!("at most {limit} s: MISSED"),
    };
    println!("{name:<52} {wall:>7.2} s {used:<24}  {verdict}");
    limit.is_none_or(|limit| wall <= limit)
}
