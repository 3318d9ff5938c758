//! `punch-fuzz [--seconds N] [--seed N] [TARGET…]`: every target, or the named ones, with changed seeds for a while. It needs no
//! nightly compiler and sees no coverage. Each input is in `fuzz/artifacts` while it runs, so that one which ends or hangs
//! the whole process is still there afterwards.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that talks to whoever runs it")]

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use punch_fuzz::{FuzzInputs, FuzzTarget, TARGETS};

/// An input that takes longer hangs.
const HANG: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Ok((targets, seconds, seed)) => {
            println!("seed {seed}; the same inputs again: --stable --seed {seed}");
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
    let (mut targets, mut seconds, mut seed) = (Vec::new(), 60, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok()).ok_or(format!("`{word}` needs a number"));
        match word.as_str() {
            "--seconds" => seconds = number()?,
            "--seed" => seed = Some(number()?),
            name => {
                targets.push(TARGETS.iter().find(|target| target.name == name).ok_or(format!("no target `{name}`"))?)
            }
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    Ok((targets, seconds, seed.unwrap_or_else(new_seed)))
}

/// A number that the last run did not have: the same inputs every time find nothing new.
fn new_seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |time| time.as_secs())
}

/// Runs one target; false if an input failed.
fn fuzz(target: &FuzzTarget, time: Duration, seed: u64) -> bool {
    let folder = Path::new("fuzz/artifacts").join(target.name);
    let running = folder.join(format!("ended-the-process-{seed}"));
    let (begin, mut count, mut size) = (Instant::now(), 0_u64, 0_usize);
    let watch = watched(target.name);
    for input in FuzzInputs::new(target.name, seed) {
        if begin.elapsed() > time {
            break;
        }
        if let Err(cause) = fs::create_dir_all(&folder).and_then(|()| fs::write(&running, &input)) {
            eprintln!("error: cannot write {}: {cause}", running.display());
            return false;
        }
        if panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            let path = folder.join(format!("failed-{seed}-{count}"));
            let path = fs::rename(&running, &path).map_or(running, |()| path);
            println!("{:<16} FAILED at input {count}: {}", target.name, path.display());
            return false;
        }
        let _ = watch.send(());
        count += 1;
        size += input.len();
    }
    let _ = fs::remove_file(&running);
    let seconds = begin.elapsed().as_secs_f64();
    println!("{:<16} {count:>9} inputs, {size:>11} bytes in {seconds:.0} s: {}", target.name, target.about);
    true
}

/// Ends the process if an input hangs; every message says that one has ended.
fn watched(name: &'static str) -> Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        loop {
            match ended.recv_timeout(HANG) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    println!("{name:<16} FAILED: an input takes longer than {} s", HANG.as_secs());
                    process::exit(1);
                }
            }
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_new_seeds_unless_one_is_named_and_unknown_targets_are_refused() {
        let parsed = |words: &[&str]| parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(parsed(&["--seed", "7", "acp"]).map(|(targets, _, seed)| (targets.len(), seed)), Ok((1, 7)));
        assert!(parsed(&[]).is_ok_and(|(targets, _, seed)| targets.len() == TARGETS.len() && seed > 1));
        assert_eq!(parsed(&["acpp"]).map(|_| ()), Err("no target `acpp`".to_owned()));
    }
}
