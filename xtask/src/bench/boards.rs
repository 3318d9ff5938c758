//! `cargo xtask bench boards`: what the boards cost on a plan of 10,000 todos. CPU time is that of the board's
//! process; what is seen on the screen includes the time that tmux takes.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use wait4::Wait4;

use super::boards_web;
use crate::boards::stage::BoardProject;
use crate::boards::tmux;
use crate::{TaskResult, process, web};

/// Todos of the plan.
const TODOS: usize = 10_000;
/// Writes by another process in each view.
const WRITES: usize = 50;
/// How long the board is left alone.
const IDLE: Duration = Duration::from_secs(20);

/// Limits: milliseconds until the first picture, of CPU per update, of p99 until a change is seen; percent of a core.
const FIRST: f64 = 100.0;
const UPDATE: f64 = 16.0;
const SEEN: f64 = 200.0;
const IDLE_PERCENT: f64 = 0.2;

/// Measures the board.
pub fn run() -> TaskResult {
    if !tmux::is_available() {
        return Err("tmux is missing".to_owned());
    }
    process::run(process::cargo().args(["build", "--locked", "--release", "--package", "punch-cli", "--quiet"]))?;
    let punch = process::target()?.join("release/punch");
    let stage = BoardProject::new(&punch)?;
    fs::write(stage.path("project/plan.json"), plan()).map_err(|cause| cause.to_string())?;
    stage.punch(&["import", "plan.json"])?;
    let mut worst = Vec::new();
    let mut report = |what: &str, value: f64, limit: f64, unit: &str| {
        let verdict = if value <= limit { "ok" } else { "TOO MUCH" };
        println!("{what:<52} {value:>8.2} {unit:<4} at most {limit} {unit}  {verdict}");
        worst.extend((value > limit).then(|| what.to_owned()));
    };
    report("first picture, whole process (CPU)", once(&stage)?, FIRST, "ms");
    report("first picture on the screen after start", first(&stage)?, FIRST, "ms");
    let board = stage.board((120, 40))?;
    let pid = *board.children()?.first().ok_or("the board has no process")?;
    board.wait_for("Todo number 1 ")?;
    thread::sleep(Duration::from_secs(2));
    let before = cpu(pid)?;
    thread::sleep(IDLE);
    report("idle", (cpu(pid)? - before) / IDLE.as_secs_f64() / 10.0, IDLE_PERCENT, "%");
    for (at, (key, view)) in [("1", "Now"), ("2", "List"), ("3", "Graph")].into_iter().enumerate() {
        board.key(key)?;
        thread::sleep(Duration::from_secs(1));
        let before = cpu(pid)?;
        let mut seen = Vec::new();
        for n in at * WRITES..(at + 1) * WRITES {
            stage.punch(&["add", &format!("Fresh {n} todo"), "--priority", "1"])?;
            let begin = Instant::now();
            let revision = format!("r{}", n + 2);
            board.wait(&revision, |screen| screen.lines().next().is_some_and(|line| line.contains(&revision)))?;
            seen.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        let used = (cpu(pid)? - before) / WRITES as f64;
        report(&format!("{view}: update by another process (CPU)"), used, UPDATE, "ms");
        seen.sort_by(f64::total_cmp);
        report(&format!("{view}: change seen on the screen, p99"), seen[seen.len() * 99 / 100], SEEN, "ms");
    }
    drop(board);
    boards_web::measure(&stage, &mut report)?;
    match web::bench(&punch)? {
        Some(figures) => figures.iter().for_each(|figure| report(&figure.name, figure.value, figure.limit, "ms")),
        None => process::skip("the page", "npm or chromium is out of reach")?,
    }
    if worst.is_empty() { Ok(()) } else { Err(format!("over the limit: {}", worst.join(", "))) }
}

/// A plan with phases, in which four of five todos wait for others.
fn plan() -> String {
    let todo = |n: usize| {
        let needs: Vec<String> = if n % 5 == 1 { Vec::new() } else { vec![format!("T-{}", n - 1)] };
        json!({"id": format!("T-{n}"), "content": format!("Todo number {n}"), "phase": format!("Phase {}", n / 500 + 1), "dependsOn": needs})
    };
    json!({"todos": (1..=TODOS).map(todo).collect::<Vec<_>>()}).to_string()
}

/// CPU milliseconds of `punch watch --once`, the best of a few.
fn once(stage: &BoardProject) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let mut command = stage.command(&["watch", "--once"]);
        command.stdout(std::process::Stdio::null());
        let child = command.spawn().map_err(|cause| cause.to_string())?;
        let used = child.wait4().map_err(|cause| cause.to_string())?.rusage;
        best = best.min((used.utime + used.stime).as_secs_f64() * 1e3);
    }
    Ok(best)
}

/// Milliseconds from the start of `punch watch` until its first picture is on the screen, the best of a few. The shell that
/// starts it and the look at the screen are part of it.
fn first(stage: &BoardProject) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let terminal = stage.terminal((120, 40))?;
        terminal.wait_for("$")?;
        terminal.text("\"$PUNCH\" watch")?;
        terminal.wait_for("watch")?;
        let begin = Instant::now();
        terminal.key("Enter")?;
        terminal.wait_for("Todo number 1 ")?;
        best = best.min(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

/// CPU milliseconds that a process has used: user and system, in ticks of 10 ms.
pub(super) fn cpu(pid: u32) -> Result<f64, String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).map_err(|cause| cause.to_string())?;
    let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let fields: Vec<f64> = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
    Ok(fields.iter().sum::<f64>() * 10.0)
}
