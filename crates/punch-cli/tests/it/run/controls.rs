//! Runs that are paused, resumed and stopped from another process.

use std::process::Child;

use super::Stage;
use crate::world::finished;

fn begun(stage: &Stage, more: &[&str], agents: usize) -> Child {
    let run = stage.command(more).spawn().unwrap();
    stage.wait_for("the agents", || stage.trace("begun").len() == agents);
    run
}

/// Waits until the seats of the run do this.
fn seats(stage: &Stage, wanted: &[&str]) {
    stage.wait_for("the seats", || {
        let shown = stage.world.json(&["runs", "show"]);
        let stages: Vec<&str> = shown["seats"].as_array().unwrap().iter().filter_map(|s| s["stage"].as_str()).collect();
        stages == wanted
    });
}

fn ended(stage: &Stage, run: Child, exit: i32) -> String {
    let run = finished(run.wait_with_output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(exit), 0), "{}", run.render());
    run.stderr
}

#[test]
fn a_paused_run_finishes_its_work_and_starts_nothing_new_until_it_is_resumed() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work"]);
    let run = begun(&stage, &[], 1);
    seats(&stage, &["working"]);
    let told = stage.world.ok(&["run", "pause"]);
    assert_eq!(told, "Run 1 finishes work in progress and starts nothing new.\n");
    stage.wait_for("the control", || stage.world.ok(&["runs", "show"]).contains("the run was paused"));
    stage.signal("go");
    seats(&stage, &["paused"]);
    assert_eq!((stage.status("T-1").as_str(), stage.status("T-2").as_str()), ("completed", "pending"));
    stage.world.ok(&["run", "resume", "1"]);
    let stderr = ended(&stage, run, 0);
    assert!(stderr.contains("the run is paused; `punch run resume` continues it"), "{stderr}");
    assert_eq!(stage.status("T-2"), "completed");
    assert_eq!(stage.world.json(&["runs", "show"])["seats"], serde_json::json!([]), "seats go with the run");
}

#[test]
fn a_stopped_run_gives_its_todos_back_and_can_be_resumed() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work"]);
    let run = begun(&stage, &[], 1);
    stage.world.ok(&["run", "stop"]);
    ended(&stage, run, 130);
    assert_eq!(stage.status("T-1"), "pending");
    stage.signal("go");
    stage.ends(&[], 0);
}

#[test]
fn one_seat_is_stopped_and_the_others_do_its_work() {
    let stage = Stage::new();
    stage.add(&["await one; work", "await two; work", "work"]);
    let run = begun(&stage, &["--agents", "2"], 2);
    seats(&stage, &["working", "working"]);
    stage.world.ok(&["run", "stop", "1", "--seat", "2"]);
    seats(&stage, &["working", "stopped"]);
    ["one", "two"].iter().for_each(|name| stage.signal(name));
    let stderr = ended(&stage, run, 0);
    assert!(stderr.contains("seat 2 was asked to stop"), "{stderr}");
    assert_eq!(stage.status("T-3"), "completed");
}

#[test]
fn one_seat_is_paused_and_resumed_while_the_other_works() {
    let stage = Stage::new();
    stage.add(&["await one; work", "await two; work", "await three; work", "work"]);
    let run = begun(&stage, &["--agents", "2"], 2);
    seats(&stage, &["working", "working"]);
    let shown = stage.world.json(&["runs", "show"]);
    let (mine, other) = if shown["seats"][1]["todo"] == "T-1" { ("one", "two") } else { ("two", "one") };
    stage.world.ok(&["run", "pause", "1", "--seat", "2"]);
    stage.signal(mine);
    seats(&stage, &["working", "paused"]);
    assert_eq!((stage.status("T-3"), stage.status("T-4")), ("pending".into(), "pending".into()));
    stage.signal(other);
    stage.wait_for("the other seat to take more", || stage.status("T-3") == "in_progress");
    seats(&stage, &["working", "paused"]);
    assert_eq!(stage.status("T-4"), "pending");
    stage.world.ok(&["run", "resume", "1", "--seat", "2"]);
    stage.wait_for("the seat that was resumed", || stage.status("T-4") == "completed");
    assert_eq!(stage.status("T-3"), "in_progress", "the other seat was not disturbed");
    stage.signal("three");
    ended(&stage, run, 0);
}

#[test]
fn what_cannot_be_controlled_is_refused() {
    let stage = Stage::new();
    stage.add(&["await go; work"]);
    assert_eq!(stage.world.refused(&["run", "pause"]), (1, "not_running".into()));
    let run = begun(&stage, &[], 1);
    assert_eq!(stage.world.refused(&["run", "pause", "7"]), (1, "unknown_run".into()));
    assert_eq!(stage.world.refused(&["run", "stop", "--seat", "2"]), (1, "unknown_seat".into()));
    let agent = stage.world.command(&["run", "stop", "--json"]).env("CLAUDECODE", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&agent.stdout).contains("user_only"), "{agent:?}");
    stage.signal("go");
    ended(&stage, run, 0);
    assert_eq!(stage.world.refused(&["run", "pause", "1"]), (1, "not_running".into()));
}
