//! Runs the chosen pairs of agent and scenario, two at a time, and prints each result as soon as it is known.

use std::env;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::hosts::TrialAgent;
use super::scenario::AgentScenario;
use super::{TrialSetup, trial};
use crate::TaskResult;

/// Agents are heavy: more at once only slow each other down.
const AT_ONCE: usize = 2;

/// Fails if an agent that is installed does not do what its scenario says. One that is not is skipped loudly; in CI that is a
/// failure, too.
pub fn run(jobs: &[(TrialAgent, &AgentScenario)], tested: &TrialSetup) -> TaskResult {
    let begin = Instant::now();
    let root = env::temp_dir().join(format!("punch-agents-{}", process::id()));
    let (next, failed, skipped) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(jobs.len()) {
            scope.spawn(|| {
                while let Some((host, scenario)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let name = format!("{} {}", host.name(), scenario.name);
                    let unadapted = tested.found.unadapted.iter().filter(|_| scenario.drive.is_some());
                    let mut missing = tested.found.missing.iter().chain(unadapted);
                    if let Some((_, reason)) =
                        missing.find(|(missing, _)| missing == host || scenario.others().any(|other| other == *missing))
                    {
                        println!("    SKIPPED {name}: {reason}");
                        skipped.fetch_add(1, Ordering::SeqCst);
                        continue;
                    }
                    let begin = Instant::now();
                    let folder = root.join(name.replace(' ', "-"));
                    let failures = trial::run(*host, scenario, tested, folder.clone());
                    let seconds = begin.elapsed().as_secs_f64();
                    if failures.is_empty() {
                        println!("    passed  {name}, {seconds:.1} s");
                        continue;
                    }
                    let lines: Vec<String> = failures
                        .iter()
                        .flat_map(|failure| failure.lines())
                        .map(|l| format!("            {l}"))
                        .collect();
                    println!(
                        "    FAILED  {name}, {seconds:.1} s\n{}\n            see {}",
                        lines.join("\n"),
                        folder.display()
                    );
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(name);
                }
            });
        }
    });
    if !tested.keep {
        // Only empty folders: those of failed runs stay.
        let _ = std::fs::remove_dir(&root);
    }
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let skipped = skipped.into_inner();
    let passed = jobs.len() - failed.len() - skipped;
    println!(
        "    {passed} passed, {} failed, {skipped} skipped in {:.1} s",
        failed.len(),
        begin.elapsed().as_secs_f64()
    );
    match (failed.is_empty(), skipped) {
        (false, _) => Err(format!("real agents failed: {}", failed.join(", "))),
        (true, 0) => Ok(()),
        (true, _) => crate::process::skip(&format!("{skipped} of {} scenarios", jobs.len()), "see above"),
    }
}
