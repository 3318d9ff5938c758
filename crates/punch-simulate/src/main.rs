//! Simulates fleets of workers: thousands of them on the real engine, with a virtual clock, messages that get lost, doubled
//! and overtaken, and hosts that crash, pause, drift and lose the network. Everything follows from a seed, so a failure can
//! be replayed. `cargo xtask simulate` runs it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its report is all it does")]

mod figures;
mod fleet;
mod message;
mod options;
mod server;
mod worker;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use figures::{SimulationFigures, time};
use fleet::{FleetMutant, FleetResult, FleetScene, SimulatedFleet};
use options::{Faults, HOUR, MINUTE, Mutant, SimulationOptions};
use punch_testkit::fleet_scenarios::SCENARIOS;
use world::{SimulatedWorld, SimulationResult};

/// Small fleets in which a planted bug has to show up.
const TRIES: u64 = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments).and_then(|asked| simulate(&asked)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("error: {cause}");
            ExitCode::FAILURE
        }
    }
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct SimulateOptions {
    /// How long to look for anomalies in small fleets.
    length: Duration,
    /// How many hours of virtual time to simulate at least, however long that takes.
    hours: u64,
    /// The first seed.
    seed: u64,
    /// Only this seed, and nothing else.
    replay: bool,
    /// Measure claims, fairness and waste, too.
    figures: bool,
}

fn parse(arguments: &[String]) -> Result<SimulateOptions, String> {
    let mut asked =
        SimulateOptions { length: Duration::from_secs(20), hours: 0, seed: 1, replay: false, figures: false };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().and_then(|text| text.parse::<u64>().ok());
            value.ok_or_else(|| format!("`{argument}` needs a number"))
        };
        match argument.as_str() {
            "--minutes" => asked.length = Duration::from_secs(number()? * 60),
            "--seconds" => asked.length = Duration::from_secs(number()?),
            "--hours" => asked.hours = number()?,
            "--seed" => (asked.seed, asked.replay) = (number()?, true),
            "--figures" => asked.figures = true,
            unknown => {
                return Err(format!(
                    "unknown argument `{unknown}`; try --minutes, --seconds, --hours, --seed, --figures"
                ));
            }
        }
    }
    Ok(asked)
}

fn run(scene: SimulationOptions) -> Result<SimulationResult, String> {
    SimulatedWorld::new(scene).map(SimulatedWorld::run).map_err(|cause| cause.to_string())
}

fn run_fleet(scene: FleetScene) -> Result<FleetResult, String> {
    SimulatedFleet::new(scene).map(SimulatedFleet::run).map_err(|cause| cause.to_string())
}

fn simulate(asked: &SimulateOptions) -> Result<(), String> {
    if asked.replay {
        let ended = run(SimulationOptions::small(asked.seed))?;
        println!("{}\n{}\n{}", SimulationFigures::HEAD, ended.figures.row(), ended.figures.faults());
        faultless(asked.seed, &ended.anomalies)?;
        let ended = run_fleet(FleetScene::small(asked.seed))?;
        println!("with a coordinator: {} simulated, {} revisions, {}", time(ended.span), ended.writes, ended.faults);
        return faultless(asked.seed, &ended.anomalies);
    }
    let (caught, planted) = (mutants()?, Mutant::ALL.len() + FleetMutant::ALL.len());
    println!("mutants caught: {caught} of {planted}");
    scenarios()?;
    let (begin, mut seed, mut simulated, mut requests) = (Instant::now(), asked.seed, 0, 0);
    while begin.elapsed() < asked.length
        || simulated < i64::try_from(asked.hours).unwrap_or(i64::MAX).saturating_mul(HOUR)
    {
        let ended = run(SimulationOptions::small(seed))?;
        faultless(seed, &ended.anomalies)?;
        let coordinated = run_fleet(FleetScene::small(seed))?;
        faultless(seed, &coordinated.anomalies)?;
        simulated += ended.figures.span + coordinated.span;
        (requests, seed) = (requests + ended.figures.requests + coordinated.writes, seed + 1);
    }
    let fleets = 2 * (seed - asked.seed);
    println!("{fleets} fleets, {} simulated, {requests} requests, anomalies: 0", time(simulated));
    if asked.figures {
        measure(asked.seed)?;
    }
    if caught == planted { Ok(()) } else { Err("a planted bug was not caught".to_owned()) }
}

/// Plays the scenarios that `cargo xtask chaos --workers` plays with real processes.
fn scenarios() -> Result<(), String> {
    for scenario in &SCENARIOS {
        let (_, wrong) = fleet::play(scenario, None).map_err(|cause| cause.to_string())?;
        if !wrong.is_empty() {
            return Err(format!("{}: {}", scenario.name, wrong.join("\n  ")));
        }
    }
    println!("scenarios that end as with real processes: {} of {}", SCENARIOS.len(), SCENARIOS.len());
    Ok(())
}

fn faultless(seed: u64, anomalies: &[String]) -> Result<(), String> {
    match anomalies {
        [] => Ok(()),
        anomalies => Err(format!(
            "seed {seed}: {}\nthe same fleet again: cargo xtask simulate --seed {seed}",
            anomalies.join("\n  ")
        )),
    }
}

