//! `cargo xtask exhaustive`: the enumeration of states, deeper than the gate has time for.

use crate::{TaskResult, process};

/// Runs the same tests with more to do, optimized, and shows how many states they met.
pub fn run(arguments: &[&str]) -> TaskResult {
    if let [unknown, ..] = arguments {
        return Err(format!("`exhaustive` knows no argument `{unknown}`"));
    }
    let test = ["test", "--release", "--locked", "--package", "punch-core", "--test", "it", "--"];
    let which = ["enumerate::", "--nocapture", "--test-threads=2"];
    process::run(process::cargo().args(test).args(which).env("PUNCH_EXHAUSTIVE", "1"))
}
