//! kill -9 in mid-write: what was acknowledged is there, what was not is there as a whole or not at all.

use std::{collections::BTreeMap, process::Stdio, thread, time::Instant};

use crate::world::{World, answer, finished};

/// Rounds of killing: 20, or what `PUNCH_FAULTS` says; `cargo xtask faults` says 500.
pub fn rounds() -> usize {
    std::env::var("PUNCH_FAULTS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20)
}

/// Todos of one write.
const BATCH: usize = 20;

#[test]
fn a_killed_write_loses_nothing_that_was_acknowledged() {
    let world = World::new();
    let rounds = rounds();
    // Large enough that a write takes its time; 2,000 todos in the long run.
    let before = if rounds > 100 { 2_000 } else { 200 };
    let lines: String = (0..before).map(|n| format!("before {n}\n")).collect();
    assert_eq!(world.feed(&["add", "-"], &lines).exit, Some(0));
    let contents = |round: usize| -> Vec<String> { (0..BATCH).map(|n| format!("round {round} todo {n}")).collect() };
    let start = Instant::now();
    world.ok(&contents_as_arguments(&contents(rounds)));
    let mut usual = start.elapsed();
    let mut acknowledged = vec![rounds];
    let mut killed = 0;
    for round in 0..rounds {
        let batch = contents(round);
        let mut command = world.command(&contents_as_arguments(&batch));
        let mut child = command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Spread over the life of a usual run, the golden ratio keeping neighbours apart; a little beyond its end.
        let share = (round as f64 * 0.618_034).fract();
        let life = usual.mul_f64(share * 1.1);
        thread::sleep(life);
        child.kill().unwrap();
        let run = finished(child.wait_with_output().unwrap());
        // The first run may have been slower than the others, and then few of them would be killed in time.
        if run.exit.is_some() {
            usual = usual.min(life);
        }
        // Killed or not: an answer that is out is a promise.
        if run.stdout.ends_with('\n') {
            assert_eq!(answer(&run)["todos"].as_array().unwrap().len(), BATCH);
            acknowledged.push(round);
        }
        killed += usize::from(run.exit.is_none());
        if rounds <= 100 || round % 10 == 0 {
            world.sound();
        }
        if rounds > 100 && round % 50 == 49 {
            println!("{} of {rounds} rounds, {killed} killed, {} acknowledged", round + 1, acknowledged.len());
        }
    }
    world.sound();
    let mut there: BTreeMap<usize, usize> = BTreeMap::new();
    let list = world.json(&["list", "--all"]);
    for todo in list["todos"].as_array().unwrap() {
        let content = todo["content"].as_str().unwrap();
        if let Some(round) = content.strip_prefix("round ").and_then(|rest| rest.split(' ').next()) {
            *there.entry(round.parse().unwrap()).or_default() += 1;
        }
    }
    assert!(killed > rounds / 4, "only {killed} of {rounds} runs were killed in time");
    assert!(there.values().all(|count| *count == BATCH), "half a batch: {there:?}");
    let missing: Vec<&usize> = acknowledged.iter().filter(|round| !there.contains_key(*round)).collect();
    assert!(missing.is_empty(), "acknowledged and lost: {missing:?}");
    println!("{rounds} rounds: {killed} killed, {} acknowledged, {} there", acknowledged.len(), there.len());
}

fn contents_as_arguments(contents: &[String]) -> Vec<&str> {
    ["add"].into_iter().chain(contents.iter().map(String::as_str)).collect()
}
