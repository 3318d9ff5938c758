//! `punch-fuzz [--seconds N] [--seed N] [TARGET…]`: every target, or the named ones, with changed seeds for a while. It needs no
//! nightly compiler and sees no coverage. An input that fails is written to `fuzz/artifacts`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that talks to whoever runs it")]

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use punch_fuzz::{FuzzInputs, FuzzTarget, TARGETS};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Ok((targets, seconds, seed)) => {
            let failed = targets.iter().filter(|target| !fuzz(target, Duration::from_secs(seconds), seed)).count();
            println!("{} passed, {failed} failed", targets.len() - failed);
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Result<(Vec<&'static FuzzTarget>, u64, u64), String> {
    let (mut targets, mut seconds, mut seed) = (Vec::new(), 60, 1);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok()).ok_or(format!("`{word}` needs a number"));
        match word.as_str() {
            "--seconds" => seconds = number()?,
            "--seed" => seed = number()?,
            name => {
                targets.push(TARGETS.iter().find(|target| target.name == name).ok_or(format!("no target `{name}`"))?)
            }
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    Ok((targets, seconds, seed))
}

/// Runs one target; false if an input failed.
fn fuzz(target: &FuzzTarget, time: Duration, seed: u64) -> bool {
    let (begin, mut count, mut size) = (Instant::now(), 0_u64, 0_usize);
    for input in FuzzInputs::new(target.name, seed) {
        if begin.elapsed() > time {
            break;
        }
        if panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            let path = Path::new("fuzz/artifacts").join(target.name).join(format!("failed-{seed}-{count}"));
            let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &input));
            println!("{:<16} FAILED at input {count}: {} ({written:?})", target.name, path.display());
            return false;
        }
        count += 1;
        size += input.len();
    }
    println!("{:<16} {count:>9} inputs, {size:>11} bytes in {:.0} s", target.name, begin.elapsed().as_secs_f64());
    true
}
