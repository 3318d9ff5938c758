//! `cargo xtask fuzz`: every fuzz target for a while. Without nightly or cargo-fuzz the same bodies run on stable.

use std::path::PathBuf;

use crate::{Done, process};

/// The targets in `fuzz/fuzz_targets`, one per dialect.
const TARGETS: [&str; 7] =
    ["phases", "phases_markdown", "phases_commands", "cursor", "todowrite", "extended", "native"];

/// For each target.
const SECONDS: u64 = 60;

/// Runs all targets, or the short run on stable where fuzzing is out of reach.
pub fn run(arguments: &[&str]) -> Done {
    let seconds = parse(arguments)?;
    match tool() {
        Ok(tool) => TARGETS.iter().try_for_each(|target| fuzz(&tool, target, seconds)),
        Err(cause) => {
            eprintln!("WARNING: no fuzzing: {cause}. Only the short run of the same bodies on stable follows.");
            stable()
        }
    }
}

fn parse(arguments: &[&str]) -> Result<u64, String> {
    match arguments {
        [] => Ok(SECONDS),
        ["--seconds", number] => number.parse().map_err(|_| format!("invalid number of seconds `{number}`")),
        [unknown, ..] => Err(format!("`fuzz` knows no argument `{unknown}`; it takes --seconds N")),
    }
}

/// Where cargo-fuzz is; built once into `target/tools` if it is not on `PATH`.
fn tool() -> Result<PathBuf, String> {
    process::read(process::command("rustup").args(["run", "nightly", "rustc", "--version"]))
        .map_err(|_| "there is no nightly toolchain; try `rustup toolchain install nightly`".to_owned())?;
    let own = process::target()?.join("tools");
    for path in [PathBuf::from("cargo-fuzz"), own.join("bin").join("cargo-fuzz")] {
        if process::read(process::command(&path).arg("--version")).is_ok() {
            return Ok(path);
        }
    }
    println!("    building cargo-fuzz");
    let install = ["install", "cargo-fuzz", "--locked", "--quiet", "--root"];
    process::run(process::cargo().args(install).arg(&own))?;
    Ok(own.join("bin").join("cargo-fuzz"))
}

fn fuzz(tool: &PathBuf, target: &str, seconds: u64) -> Done {
    println!("==> fuzz {target} for {seconds} s");
    let arguments = ["fuzz", "run", "--fuzz-dir", "fuzz", target, "--"];
    let limits = [format!("-max_total_time={seconds}"), "-max_len=4096".to_owned(), "-timeout=20".to_owned()];
    let mut command = process::command(tool);
    // cargo sets both for `cargo xtask`; they would bind the build to the stable toolchain.
    command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("CARGO").env_remove("RUSTC");
    process::run(command.args(arguments).args(limits))
}

fn stable() -> Done {
    process::run(process::cargo().args(["test", "--locked", "--package", "punch-core", "--test", "it", "fuzz::"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_there_and_no_other() {
        let folder = process::root().join("fuzz").join("fuzz_targets");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap_or_else(|cause| panic!("{cause}"))
            .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
            .collect();
        let mut known: Vec<String> = TARGETS.map(str::to_owned).into();
        found.sort();
        known.sort();
        assert_eq!(found, known);
    }

    #[test]
    fn seconds_are_a_number() {
        assert_eq!(parse(&["--seconds", "5"]), Ok(5));
        assert!(parse(&["--seconds", "soon"]).is_err() && parse(&["--fast"]).is_err());
    }
}
