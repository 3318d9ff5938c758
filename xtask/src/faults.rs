//! `cargo xtask faults`: the tests of the command line that kill processes in mid-write, and those with many processes
//! at once, for longer than a gate may take.

use crate::{Done, process};

/// Processes that are killed.
const ROUNDS: u32 = 500;

/// Modules of `crates/punch-cli/tests/it` that read `PUNCH_FAULTS`; runs are killed in `run::killed`.
const TESTS: [&str; 2] = ["killed::", "many::"];

/// Runs the tests one after the other, so that each has the machine for itself.
pub fn run(arguments: &[&str]) -> Done {
    let rounds = parse(arguments)?;
    println!(
        "==> faults: {rounds} rounds of kill -9 on 2000 todos, 8 processes at once, ten times, and up to 300 runs killed"
    );
    let test = ["test", "--locked", "--package", "punch-cli", "--test", "it", "--"];
    let flags = ["--nocapture", "--test-threads", "1"];
    process::run(process::cargo().args(test).args(TESTS).args(flags).env("PUNCH_FAULTS", rounds.to_string()))
}

fn parse(arguments: &[&str]) -> Result<u32, String> {
    match arguments {
        [] => Ok(ROUNDS),
        ["--rounds", number] => number.parse().map_err(|_| format!("`{number}` is no number of rounds")),
        [unknown, ..] => Err(format!("`faults` knows no argument `{unknown}`; it takes --rounds N")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_a_number() {
        assert_eq!(parse(&[]), Ok(ROUNDS));
        assert_eq!(parse(&["--rounds", "50"]), Ok(50));
        assert!(parse(&["--rounds", "many"]).is_err() && parse(&["--fast"]).is_err());
    }
}
