//! `cargo xtask soak`: eighteen writers of every kind on real stores, with processes killed at random, and a checker that
//! compares what they were promised with what the events say. The choices of every writer follow from a printed seed; how
//! their processes interleave is up to the machine.

mod check;
mod commands;
mod history;
mod hooks;
mod journal;
mod order;
mod servers;
mod soak_plan;
mod writer;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use check::{USER, WriterConditions};
use journal::WriterJournal;
use soak_plan::SoakPlan;
pub use soak_plan::{Trouble, signal};
use writer::{Writer, WriterState, WriterTask};

use crate::{TaskResult, process};

/// How long claims last, in milliseconds: some end while their owner is still there.
const LEASE: i64 = 3_000;

/// Whether a live lease protects a todo from every other agent; until it does, violations are printed and not counted.
const LEASES_PROTECT: bool = true;

/// Which plan each writer writes to, what it does, and whether it is the user. Four plans in two stores.
pub const WRITERS: [(usize, WriterTask, bool); 18] = [
    (0, commands::works, false),
    (0, commands::works, false),
    (0, commands::works, false),
    (0, servers::calls, false),
    (0, servers::calls, false),
    (0, hooks::mirrors, false),
    (0, hooks::mirrors, false),
    (0, commands::undoes, true),
    (0, commands::imports, false),
    (1, commands::works, false),
    (1, servers::calls, false),
    (1, hooks::mirrors, false),
    (1, commands::undoes, false),
    (2, commands::works, true),
    (2, servers::calls, false),
    (2, commands::undoes, false),
    (3, commands::spends, false),
    (3, commands::spends, true),
];

/// The plan with one todo, for which tokens are reported.
const LEDGER: &str = "ledger";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct SoakOptions {
    /// How long.
    pub length: Duration,
    /// Which choices; new ones if there is none.
    pub seed: Option<u64>,
}

/// Runs the soak.
pub fn run(arguments: &[&str]) -> TaskResult {
    let options = parse(arguments)?;
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let punch = process::build_punch()?;
    let seconds = options.length.as_secs();
    println!(
        "==> soak: {} writers for {seconds} s; the same choices again: cargo xtask soak --seed {seed}",
        WRITERS.len()
    );
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let soaked = soak(&punch, folder.path(), seed, options.length, None).and_then(|plans| {
        for plan in &plans {
            let PlanResult { name, actions, killed, revisions, records, .. } = plan;
            println!(
                "    {name}: {actions} actions, {killed} killed, {revisions} revisions, {records} promises and tries checked"
            );
        }
        let faults: Vec<String> = plans.into_iter().flat_map(|plan| plan.faults).collect();
        if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
    });
    if soaked.is_err() {
        println!("    the stores are kept in {}", folder.keep().display());
    }
    soaked.map_err(|cause| format!("seed {seed}: {cause}"))
}

/// A server that holds the plans, and what disturbs it until a moment. It must be well again when that returns.
pub struct DisturbedStore<'a> {
    /// The address.
    pub address: String,
    /// What happens to the clients.
    pub trouble: Trouble,
    /// Makes trouble for the server.
    pub disturb: &'a (dyn Fn(Instant) + Sync),
}

/// What a plan looks like after the soak.
pub struct PlanResult {
    /// Project and plan.
    pub name: String,
    /// What the writers did.
    pub actions: u64,
    /// How many of them were killed.
    pub killed: u64,
    /// How many changes there are.
    pub revisions: u64,
    /// How many promises and tries were checked.
    pub records: usize,
    /// Everything that is wrong.
    pub faults: Vec<String>,
}

/// Runs the writers for a while and judges what they were promised.
pub fn soak(
    punch: &Path,
    root: &Path,
    seed: u64,
    length: Duration,
    server: Option<&DisturbedStore<'_>>,
) -> Result<Vec<PlanResult>, String> {
    let home = root.join("home");
    soak_plan::project(&home, false)?;
    let (first, second) = (root.join("first"), root.join("second"));
    soak_plan::project(&first, true)?;
    soak_plan::project(&second, false)?;
    let begun = now();
    let mut plans = Vec::new();
    for (folder, plan) in [(&first, "main"), (&second, "main"), (&second, "side"), (&second, LEDGER)] {
        let on = server.map(|server| (server.address.as_str(), &server.trouble));
        let place = SoakPlan::new(punch, &home, folder, plan).on_server(on);
        if plan == "main" {
            place.read(&["init"])?;
        } else {
            place.read(&["plan", "new", plan])?;
        }
        if plan == LEDGER {
            place.read(&["add", "takes tokens"])?;
        }
        plans.push(WriterState { place, journal: WriterJournal::default(), todos: AtomicU64::new(0) });
    }
    write(&plans, seed, length, server)?;
    let judge =
        |(number, shared): (usize, &WriterState)| judge(shared, &root.join(format!("events-{number}.jsonl")), begun);
    plans.iter().enumerate().map(judge).collect()
}

