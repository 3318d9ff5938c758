//! `cargo xtask bench follow`: how soon `punch log --follow` in another process prints a change, and what waiting for one
//! costs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::cli::call::{call, program};
use super::cli::programs::BenchPrograms;
use crate::{TaskResult, process};

/// Changes that are waited for.
const CHANGES: usize = 200;
/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(20);
/// Longer than anything that is not broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limits: milliseconds for 99 of 100 changes, and percent of one processor.
const WAKE_MS: f64 = 100.0;
const IDLE_PERCENT: f64 = 0.2;

/// Measures, prints, and fails if a target is missed.
pub fn follow() -> TaskResult {
    let room = tempfile::tempdir_in(process::target()?).map_err(|cause| format!("no room: {cause}"))?;
    let programs = BenchPrograms::build(room.path())?;
    let folder = room.path().join("followed");
    fs::create_dir_all(&folder).map_err(|cause| format!("cannot make a project: {cause}"))?;
    call(&mut program(Path::new("git"), &folder, &["init", "--quiet"]))?;
    call(&mut program(&programs.punch, &folder, &["add", "first"]))?;
    let mut command = program(&programs.punch, &folder, &["log", "--follow", "--limit", "0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|cause| format!("cannot follow: {cause}"))?;
    let measured = measure(&programs, &folder, &mut child);
    let _ = child.kill();
    let _ = child.wait();
    let (wake, idle) = measured?;
    let mut missed = Vec::new();
    for (what, value, most, unit) in [
        ("a change is printed in another process, p99", wake, WAKE_MS, "ms"),
        ("CPU of a follower while nothing happens", idle, IDLE_PERCENT, "%"),
    ] {
        let verdict = if value <= most { "met" } else { "MISSED" };
        println!("{what:<44} {value:>9.2} {unit:<5} at most {most}: {verdict}");
        missed.extend((value > most).then_some(what));
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join(", "))) }
}

/// Milliseconds that 99 of 100 changes take at most, and percent of one processor while nothing happens.
fn measure(programs: &BenchPrograms, folder: &Path, child: &mut Child) -> Result<(f64, f64), String> {
    let lines = times_of_lines(child)?;
    let change = || call(&mut program(&programs.punch, folder, &["note", "T-1", "still there"]));
    // The follower may not be there yet: the first change that it prints begins the measurement.
    while lines.try_recv().is_err() {
        change()?;
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(Duration::from_secs(1));
    while lines.try_recv().is_ok() {}
    let mut waits = Vec::with_capacity(CHANGES);
    for _ in 0..CHANGES {
        change()?;
        let written = Instant::now();
        let printed = lines.recv_timeout(PATIENCE).map_err(|_| "a change was not printed".to_owned())?;
        waits.push(printed.saturating_duration_since(written));
    }
    waits.sort_unstable();
    let wake = waits[CHANGES * 99 / 100 - 1].as_secs_f64() * 1e3;
    let before = cpu(child.id())?;
    thread::sleep(IDLE);
    let idle = cpu(child.id())?.saturating_sub(before).as_secs_f64() / IDLE.as_secs_f64() * 100.0;
    Ok((wake, idle))
}

/// When each line was printed.
fn times_of_lines(child: &mut Child) -> Result<Receiver<Instant>, String> {
    let output = child.stdout.take().ok_or("no output to follow")?;
    let (send, times) = channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.try_for_each(|_| send.send(Instant::now()))
    });
    Ok(times)
}

/// What all threads of a process have used of the processors.
fn cpu(process: u32) -> Result<Duration, String> {
    let failed = |cause: std::io::Error| format!("cannot read what the follower uses: {cause}");
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).map_err(failed)? {
        let stat = fs::read_to_string(thread.map_err(failed)?.path().join("schedstat")).map_err(failed)?;
        sum += stat.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(Duration::from_nanos(sum))
}
