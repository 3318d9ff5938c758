//! Many processes at once: nothing lost, nothing twice.

use std::{collections::BTreeSet, thread};

use crate::world::World;

const WORKERS: usize = 8;

/// How often each of these runs: once, or ten times for `cargo xtask faults`.
fn repetitions() -> usize {
    if crate::killed::rounds() > 100 { 10 } else { 1 }
}

/// The store does not exist before: making it is part of the race.
#[test]
fn concurrent_adds_are_all_there_with_ids_of_their_own() {
    for n in 1..=repetitions() {
        println!("adds, run {n} of {}", repetitions());
        let world = World::new();
        let add = |worker: usize| -> Vec<(String, u64)> {
            let one = |n: usize| {
                let answer = world.json(&["add", &format!("todo {n} of worker {worker}")]);
                let id = answer["todo"]["id"].as_str().unwrap().to_owned();
                (id, answer["revision"].as_u64().unwrap())
            };
            (0..50).map(one).collect()
        };
        let told: Vec<(String, u64)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || add(worker))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let ids: BTreeSet<String> = told.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(ids.len(), 400);
        let mut revisions: Vec<u64> = told.iter().map(|(_, revision)| *revision).collect();
        revisions.sort_unstable();
        assert_eq!(revisions, (1..=400).collect::<Vec<u64>>());
        assert_eq!(world.ids().into_iter().collect::<BTreeSet<_>>(), ids);
        world.sound();
    }
}

#[test]
fn concurrent_claimers_never_get_the_same_todo_and_leave_none() {
    for n in 1..=repetitions() {
        println!("claims, run {n} of {}", repetitions());
        let world = World::new();
        let lines: String = (0..400).map(|n| format!("todo {n}\n")).collect();
        assert_eq!(world.feed(&["add", "-"], &lines).exit, Some(0));
        let work = |worker: usize| -> Vec<(String, u64)> {
            let owner = format!("worker-{worker}");
            let mut got = Vec::new();
            loop {
                let answer = world.json(&["claim", "--owner", &owner]);
                let Some(id) = answer["todo"]["id"].as_str() else { return got };
                let fence = answer["fence"].as_u64().unwrap();
                world.json(&["done", id, "--owner", &owner, "--fence", &fence.to_string()]);
                got.push((id.to_owned(), fence));
            }
        };
        let got: Vec<(String, u64)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let ids: BTreeSet<&str> = got.iter().map(|(id, _)| id.as_str()).collect();
        let fences: BTreeSet<u64> = got.iter().map(|(_, fence)| *fence).collect();
        assert_eq!((got.len(), ids.len(), fences.len()), (400, 400, 400));
        assert_eq!(world.json(&["status"])["completed"], 400);
        world.sound();
    }
}
