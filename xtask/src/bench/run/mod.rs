//! `cargo xtask bench run`: what `punch run` adds to a bare start of a program and three durable commits, to a worktree
//! and a merge, and on a large plan; and what it takes while eight agents think.

mod lanes;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::call::{CallCost, call, call_to, program, spend};
use super::cli::programs::BenchPrograms;
use crate::{TaskResult, process};

/// Todos of a round, and rounds.
const TODOS: usize = 100;
const ROUNDS: usize = 3;

/// Agents that think, and for how long.
const AGENTS: usize = 8;
const SECONDS: u64 = 10;

/// Todos of a large plan and of a small one, of which this many are worked on.
const LARGE: usize = 10_000;
const SMALL: usize = 100;
const WORKED_ON: usize = 100;

/// What a run says that ends at a limit.
const LIMIT: i32 = 4;

/// Measures, prints, and fails if a target is missed.
pub fn run() -> TaskResult {
    // Not the system's folder for temporary files: it may be in memory, where nothing has to be made durable.
    let room = tempfile::tempdir_in(process::target()?).map_err(|cause| format!("no room: {cause}"))?;
    let room = room.path();
    let programs = BenchPrograms::build(room)?;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        bare.push(floor(room).map_err(|cause| format!("cannot measure the floor: {cause}"))?);
        let project = project(&programs, &room.join(format!("p{round}")), TODOS)?;
        ours.push(call(&mut punch(&programs, &project, &["run", "--agent", "exec:true"]))?.wall);
    }
    let (bare, ours) = (each(bare, TODOS), each(ours, TODOS));
    let (plain, lanes) = lanes::measure(&programs, room)?;
    let (small, large) = sizes(&programs, room)?;
    let thinking = think(&programs, &room.join("thinking"))?;
    let idle = thinking.cpu.as_secs_f64() / thinking.wall.as_secs_f64() * 100.0;
    let memory = thinking.resident as f64 / 1e6;
    let mut missed = Vec::new();
    let mut row = |what: &str, value: f64, most: f64, unit: &str| {
        let verdict = if value <= most { "met" } else { "MISSED" };
        println!("{what:<44} {value:>9.2} {unit:<5} at most {most}: {verdict}");
        if value > most {
            missed.push(what.to_owned());
        }
    };
    println!("a spawn and three durable commits: {bare:.2} ms; a todo of a run: {ours:.2} ms");
    println!("a worktree, a commit and a merge by git: {plain:.2} ms; a todo with --worktrees: {lanes:.2} ms");
    println!("a todo of {SMALL}: {small:.2} ms; a todo of {LARGE}: {large:.2} ms");
    row("a todo with an instant agent, beside that", ours / bare, 5.0, "times");
    row("a todo with --worktrees, beside git alone", lanes / plain, 3.0, "times");
    row("a todo of a large plan, beside a small one", large / small, 2.0, "times");
    row("memory with 8 agents", memory, 50.0, "MB");
    row("CPU while 8 agents think, starts included", idle, 3.0, "%");
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join(", "))) }
}

/// The median of some rounds, for each todo, in milliseconds.
fn each(mut times: Vec<Duration>, todos: usize) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3 / todos as f64
}

/// What a todo of a small plan costs, and one of a large plan, when equally many are worked on.
fn sizes(programs: &BenchPrograms, room: &Path) -> Result<(f64, f64), String> {
    let (mut small, mut large) = (Vec::new(), Vec::new());
    let turns = WORKED_ON.to_string();
    let worked = ["run", "--agent", "exec:true", "--max-turns", &turns];
    for round in 0..ROUNDS {
        let few = project(programs, &room.join(format!("small{round}")), SMALL)?;
        small.push(call(&mut punch(programs, &few, &worked))?.wall);
        let many = project(programs, &room.join(format!("large{round}")), LARGE)?;
        large.push(call_to(&mut punch(programs, &many, &worked), LIMIT)?.wall);
    }
    Ok((each(small, WORKED_ON), each(large, WORKED_ON)))
}

/// The least that a todo could cost.
fn floor(room: &Path) -> std::io::Result<Duration> {
    let mut file = OpenOptions::new().create(true).append(true).open(room.join("floor"))?;
    let begun = Instant::now();
    for _ in 0..TODOS {
        Command::new("sh").args(["-c", "true"]).stdin(Stdio::null()).status()?;
        for _ in 0..3 {
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
        }
    }
    Ok(begun.elapsed())
}

fn think(programs: &BenchPrograms, folder: &Path) -> Result<CallCost, String> {
    let project = project(programs, folder, AGENTS)?;
    let (agents, agent) = (AGENTS.to_string(), format!("exec:sleep {SECONDS}"));
    call(&mut punch(programs, &project, &["run", "--agents", &agents, "--agent", &agent]))
}

/// A project with that many todos.
fn project(programs: &BenchPrograms, folder: &Path, todos: usize) -> Result<PathBuf, String> {
    let failed = |cause: std::io::Error| format!("cannot make a project: {cause}");
    fs::create_dir_all(folder).map_err(failed)?;
    // A repository of its own: this one has a store of its own too, which is none of our business.
    call(&mut program(Path::new("git"), folder, &["init", "--quiet"]))?;
    let list: String = (1..=todos).map(|n| format!("todo {n}\n")).collect();
    let file = folder.join("list");
    fs::write(&file, list).map_err(failed)?;
    let input = File::open(&file).map_err(failed)?;
    spend(punch(programs, folder, &["add", "-"]).stdin(input).stdout(Stdio::null()).stderr(Stdio::null()))?;
    Ok(folder.to_owned())
}

fn punch(programs: &BenchPrograms, folder: &Path, arguments: &[&str]) -> Command {
    program(&programs.punch, folder, arguments)
}
