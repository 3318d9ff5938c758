//! Guards: what ends agents when the runner cannot. They can be killed too.

use std::fs;
use std::process::Command;

use super::Stage;

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

fn found(stage: &Stage, part: &str) -> Option<u32> {
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.contains(part) && !line.contains("--agent")
    };
    stage.alive().into_iter().find(has)
}

const GUARD: &str = "trap '' HUP INT QUIT TERM";

#[test]
fn a_guard_that_was_killed_is_replaced() {
    let stage = Stage::new();
    stage.add(&["hang"]);
    let mut run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    let first = found(&stage, GUARD).unwrap();
    signal("-KILL", first);
    stage.wait_for("another guard", || found(&stage, GUARD).is_some_and(|pid| pid != first));
    run.kill().unwrap();
    run.wait().unwrap();
    stage.all_gone();
}

#[test]
fn an_agent_that_outlived_runner_and_guard_is_ended_by_the_next_runner() {
    let stage = Stage::new();
    stage.add(&["await go; work"]);
    let mut run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    let agent = found(&stage, "scripted-agent").unwrap();
    // It has no time to replace the guard.
    signal("-STOP", run.id());
    signal("-KILL", found(&stage, GUARD).unwrap());
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(stage.alive().contains(&agent), "nobody is left to end it");
    let next = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the next agent", || stage.trace("begun").len() == 2);
    assert!(!stage.alive().contains(&agent));
    stage.signal("go");
    let next = crate::world::finished(next.wait_with_output().unwrap());
    assert_eq!((next.exit, stage.alive().len()), (Some(0), 0), "{}", next.render());
    assert_eq!((stage.status("T-1").as_str(), stage.trace("done").len()), ("completed", 1));
}
