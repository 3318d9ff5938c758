//! Scenarios in which `punch run` starts the agents, and what must hold for the repository afterwards.

use super::child;
use super::hosts::{ERRORS, Host, OUTPUT};
use super::place::Place;
use super::scenario::Drive;
use super::trial::Wiring;

/// Runs the plan: the exit code.
pub fn run(host: Host, drive: &Drive, wiring: &Wiring) -> Result<i32, String> {
    let place = wiring.place;
    let spec = host.spec(drive.by, place).ok_or_else(|| format!("{} is not driven so", host.name()))?;
    let mut command = place.command(&place.punch.to_string_lossy());
    command.envs(host.environment(wiring)).envs(wiring.env());
    command.args(["run", "--agent", &spec]).args(&drive.arguments);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}

/// The user's tree is as it was, no work tree is left, and the work is on the result branch.
pub fn verdict(drive: &Drive, place: &Place) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let status = place.git(&["status", "--porcelain"])?;
    if !status.trim().is_empty() {
        out.push(format!("the user's tree was touched: {status}"));
    }
    let trees = place.git(&["worktree", "list"])?;
    if trees.trim().lines().count() != 1 {
        out.push(format!("work trees are left: {trees}"));
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
