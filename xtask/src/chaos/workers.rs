//! `cargo xtask chaos --workers`: workers of a fleet in network namespaces, on a PostgreSQL server and a git server of this
//! machine. First two workers finish a plan while one of them is cut off and comes back, then the scenarios of the simulator
//! are played with real processes, then rounds of random faults fill the time.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use punch_testkit::fleet_scenarios::{FleetScenario, FleetStep, SCENARIOS, ScenarioOutcome};
use punch_testkit::postgres::{Cluster, Disk};
use punch_testkit::random::Random;

use super::fleet::{FleetStage, WorkerFleet};
use super::network::Network;
use super::random_faults::{FaultKind, RandomFaults};
use crate::{TaskResult, soak};

/// Names of machines.
const MACHINES: [&str; 3] = ["a", "b", "c"];

/// Todos of a plan.
const TODOS: u64 = 40;

/// What was done and found.
#[derive(Default)]
struct FleetSums {
    revisions: u64,
    agents: u64,
    faults: [u64; FaultKind::ALL.len()],
    restarts: u64,
    anomalies: Vec<String>,
}

/// Runs everything.
pub(super) fn run(punch: &Path, options: &soak::SoakOptions) -> TaskResult {
    let seed = options.seed.unwrap_or_else(soak::fresh_seed);
    let (seconds, end) = (options.length.as_secs(), Instant::now() + options.length);
    println!("==> chaos with workers: {seconds} s; the same choices again: cargo xtask chaos --workers --seed {seed}");
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let repositories = folder.path().join("git");
    fs::create_dir(&repositories).map_err(|cause| cause.to_string())?;
    let network = Network::set_up(MACHINES.len(), &repositories)?;
    let cluster = Cluster::start_with(Disk::Fast, |server| listen(server, &network))
        .map_err(|cause| format!("PostgreSQL did not start: {cause}"))?;
    let stage = FleetStage { punch, root: folder.path(), network: &network, cluster: &cluster };
    let mut sums = FleetSums::default();
    cut_off_and_back(&stage, &mut sums)?;
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        play(&stage, number, scenario, &mut sums).map_err(|cause| format!("{}: {cause}", scenario.name))?;
    }
    let mut random = Random::new(seed, 0);
    let mut number = 0;
    while number == 0 || Instant::now() < end {
        number += 1;
        round(&stage, number, end, &mut random, &mut sums).map_err(|cause| format!("seed {seed}: {cause}"))?;
    }
    let faults: Vec<String> =
        FaultKind::ALL.iter().zip(sums.faults).map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    println!("    faults: {}; workers that ended by themselves {}", faults.join(", "), sums.restarts);
    println!(
        "    operations = {} ({} agents started), faults = {}, anomalies = {}",
        sums.revisions,
        sums.agents,
        sums.faults.iter().sum::<u64>(),
        sums.anomalies.len()
    );
    if sums.anomalies.is_empty() { Ok(()) } else { Err(format!("seed {seed}: {}", sums.anomalies.join("\n"))) }
}

/// Lets the server listen where the machines reach it.
fn listen(server: &Path, network: &Network) -> std::io::Result<String> {
    let mut access = fs::OpenOptions::new().append(true).open(server.join("data/pg_hba.conf"))?;
    writeln!(access, "host all all {} trust", network.range())?;
    Ok(format!("listen_addresses = '{}'\n", network.address()))
}

/// Two workers finish a plan although one of them is cut off in the middle. Both have to do a part of it.
fn cut_off_and_back(stage: &FleetStage<'_>, sums: &mut FleetSums) -> TaskResult {
    let begun = Instant::now();
    let mut fleet = WorkerFleet::new(stage, "back", &MACHINES[..2], "2")?;
    fleet.add_todos(TODOS)?;
    fleet.start(0)?;
    fleet.start(1)?;
    fleet.wait_for("the first ten todos", |fleet| Ok(fleet.completed()? >= 10))?;
    fleet.set_connected(1, false)?;
    let before = fleet.completed()?;
    fleet.wait_for("eight more of the other worker", |fleet| Ok(fleet.completed()? >= before + 8))?;
    // The other worker must not finish the plan before this one is back: git and the store are tried again after pauses.
    (1..=TODOS).try_for_each(|todo| fleet.hold(todo))?;
    fleet.set_connected(1, true)?;
    let (healed, started) = (Instant::now(), fleet.started().len());
    fleet.wait_for("an agent of the worker that was cut off", |fleet| {
        Ok(fleet.started()[started..].iter().any(|(_, worker)| worker == MACHINES[1]))
    })?;
    let back = healed.elapsed().as_secs();
    (1..=TODOS).try_for_each(|todo| fleet.release(todo))?;
    fleet.wait_for("the end of the plan", |fleet| Ok(fleet.completed()? == TODOS))?;
    sums.anomalies.extend(fleet.end_workers());
    let merged = fleet.merged()?;
    let by = |name: &str| merged.by.values().filter(|worker| *worker == name).count();
    let parts = [by(MACHINES[0]), by(MACHINES[1])];
    println!(
        "    two workers, one cut off after {before} todos and back after {back} s: {TODOS} of {TODOS} completed, {} by {}, {} by {}, {} s",
        parts[0],
        MACHINES[0],
        parts[1],
        MACHINES[1],
        begun.elapsed().as_secs()
    );
    if parts.contains(&0) {
        sums.anomalies.push("one of two workers did nothing".to_owned());
    }
    take(sums, &fleet, TODOS)
}

