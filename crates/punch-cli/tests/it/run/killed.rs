//! kill -9 of the runner, of guards and of agents at any moment, with worktrees and without: whatever was killed, the
//! next
//! `punch run` completes every todo once, loses none, leaves no process and nothing of its own, and touches nothing of
//! the user's. The moments and the victims follow from a seed that is printed.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Stage;
use super::belongings::belongings;
use crate::killed::rounds;
use crate::world::World;

/// Rounds in one project; the next ones begin in a new one, so that plans stay small.
const EACH: usize = 20;

/// What was killed, counted over all rounds.
#[derive(Debug, Default)]
struct Killed {
    runners: usize,
    guards: usize,
    agents: usize,
    resumed: usize,
    reopened: usize,
}

/// Numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `n`.
    fn of(&mut self, sides: u64) -> u64 {
        self.roll() % sides
    }

    /// A part of the time.
    fn part(&mut self, time: Duration) -> Duration {
        time.mul_f64(self.of(1_000) as f64 / 1_000.0)
    }
}

fn seed() -> u64 {
    std::env::var("PUNCH_FAULTS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(8)
}

#[test]
fn killed_at_any_moment_a_run_completes_everything_once_and_leaves_nothing_behind() {
    play("without worktrees", &["--agents", "3"], rounds().min(300) * 3 / 5, World::new);
}

#[test]
fn killed_at_any_moment_a_run_in_work_trees_loses_nothing_and_leaves_no_tree() {
    play("in worktrees", &["--agents", "3", "--worktrees"], rounds().min(300) * 2 / 5, World::with_git);
}

#[expect(clippy::print_stdout, reason = "a long round of faults says where it is, and its seed")]
fn play(what: &str, flags: &[&str], rounds: usize, world: fn() -> World) {
    println!("kill -9 {what}: {rounds} rounds, PUNCH_FAULTS_SEED={}", seed());
    let mut killed = Killed::default();
    for first in (0..rounds).step_by(EACH) {
        let stage = Stage::on(world());
        let usual = begin(&stage, flags);
        for round in first..rounds.min(first + EACH) {
            // Its own dice for every round: one that fails can be played again alone.
            let mut dice = Dice(seed().wrapping_mul(1_000_003).wrapping_add(round as u64));
            let told = Round { stage: &stage, flags, usual, round }.play(&mut dice, &mut killed);
            assert!(told.is_ok(), "seed {}, round {round} {what}: {}", seed(), told.unwrap_err());
        }
        stage.world.sound();
        if rounds > 100 {
            println!("{} of {rounds} rounds {what}: {killed:?}", rounds.min(first + EACH));
        }
    }
    println!("{rounds} rounds {what}: {killed:?}");
    // A few rounds on a busy machine may miss some of them.
    let enough = if rounds > 50 { rounds / 4 } else { 0 };
    assert!(killed.runners > enough && killed.guards + killed.agents > enough, "{killed:?}");
}

/// The first todos, undisturbed: how long a round usually takes, and the consent to the check.
fn begin(stage: &Stage, flags: &[&str]) -> Duration {
    let ids = add(stage, 0);
    fs::write(stage.world.project.join("made-T-0"), "").unwrap();
    stage.world.punch(&["verify", "--allow", &ids[3]]);
    fs::remove_file(stage.world.project.join("made-T-0")).unwrap();
    stage.world.ok(&["reopen", &ids[3]]);
    let begun = Instant::now();
    stage.ends(flags, 0);
    begun.elapsed()
}

/// Four todos; the last needs the first, and a check that finds both.
fn add(stage: &Stage, round: usize) -> Vec<String> {
    let contents = [format!("slow 0.02 a{round}"), format!("work b{round}"), format!("slow 0.05 c{round}")];
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let added = stage.world.json(&[&["add"], contents.as_slice()].concat());
    let mut ids: Vec<String> = crate::world::ids(&added);
    let last = ["add", &format!("work d{round}"), "--needs", &ids[0], "--verify", "ls made-T-*"];
    let last = stage.world.json(&last);
    ids.push(last["todo"]["id"].as_str().unwrap().to_owned());
    ids
}

struct Round<'a> {
    stage: &'a Stage,
    flags: &'a [&'a str],
    usual: Duration,
    round: usize,
}

