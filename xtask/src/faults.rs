//! `cargo xtask faults`: the tests of the command line that kill processes in mid-write, and those with many processes
//! at once, for longer than a gate may take.

use crate::{TaskResult, process};

/// Processes that are killed.
pub const ROUNDS: u32 = 500;

/// Modules of `crates/punch-cli/tests/it` that read `PUNCH_FAULTS`; runs are killed in `run::killed`.
const TESTS: [&str; 2] = ["killed::", "many::"];

/// Runs alone.
const RUNS: [&str; 1] = ["run::killed::"];

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct FaultOptions<'a> {
    rounds: u32,
    /// Moments and victims of killed runs follow from it.
    seed: Option<&'a str>,
    tests: &'static [&'static str],
}

/// Runs the tests one after the other, so that each has the machine for itself.
pub fn run(arguments: &[&str]) -> TaskResult {
    let asked = parse(arguments)?;
    println!(
        "==> faults: {} rounds of kill -9 on 2000 todos, 8 processes at once, ten times, and up to 300 rounds of runs killed",
        asked.rounds
    );
    let test = ["test", "--locked", "--package", "punch-cli", "--test", "it", "--"];
    let flags = ["--nocapture", "--test-threads", "1"];
    let mut command = process::cargo();
    command.args(test).args(asked.tests).args(flags).env("PUNCH_FAULTS", asked.rounds.to_string());
    if let Some(seed) = asked.seed {
        command.env("PUNCH_FAULTS_SEED", seed);
    }
    process::run(&mut command)
}

fn parse<'a>(arguments: &[&'a str]) -> Result<FaultOptions<'a>, String> {
    let mut asked = FaultOptions { rounds: ROUNDS, seed: None, tests: &TESTS };
    let mut rest = arguments;
    while let Some((first, others)) = rest.split_first() {
        rest = match (*first, others) {
            ("--runs", others) => {
                asked.tests = &RUNS;
                others
            }
            ("--rounds", [number, others @ ..]) => {
                asked.rounds = number.parse().map_err(|_| format!("invalid number of rounds `{number}`"))?;
                others
            }
            ("--seed", [seed, others @ ..]) if seed.parse::<u64>().is_ok() => {
                asked.seed = Some(seed);
                others
            }
            (unknown, _) => {
                return Err(format!("`faults` does not know `{unknown}`; it takes --rounds N, --seed N and --runs"));
            }
        };
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_seeds_are_numbers() {
        assert_eq!(parse(&[]), Ok(FaultOptions { rounds: ROUNDS, seed: None, tests: &TESTS }));
        let asked = parse(&["--runs", "--seed", "7", "--rounds", "50"]);
        assert_eq!(asked, Ok(FaultOptions { rounds: 50, seed: Some("7"), tests: &RUNS }));
        for wrong in [&["--rounds", "many"][..], &["--fast"], &["--seed"], &["--seed", "x"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
