//! `cargo xtask simulate`: fleets of workers on the real engine, optimized, for as long as asked.

use crate::{TaskResult, process};

/// Builds the simulator and runs it; it reads the arguments itself.
pub fn run(arguments: &[&str]) -> TaskResult {
    let simulate = ["run", "--release", "--locked", "--quiet", "--package", "punch-simulate", "--"];
    process::run(process::cargo().args(simulate).args(arguments))
}