impl Round<'_> {
    fn play(&self, dice: &mut Dice, killed: &mut Killed) -> Result<(), String> {
        let stage = self.stage;
        let with_git = stage.world.project.join(".git").exists();
        let mine = || if with_git { belongings(&stage.world, &stage.world.project) } else { String::new() };
        let ids = add(stage, self.round + 1);
        let before = mine();
        let mut run = stage.command(self.flags).spawn().unwrap();
        let guards = self.kill(&mut run, dice, killed);
        run.wait().unwrap();
        if !guards {
            stage.all_gone();
        }
        let (number, ledger) = self.ledger();
        self.finish(killed)?;
        let mut wrong = Vec::new();
        let agents: Vec<u32> = stage.alive().into_iter().filter(|pid| is_victim(*pid, false)).collect();
        if !agents.is_empty() {
            wrong.push(format!("agents are alive: {agents:?}"));
        }
        // A guard whose runner was killed looks a little longer.
        stage.all_gone();
        if mine() != before {
            wrong.push(format!("the user's tree was {before}\nand is {}", mine()));
        }
        let now = stage.world.json(&["runs", "show", &number])["ledger"].as_array().unwrap().clone();
        if !now.starts_with(&ledger) {
            wrong.push(format!("the ledger was {ledger:?} and is {now:?}"));
        }
        wrong.extend(self.completed_once(&ids));
        if with_git {
            wrong.extend(self.nothing_stray(&ids));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// Kills up to three agents and guards and then, mostly, the runner. True if guards were among them: then agents
    /// may live until the next runner comes.
    fn kill(&self, run: &mut Child, dice: &mut Dice, killed: &mut Killed) -> bool {
        let mut guards = false;
        thread::sleep(dice.part(self.usual.mul_f64(0.7)));
        for _ in 0..dice.of(4) {
            let wants_guard = dice.of(2) == 0;
            let found = self.victims(wants_guard);
            if !found.is_empty() {
                let victim = found[usize::try_from(dice.of(found.len() as u64)).unwrap()];
                Command::new("kill").args(["-9", &victim.to_string()]).output().unwrap();
                guards |= wants_guard;
                *(if wants_guard { &mut killed.guards } else { &mut killed.agents }) += 1;
            }
            thread::sleep(dice.part(self.usual / 4));
        }
        if dice.of(5) > 0 && run.try_wait().unwrap().is_none() {
            killed.runners += 1;
            run.kill().unwrap();
        }
        guards
    }

    /// Guards or agents that are there now, or in a moment.
    fn victims(&self, wants_guard: bool) -> Vec<u32> {
        for _ in 0..20 {
            let found: Vec<u32> = self.stage.alive().into_iter().filter(|pid| is_victim(*pid, wants_guard)).collect();
            if !found.is_empty() {
                return found;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Vec::new()
    }

    /// Runs until everything is done. What was killed twice has failed, and is opened again.
    fn finish(&self, killed: &mut Killed) -> Result<(), String> {
        for _ in 0..4 {
            killed.resumed += 1;
            let run = self.stage.run(self.flags);
            match run.exit {
                Some(0) => return Ok(()),
                Some(1) => {}
                _ => return Err(run.render()),
            }
            let list = self.stage.world.json(&["list", "--all"]);
            let failed = list["todos"].as_array().unwrap().iter().filter(|todo| todo["status"] == "failed");
            let failed: Vec<&str> = failed.filter_map(|todo| todo["id"].as_str()).collect();
            if failed.is_empty() {
                return Err(run.render());
            }
            killed.reopened += failed.len();
            self.stage.world.ok(&[&["reopen"], failed.as_slice()].concat());
        }
        Err("it does not come to an end".to_owned())
    }

    /// The last run and its ledger.
    fn ledger(&self) -> (String, Vec<Value>) {
        let runs = self.stage.world.json(&["runs"]);
        let number = runs["runs"][0]["run"].as_u64().unwrap_or_else(|| panic!("{runs}")).to_string();
        let shown = self.stage.world.json(&["runs", "show", &number]);
        (number, shown["ledger"].as_array().unwrap().clone())
    }

    fn completed_once(&self, ids: &[String]) -> Vec<String> {
        let log = self.stage.world.json(&["log", "--limit", "10000"]);
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for event in log["revisions"].as_array().unwrap().iter().flat_map(|entry| entry["events"].as_array().unwrap()) {
            if event["kind"] == "completed" {
                *times.entry(event["todo"].as_str().unwrap()).or_default() += 1;
            }
        }
        let wrong = ids.iter().filter(|id| times.get(id.as_str()) != Some(&1));
        wrong.map(|id| format!("{id} was completed {:?} times", times.get(id.as_str()))).collect()
    }

    /// The work is on result branches; worktrees are gone, and branches are those that are listed.
    fn nothing_stray(&self, ids: &[String]) -> Vec<String> {
        let world = &self.stage.world;
        let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/heads/punch", "refs/lanes"]);
        let branches: Vec<&str> = refs.lines().filter_map(|name| name.strip_prefix("refs/heads/")).collect();
        let marks: Vec<&str> = refs.lines().filter_map(|name| name.strip_prefix("refs/lanes/")).collect();
        let results = branches.iter().filter(|branch| branch.ends_with("/result"));
        let made: String = results.map(|branch| world.git(&["ls-tree", "--name-only", branch])).collect();
        let has = |id: &str| made.lines().any(|name| name == format!("made-{id}"));
        let mut wrong: Vec<String> =
            ids.iter().filter(|id| !has(id)).map(|id| format!("the work of {id} is nowhere")).collect();
        let listed = world.ok(&["runs"]);
        wrong.extend(branches.iter().filter(|name| !listed.contains(**name)).map(|name| format!("{name} is stray")));
        if branches != marks {
            wrong.push(format!("branches {branches:?}, marks {marks:?}"));
        }
        let trees = world.git(&["worktree", "list"]);
        if trees.lines().count() != 1 {
            wrong.push(format!("worktrees are left: {trees}"));
        }
        wrong
    }
}

/// A guard, or an agent with what it has started; no program of the runner itself.
fn is_victim(pid: u32, wants_guard: bool) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    if wants_guard {
        line.contains("trap '' HUP INT QUIT TERM")
    } else {
        line.contains("scripted-agent") && !line.contains("--agents")
    }
}
