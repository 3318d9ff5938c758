//! kill -9 of the runner and of agents at any moment: no todo is completed twice, none is lost, no process stays.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::Stage;
use crate::killed::rounds;

/// How long a round usually takes.
fn usual(stage: &Stage) -> Duration {
    let begun = Instant::now();
    stage.ends(&["--agents", "3"], 0);
    begun.elapsed()
}

fn add(stage: &Stage, round: usize) {
    let contents = [format!("slow 0.02 a{round}"), format!("work b{round}"), format!("slow 0.05 c{round}")];
    stage.add(&contents.iter().map(String::as_str).collect::<Vec<_>>());
    let first = format!("T-{}", round * 4 + 1);
    stage.world.ok(&["add", &format!("work d{round}"), "--needs", &first, "--verify", "true"]);
}

#[test]
fn killed_at_any_moment_a_run_completes_everything_once_and_leaves_nothing_behind() {
    let stage = Stage::new();
    let rounds = rounds().min(300);
    add(&stage, 0);
    stage.world.punch(&["verify", "--allow", "T-4"]);
    let usual = usual(&stage);
    for round in 1..=rounds {
        add(&stage, round);
        let mut run = stage.command(&["--agents", "3"]).spawn().unwrap();
        let share = (round as f64 * 0.618_034).fract();
        thread::sleep(usual.mul_f64(share));
        if round % 3 == 0 {
            // An agent goes first: the runner sees that, and is killed a moment later.
            if let Some(agent) = stage.alive().iter().find(|pid| **pid != run.id()) {
                Command::new("kill").args(["-9", &agent.to_string()]).output().unwrap();
                thread::sleep(usual.mul_f64(0.2));
            }
        }
        run.kill().unwrap();
        run.wait().unwrap();
        stage.all_gone();
        if rounds > 100 && round % 50 == 0 {
            println!("{round} of {rounds} rounds");
        }
    }
    let mut run = stage.run(&["--agents", "3"]);
    // What was killed twice has failed.
    for _ in 0..3 {
        let list = stage.world.json(&["list", "--all"]);
        let failed = list["todos"].as_array().unwrap().iter().filter(|todo| todo["status"] == "failed");
        let failed: Vec<&str> = failed.filter_map(|todo| todo["id"].as_str()).collect();
        if failed.is_empty() {
            break;
        }
        stage.world.ok(&[&["reopen"], failed.as_slice()].concat());
        run = stage.run(&["--agents", "3"]);
    }
    assert_eq!((run.exit, stage.alive()), (Some(0), Vec::new()), "{}", run.render());
    let log = stage.world.json(&["log", "--limit", "100000"]);
    let mut completed: BTreeMap<String, usize> = BTreeMap::new();
    for event in log["revisions"].as_array().unwrap().iter().flat_map(|entry| entry["events"].as_array().unwrap()) {
        if event["kind"] == "completed" {
            *completed.entry(event["todo"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert_eq!(completed.len(), (rounds + 1) * 4, "none is lost");
    assert!(completed.values().all(|times| *times == 1), "{completed:?}");
    stage.world.sound();
}
