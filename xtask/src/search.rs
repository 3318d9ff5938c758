//! `cargo xtask search`: every property with many new inputs. The gate draws the same ones each time.

use std::process::Command;

use crate::{TaskResult, process};

/// What the property tests take their inputs from.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Inputs for each property.
const CASES: u32 = 20_000;

/// Makes tests draw the same inputs every time, unless the user chose others: one tree, one answer.
pub fn same_inputs(cargo: &mut Command) -> &mut Command {
    if std::env::var_os(SEED).is_none() {
        cargo.env(SEED, "1");
    }
    cargo
}

/// Runs the tests of the crates that have properties, or those whose names contain a text.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (cases, name) = parse(arguments)?;
    let mut cargo = process::cargo();
    cargo.env_remove(SEED).env("PROPTEST_CASES", cases.to_string());
    // Some inputs say nothing about a property and are drawn again. The usual limit is for far fewer cases.
    cargo.env("PROPTEST_MAX_GLOBAL_REJECTS", cases.max(1_024).to_string());
    process::run(cargo.args(["test", "--locked", "--workspace", "--exclude", "xtask", "--tests"]).args(name))
}

fn parse<'a>(arguments: &[&'a str]) -> Result<(u32, Option<&'a str>), String> {
    match arguments {
        [] => Ok((CASES, None)),
        ["--cases", number, rest @ ..] if rest.len() < 2 => {
            let cases = number.parse().map_err(|_| format!("invalid number of inputs `{number}`"))?;
            Ok((cases, rest.first().copied()))
        }
        [name] if !name.starts_with('-') => Ok((CASES, Some(name))),
        _ => Err("`search` takes --cases N and a part of the names of tests".to_owned()),
    }
}
