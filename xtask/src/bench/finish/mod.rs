//! `cargo xtask bench finish`: of a plan, how much is really done when the agent is allowed to stop? A simulated model
//! with published parameters works on plans whose truth is files on disk, alone, inside models of other harnesses, and
//! inside the real program. It shows what a harness does with a given model, not what models do.

mod arms;
mod chart;
mod draws;
mod harness;
mod model;
mod page;
mod profile;
mod reading;
mod real;
mod resume;
mod runner;
mod table;
mod transcript;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::{TaskResult, process};
use arms::{Arm, ArmOutcome};
use profile::Profile;

pub use real::{PunchProject, output};
pub use runner::agent;

/// Todos of a plan.
const TODOS: usize = 20;

/// One plan, played in one arm.
struct PlayedPlan {
    arm: Arm,
    profile: Profile,
    seed: u64,
    todos: usize,
    /// Print what happens in it.
    is_printed: bool,
}

/// `bench finish [--binary PATH] [--seeds N] [--arms NAME,…] [--no-sweep] [--small] [--write] [--transcript SEED]`.
pub fn run(arguments: &[&str]) -> TaskResult {
    let mut options = FinishOptions { binary: None, seeds: 40, arms: Arm::ALL.to_vec(), write: false, sweep: true };
    let mut is_small = false;
    let mut transcript: Option<u64> = None;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        match *argument {
            "--binary" => options.binary = Some(PathBuf::from(value()?)),
            "--seeds" => options.seeds = value()?.parse().map_err(|_| "`--seeds` needs a number".to_owned())?,
            "--write" => options.write = true,
            "--arms" => {
                let named = |name: &str| Arm::ALL.into_iter().find(|arm| arm.name() == name);
                let arm = |name: &str| named(name).ok_or_else(|| format!("no arm `{name}`"));
                options.arms = value()?.split(',').map(arm).collect::<Result<_, _>>()?;
            }
            "--no-sweep" => options.sweep = false,
            "--small" => is_small = true,
            "--transcript" => {
                transcript = Some(value()?.parse().map_err(|_| "`--transcript` needs a seed".to_owned())?);
            }
            unknown => return Err(format!("`bench finish` does not take `{unknown}`")),
        }
    }
    let punch = match &options.binary {
        Some(path) => path.canonicalize().map_err(|cause| format!("{}: {cause}", path.display()))?,
        None => release()?,
    };
    if is_small {
        println!("{}", table::small(&punch)?);
        return Ok(());
    }
    if let Some(seed) = transcript {
        return print(&punch, &options.arms, seed);
    }
    let figures = table::measure(&punch, &options)?;
    println!("{}", figures.text());
    if options.write {
        page::write(&figures)?;
    }
    let missed = figures.missed();
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join("; "))) }
}

/// What a run of the benchmark is asked for.
struct FinishOptions {
    binary: Option<PathBuf>,
    /// Seeds for each real arm; the others get more.
    seeds: u64,
    arms: Vec<Arm>,
    /// Update the page in docs.
    write: bool,
    sweep: bool,
}

/// Plays one plan of the middle model in each arm, and prints what happens.
fn print(punch: &Path, arms: &[Arm], seed: u64) -> TaskResult {
    for arm in arms.iter().copied() {
        println!("== {}, seed {seed}", arm.title());
        let play = PlayedPlan { arm, profile: profile::MIDDLE, seed, todos: TODOS, is_printed: true };
        println!("{:?}", arm.play(punch, scratch()?.path(), &play)?);
    }
    Ok(())
}

/// Every arm in small, as a step of the gate.
pub fn small() -> TaskResult {
    let punch = process::build_punch()?;
    let figures = table::small(&punch)?;
    println!("{figures}");
    Ok(())
}

fn release() -> Result<PathBuf, String> {
    process::run(process::cargo().args(["build", "--release", "--locked", "--package", "punch-cli", "--quiet"]))?;
    Ok(process::target()?.join("release/punch"))
}

/// Plays everything on all cores; outcomes are in the order of the plays.
fn play_all(punch: &Path, plays: &[PlayedPlan]) -> Result<Vec<ArmOutcome>, String> {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<Option<Result<ArmOutcome, String>>>> = Mutex::new(plays.iter().map(|_| None).collect());
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(play) = plays.get(at) else { return };
            let outcome = scratch().and_then(|folder| play.arm.play(punch, folder.path(), play));
            let outcome = outcome.map_err(|cause| format!("{}, seed {}: {cause}", play.arm.title(), play.seed));
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes[at] = Some(outcome);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(2, std::num::NonZero::get);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(worker))));
    let outcomes = outcomes.into_inner().map_err(|_| "a play panicked".to_owned())?;
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|| Err("a play is missing".to_owned()))).collect()
}

/// A folder in memory where there is one: the figures do not depend on the disk.
fn scratch() -> Result<tempfile::TempDir, String> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.map_err(|cause| format!("no scratch folder: {cause}"))
}
