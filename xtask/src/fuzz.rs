//! `cargo xtask fuzz`: every fuzz target for a while. Without nightly or cargo-fuzz, or with `--stable`, a program drives the
//! same bodies without coverage.

use std::path::PathBuf;

use crate::cargo_tool::CargoTool;
use crate::{TaskResult, process};

const TOOL: CargoTool = CargoTool { name: "cargo-fuzz", version: "0.13.2" };

/// For each target.
const SECONDS: u64 = 60;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct FuzzOptions<'a> {
    seconds: u64,
    stable: bool,
    targets: Vec<&'a str>,
}

/// Runs all targets, or the named ones.
pub fn run(arguments: &[&str]) -> TaskResult {
    let choice = parse(arguments)?;
    if choice.stable {
        return stable(&choice);
    }
    match tool() {
        Ok(tool) => {
            let all = targets()?;
            let chosen = all.iter().filter(|name| choice.targets.is_empty() || choice.targets.contains(&name.as_str()));
            chosen.into_iter().try_for_each(|target| fuzz(&tool, target, choice.seconds))
        }
        Err(cause) => {
            eprintln!("WARNING: no coverage: {cause}. The same bodies run on stable with changed seeds.");
            stable(&choice)
        }
    }
}

fn parse<'a>(arguments: &[&'a str]) -> Result<FuzzOptions<'a>, String> {
    let mut choice = FuzzOptions { seconds: SECONDS, stable: false, targets: Vec::new() };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let number = words.next().copied().unwrap_or_default();
                choice.seconds = number.parse().map_err(|_| format!("invalid number of seconds `{number}`"))?;
            }
            "--stable" => choice.stable = true,
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "unknown argument `{flag}`; `fuzz` takes --seconds N, --stable and names of targets"
                ));
            }
            name => choice.targets.push(name),
        }
    }
    Ok(choice)
}

/// The names of the targets, from their files.
pub fn targets() -> Result<Vec<String>, String> {
    let files = crate::sources::entries(&process::root().join("fuzz/fuzz_targets"))?;
    Ok(files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect())
}

/// Finds cargo-fuzz, which needs a nightly compiler.
fn tool() -> Result<PathBuf, String> {
    process::read(process::command("rustup").args(["run", "nightly", "rustc", "--version"]))
        .map_err(|_| "there is no nightly toolchain; try `rustup toolchain install nightly`".to_owned())?;
    TOOL.find_or_build()
}

fn fuzz(tool: &PathBuf, target: &str, seconds: u64) -> TaskResult {
    println!("==> fuzz {target} for {seconds} s");
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    std::fs::create_dir_all(process::root().join(&corpus)).map_err(|cause| format!("{corpus}: {cause}"))?;
    // New inputs go to the first folder; the second one holds those that are checked in.
    let arguments = ["fuzz", "run", "--fuzz-dir", "fuzz", target, &corpus, &seeds, "--"];
    let limits = [format!("-max_total_time={seconds}"), "-max_len=4096".to_owned(), "-timeout=20".to_owned()];
    let mut command = process::command(tool);
    // cargo sets both for `cargo xtask`; they would bind the build to the stable toolchain.
    command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("CARGO").env_remove("RUSTC");
    process::run(command.args(arguments).args(limits))
}

fn stable(choice: &FuzzOptions<'_>) -> TaskResult {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--package", "punch-fuzz", "--", "--seconds", &choice.seconds.to_string()]);
    process::run(cargo.args(&choice.targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_has_a_target_for_the_fuzzer_and_seeds() {
        let bodies = std::fs::read_to_string(process::root().join("crates/punch-fuzz/src/lib.rs"))
            .unwrap_or_else(|cause| panic!("{cause}"));
        let mut named: Vec<&str> = bodies
            .split("FuzzTarget {")
            .skip(1)
            .filter_map(|rest| rest.split("name: \"").nth(1))
            .filter_map(|rest| rest.split('"').next())
            .collect();
        named.sort_unstable();
        assert_eq!(targets(), Ok(named.iter().map(|name| (*name).to_owned()).collect()));
        for name in named {
            assert!(process::root().join("fuzz/seeds").join(name).is_dir(), "fuzz/seeds/{name}");
        }
    }

    #[test]
    fn seconds_are_a_number() {
        let chosen = FuzzOptions { seconds: 5, stable: true, targets: vec!["mcp"] };
        assert_eq!(parse(&["--seconds", "5", "--stable", "mcp"]), Ok(chosen));
        assert!(parse(&["--seconds", "soon"]).is_err() && parse(&["--fast"]).is_err());
    }
}