/// Counts the planted bugs that are noticed, and names those that are not.
fn mutants() -> Result<usize, String> {
    let mut caught = 0;
    let alone = Mutant::ALL.into_iter().map(|(mutant, name)| (name, first_anomaly(mutant)));
    let coordinated = FleetMutant::ALL.into_iter().map(|(mutant, name)| (name, first_fleet_anomaly(mutant)));
    for (name, first) in alone.chain(coordinated) {
        let first = first?;
        match &first {
            Some((tries, anomaly)) => println!("  {name}: caught by fleet {tries} ({anomaly})"),
            None => println!("  {name}: NOT caught in {TRIES} fleets"),
        }
        caught += usize::from(first.is_some());
    }
    Ok(caught)
}

/// The first fleet in which a planted bug shows, and how.
fn first_anomaly(mutant: Mutant) -> Result<Option<(u64, String)>, String> {
    for seed in 1..=TRIES {
        let ended = run(SimulationOptions { mutant: Some(mutant), ..SimulationOptions::small(seed) })?;
        if let Some(first) = ended.anomalies.into_iter().next() {
            return Ok(Some((seed, first)));
        }
    }
    Ok(None)
}

/// The first fleet with a coordinator in which a planted bug shows, and how.
fn first_fleet_anomaly(mutant: FleetMutant) -> Result<Option<(u64, String)>, String> {
    for seed in 1..=TRIES {
        let ended = run_fleet(FleetScene { mutant: Some(mutant), ..FleetScene::small(seed) })?;
        if let Some(first) = ended.anomalies.into_iter().next() {
            return Ok(Some((seed, first)));
        }
    }
    Ok(None)
}

/// Prints how claims, fairness and waste depend on the lease and on how much goes wrong, and one fleet of thousands.
fn measure(seed: u64) -> Result<(), String> {
    println!("\n{:>8} {:>7} {}", "lease", "faults", SimulationFigures::HEAD);
    for (lease, faults) in [2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR].into_iter().flat_map(|lease| {
        [("none", Faults::NONE), ("some", Faults::SOME), ("many", Faults::MANY)].map(|faults| (lease, faults))
    }) {
        let scene = SimulationOptions {
            plans: 20,
            workers: 120,
            lease,
            work: 20 * MINUTE,
            faults: faults.1,
            ..SimulationOptions::small(seed)
        };
        let ended = run(scene)?;
        faultless(seed, &ended.anomalies)?;
        println!("{:>8} {:>7} {}", time(lease), faults.0, ended.figures.row());
    }
    let large = SimulationOptions::large(seed);
    println!("\n{} workers, {} todos in {} plans:", large.workers, large.plans * large.todos, large.plans);
    let begin = Instant::now();
    let ended = run(large)?;
    faultless(seed, &ended.anomalies)?;
    println!("{}\n{}", SimulationFigures::HEAD, ended.figures.row());
    println!("{}, simulated in {} s", ended.figures.faults(), begin.elapsed().as_secs());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fleets_with_many_faults_keep_every_promise() {
        // In fleet 16, a host crashes before it has started for the first time.
        for seed in [1, 2, 3, 4, 5, 16] {
            let ended = run(SimulationOptions::small(seed)).unwrap_or_else(|cause| panic!("{cause}"));
            assert!(ended.anomalies.is_empty(), "seed {seed}: {:#?}", ended.anomalies);
            assert!(ended.figures.crashes > 0 && ended.figures.lost > 0, "{}", ended.figures.faults());
        }
    }

    #[test]
    fn small_fleets_with_a_coordinator_keep_every_promise() {
        for seed in 1..=6 {
            let ended = run_fleet(FleetScene::small(seed)).unwrap_or_else(|cause| panic!("{cause}"));
            assert!(ended.anomalies.is_empty(), "seed {seed}: {:#?}", ended.anomalies);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let row = || run(SimulationOptions::small(7)).map(|ended| (ended.figures.row(), ended.figures.faults()));
        assert_eq!(row(), row());
        let fleet = || run_fleet(FleetScene::small(7)).map(|ended| (ended.span, ended.writes, ended.faults));
        assert_eq!(fleet(), fleet());
    }

    #[test]
    fn every_planted_bug_is_caught() {
        for (mutant, name) in Mutant::ALL {
            assert!(first_anomaly(mutant).is_ok_and(|first| first.is_some()), "not caught: {name}");
        }
        for (mutant, name) in FleetMutant::ALL {
            assert!(first_fleet_anomaly(mutant).is_ok_and(|first| first.is_some()), "not caught: {name}");
        }
    }

    #[test]
    fn arguments_are_read() {
        let parse = |text: &str| parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            parse("--minutes 2 --figures").map(|asked| (asked.length.as_secs(), asked.figures)),
            Ok((120, true))
        );
        assert_eq!(parse("--seconds 1 --hours 24").map(|asked| asked.hours), Ok(24));
        assert_eq!(parse("--seed 9").map(|asked| (asked.seed, asked.replay)), Ok((9, true)));
        assert!(parse("--fast").is_err() && parse("--seed x").is_err());
    }
}