/// Lets every writer work until the end, or until one of them met something that must not happen.
fn write(plans: &[WriterState], seed: u64, length: Duration, server: Option<&DisturbedStore<'_>>) -> TaskResult {
    let (end, stop) = (Instant::now() + length, AtomicBool::new(false));
    let results: Vec<TaskResult> = thread::scope(|scope| {
        let stop = &stop;
        if let Some(server) = server {
            scope.spawn(move || (server.disturb)(end));
        }
        let start = |(number, (plan, work, is_user)): (usize, (usize, WriterTask, bool))| {
            let name = if is_user { USER.to_owned() } else { format!("w{number}") };
            let mut writer = Writer::new(&plans[plan], name, number as u64, seed, end, stop);
            scope.spawn(move || work(&mut writer).inspect_err(|_| stop.store(true, Ordering::Relaxed)))
        };
        let running: Vec<_> = WRITERS.into_iter().enumerate().map(start).collect();
        let joined = running.into_iter().map(|thread| thread.join());
        joined.map(|result| result.unwrap_or_else(|_| Err("a writer of the soak panicked".into()))).collect()
    });
    let failed: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Judges one plan after the soak, which began at `begun`.
fn judge(shared: &WriterState, export: &Path, begun: i64) -> Result<PlanResult, String> {
    let place = &shared.place;
    place.read(&["doctor", "--json"]).map_err(|cause| format!("doctor: {cause}"))?;
    let tokens = if place.plan == LEDGER { Some(tokens(place)?) } else { None };
    // Exporting everything is the only way to see whole events; no one needs the store afterwards.
    let events = export.display().to_string();
    place.read(&["store", "prune", "--before", &u64::MAX.to_string(), "--export", &events])?;
    let lines = fs::read_to_string(export).map_err(|cause| format!("{events}: {cause}"))?;
    let events = history::read(&lines)?;
    let records = shared.journal.records();
    let (actions, killed) = shared.journal.counts();
    let faults = check::check(&events, &records, &WriterConditions { lease: LEASE, window: (begun, now()), tokens });
    let (known, faults): (Vec<String>, Vec<String>) =
        faults.into_iter().partition(|fault| !LEASES_PROTECT && fault.starts_with("under a lease"));
    known.iter().for_each(|fault| println!("    known: {fault}"));
    let name = format!("{} {}", place.folder.file_name().unwrap_or_default().display(), place.plan);
    let revisions = events.last().map_or(0, |event| event.revision);
    let faults = faults.into_iter().map(|fault| format!("plan {name}: {fault}")).collect();
    Ok(PlanResult { name, actions, killed, revisions, records: records.len(), faults })
}

/// Judges the exported events of a plan that was first written to at `begun`, and whose claims lasted for `lease`
/// milliseconds. Returns the last revision and everything that is wrong.
pub fn judge_export(lines: &str, lease: i64, begun: i64) -> Result<(u64, Vec<String>), String> {
    let events = history::read(lines)?;
    let faults = check::check(&events, &[], &WriterConditions { lease, window: (begun, now()), tokens: None });
    Ok((events.last().map_or(0, |event| event.revision), faults))
}

/// The tokens that the ledger has: one more is reported, and the answer is the sum.
fn tokens(place: &SoakPlan) -> Result<u64, String> {
    let answer = place.read(&["usage", "T-1", "--attempt", "1", "--tokens", "1", "--json"])?;
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|cause| cause.to_string())?;
    answer["tokens"].as_u64().map(|tokens| tokens - 1).ok_or_else(|| format!("no sum in {answer}"))
}

/// Milliseconds since the epoch.
pub fn now() -> i64 {
    let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// A seed that was not used before.
pub fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |age| u64::from(age.subsec_nanos()) ^ age.as_secs())
}

/// Reads the arguments.
pub fn parse(arguments: &[&str]) -> Result<SoakOptions, String> {
    let mut options = SoakOptions { length: Duration::from_secs(60), seed: None };
    let mut rest = arguments;
    while let Some((first, others)) = rest.split_first() {
        let (number, others) = others.split_first().ok_or_else(|| format!("`{first}` needs a number"))?;
        let number: u64 = number.parse().map_err(|_| format!("invalid number `{number}`"))?;
        match *first {
            "--minutes" => options.length = Duration::from_secs(number.saturating_mul(60)),
            "--seconds" => options.length = Duration::from_secs(number),
            "--seed" => options.seed = Some(number),
            unknown => {
                return Err(format!("unknown argument `{unknown}`; try --minutes N, --seconds N, --seed N"));
            }
        }
        rest = others;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_seeds_are_numbers() {
        assert_eq!(parse(&[]), Ok(SoakOptions { length: Duration::from_secs(60), seed: None }));
        let asked = parse(&["--minutes", "5", "--seed", "7"]);
        assert_eq!(asked, Ok(SoakOptions { length: Duration::from_secs(300), seed: Some(7) }));
        for wrong in [&["--minutes", "many"][..], &["--seed"], &["--fast", "1"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
