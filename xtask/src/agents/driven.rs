//! Scenarios in which `punch run` starts the agents, and what must hold for the repository afterwards.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::scripted::ScriptedServer;

use super::child::{ProgramGroup, appended};
use super::hosts::{ERRORS, OUTPUT, TrialAgent};
use super::scenario::Drive;
use super::trial::TrialWiring;
use super::trial_folders::TrialFolders;
use crate::boards::tmux::Tmux;
use crate::process;

/// How often the model is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the plan: the exit code.
pub fn run(host: TrialAgent, drive: &Drive, wiring: &TrialWiring, model: &ScriptedServer) -> Result<i32, String> {
    let place = wiring.place;
    let spec = host.spec(drive.by, place).ok_or_else(|| format!("{} is not driven so", host.name()))?;
    let mut command = place.command(&place.punch.to_string_lossy());
    command.envs((host.trial.environment)(wiring)).envs(wiring.env());
    command.args(["run", "--agent", &spec]).args(&drive.arguments);
    command.stdin(Stdio::null()).stdout(appended(&place.file(OUTPUT))?).stderr(appended(&place.file(ERRORS))?);
    let board = (!wiring.run.questions.is_empty()).then(|| board(place)).transpose()?;
    let mut group = ProgramGroup::start(&mut command)?;
    if let Some(board) = board {
        answer(&board, &wiring.run.questions)?;
    }
    if !wiring.run.interrupt.is_empty() {
        interrupt(&mut group, wiring, model)?;
    }
    group.wait(wiring.limit)
}

/// The board of the repository, on a terminal that has no agent above it.
fn board(place: &TrialFolders) -> Result<Tmux, String> {
    let (home, punch) = (place.home.display().to_string(), place.punch.display().to_string());
    let board = Tmux::open((160, 50), &place.repo, &[("HOME", &home), ("PUNCH", &punch)])?;
    board.line("\"$PUNCH\" watch")?;
    board.wait_for("live")?;
    Ok(board)
}

/// Answers questions one after the other, as the user does.
fn answer(board: &Tmux, keys: &[String]) -> Result<(), String> {
    for key in keys {
        board.wait_for(" asks: ")?;
        // The cursor stays where it was until the user moves it: to the next thing that needs them.
        board.key("!")?;
        board.wait_for("allow once")?;
        // The board takes no answer before a question can have been read.
        thread::sleep(Duration::from_secs(1));
        board.key(key)?;
        board.wait_until_gone(" asks: ")?;
    }
    Ok(())
}

/// What Ctrl-C does, once the model has been asked so often.
fn interrupt(group: &mut ProgramGroup, wiring: &TrialWiring, model: &ScriptedServer) -> Result<(), String> {
    let end = Instant::now() + wiring.limit;
    let reached = || {
        let played = model.report().played;
        wiring.run.interrupt.iter().all(|(track, wanted)| played.get(track).is_some_and(|count| count >= wanted))
    };
    while !reached() {
        if Instant::now() > end || !matches!(group.0.try_wait(), Ok(None)) {
            return Err("the run was over before it could be interrupted".to_owned());
        }
        thread::sleep(LOOK);
    }
    // The standard library has no other signal than the last one.
    process::read(process::command("kill").args(["-INT", &group.0.id().to_string()])).map(drop)
}

/// Processes that are left: agents, and what they started. Only where they can be looked at.
pub fn strays(place: &TrialFolders) -> Option<String> {
    let left = processes(place);
    (!left.is_empty()).then(|| format!("processes are left: {}", left.join(", ")))
}

/// The numbers of the processes that have the scenario's home: nothing else on the machine has it.
pub fn processes(place: &TrialFolders) -> Vec<String> {
    let home = format!("HOME={}", place.home.display());
    let carries = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == home.as_bytes())
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|e| e.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|b| b.is_ascii_digit())).filter(carries).collect()
}

/// The user's tree is as it was, no worktree is left, and the work is on the result branch.
pub fn verdict(drive: &Drive, place: &TrialFolders) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let status = place.git(&["status", "--porcelain"])?;
    if !status.trim().is_empty() {
        out.push(format!("the user's tree was touched: {status}"));
    }
    let trees = place.git(&["worktree", "list"])?;
    if trees.trim().lines().count() != 1 {
        out.push(format!("worktrees are left: {trees}"));
    }
    let branches = place.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/punch"])?;
    let Some(branch) = branches.lines().find(|branch| branch.ends_with("/result")) else {
        out.push(format!("there is no result branch: {branches}"));
        return Ok(out);
    };
    if branches.trim().lines().count() != 1 {
        out.push(format!("branches are left: {branches}"));
    }
    let files = place.git(&["ls-tree", "-r", "--name-only", branch])?;
    if files.lines().collect::<Vec<_>>() != drive.result {
        out.push(format!("the result is {files}"));
    }
    Ok(out)
}