/// Judges a finished plan.
fn take(sums: &mut FleetSums, fleet: &WorkerFleet<'_>, todos: u64) -> TaskResult {
    sums.agents += fleet.started().len() as u64;
    let (revisions, wrong) = fleet.judge(todos)?;
    sums.revisions += revisions;
    sums.anomalies.extend(wrong);
    Ok(())
}

/// Plays a scenario of the simulator.
fn play(stage: &FleetStage<'_>, number: usize, scenario: &FleetScenario, sums: &mut FleetSums) -> TaskResult {
    let begun = Instant::now();
    let mut fleet = WorkerFleet::new(stage, &format!("scenario{number}"), &MACHINES[..2], "1")?;
    let contents: Vec<String> = (1..=scenario.todos).map(|todo| format!("Write file {todo}")).collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    fleet.punch(&[&["add"], &contents[..]].concat())?;
    scenario.held.iter().try_for_each(|todo| fleet.hold(*todo))?;
    for step in scenario.steps {
        match *step {
            FleetStep::Start(name) => fleet.start(fleet.machine(name)?)?,
            FleetStep::Kill(name) => fleet.kill(fleet.machine(name)?),
            FleetStep::Stop(name) => fleet.signal(fleet.machine(name)?, "STOP"),
            FleetStep::Continue(name) => fleet.signal(fleet.machine(name)?, "CONT"),
            FleetStep::Cut(name) => fleet.set_connected(fleet.machine(name)?, false)?,
            FleetStep::Heal(name) => fleet.set_connected(fleet.machine(name)?, true)?,
            FleetStep::Release(todo) => fleet.release(todo)?,
            FleetStep::AgentStarts(todo, name) => fleet.wait_for(&format!("{step:?}"), |fleet| {
                Ok(fleet.started().iter().any(|(one, worker)| *one == todo && worker == name))
            })?,
            FleetStep::Coordinates(name) => {
                fleet.wait_for(&format!("{step:?}"), |fleet| Ok(fleet.has_coordinated(name)))?;
            }
            FleetStep::Finished => {
                fleet.wait_for("the end of the plan", |fleet| Ok(fleet.completed()? == scenario.todos))?;
            }
        }
    }
    sums.anomalies.extend(fleet.end_workers());
    let merged = fleet.merged()?;
    let mut outcome = ScenarioOutcome { started: fleet.started().into_iter().collect(), ..ScenarioOutcome::default() };
    for (todo, commits) in merged.commits {
        let by = merged.by.get(&todo).cloned().unwrap_or_default();
        outcome.merged.insert(todo, vec![by; commits]);
    }
    let wrong = scenario.differences(&outcome);
    let end = if wrong.is_empty() { "as in the simulator" } else { "UNLIKE in the simulator" };
    println!("    {}: {end}, {} s", scenario.name, begun.elapsed().as_secs());
    sums.anomalies.extend(wrong.into_iter().map(|what| format!("{}: {what}", scenario.name)));
    take(sums, &fleet, scenario.todos)
}

/// Lets the workers finish a plan under random faults, which end with the time that was given.
fn round(stage: &FleetStage<'_>, number: u32, end: Instant, random: &mut Random, sums: &mut FleetSums) -> TaskResult {
    let begun = Instant::now();
    let mut fleet = WorkerFleet::new(stage, &format!("round{number}"), &MACHINES, "2")?;
    fleet.add_todos(TODOS)?;
    (0..MACHINES.len()).try_for_each(|machine| fleet.start(machine))?;
    let mut faults = RandomFaults::new(random);
    let mut looked = Instant::now();
    // A round that begins late still sees faults for a while.
    let end = end.max(begun + Duration::from_secs(45));
    while Instant::now() < end {
        faults.tick(&mut fleet)?;
        if looked.elapsed() > Duration::from_secs(2) {
            if fleet.completed()? == TODOS {
                break;
            }
            looked = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    faults.end(&mut fleet)?;
    let (counts, restarts) = (faults.counts, faults.restarts);
    fleet.wait_for("the end of the plan", |fleet| Ok(fleet.completed()? == TODOS))?;
    sums.anomalies.extend(fleet.end_workers());
    sums.faults.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    sums.restarts += restarts;
    let (before, started) = (sums.anomalies.len(), fleet.started().len());
    take(sums, &fleet, TODOS)?;
    println!(
        "    round {number}: {TODOS} todos, {started} agents, {} faults, {} anomalies, {} s",
        counts.iter().sum::<u64>(),
        sums.anomalies.len() - before,
        begun.elapsed().as_secs()
    );
    Ok(())
}
