//! `cargo xtask simulate`: fleets of workers on the real engine, optimized, for as long as asked.

use crate::{TaskResult, process};

/// Hours of virtual time that the gate simulates at least.
pub const HOURS: u64 = 24;

/// Runs it as the gate does.
pub fn gate() -> TaskResult {
    run(&["--seconds", "10", "--hours", &HOURS.to_string()])
}

/// Builds the simulator and runs it; it reads the arguments itself.
pub fn run(arguments: &[&str]) -> TaskResult {
    let simulate = ["run", "--release", "--locked", "--quiet", "--package", "punch-simulate", "--"];
    process::run(process::cargo().args(simulate).args(arguments))
}
