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
    /// The seed of a run on stable; otherwise a new one.
    seed: Option<u64>,
    targets: Vec<&'a str>,
}

/// Runs all targets, or the named ones.
pub fn run(arguments: &[&str]) -> TaskResult {
    let choice = parse(arguments)?;
    let all = targets()?;
    if let Some(unknown) = choice.targets.iter().find(|name| !all.iter().any(|known| known == *name)) {
        return Err(format!("no target `{unknown}`; there are {}", all.join(", ")));
    }
    let before = artifacts()?;
    let tool = (!choice.stable).then(tool);
    if let Some(Err(cause)) = &tool {
        eprintln!("WARNING: no coverage: {cause}. The same bodies run on stable with changed seeds.");
    }
    let mut chosen = all.iter().filter(|name| choice.targets.is_empty() || choice.targets.contains(&name.as_str()));
    let done = match tool {
        Some(Ok(tool)) => chosen.try_for_each(|target| fuzz(&tool, target, choice.seconds)),
        _ => stable(&choice),
    };
    let found: Vec<String> = artifacts()?.into_iter().filter(|path| !before.contains(path)).collect();
    if !found.is_empty() {
        println!("    store what failed with the seeds, where every test run tries it:");
        found.iter().for_each(|path| println!("    {}", kept(path)));
    }
    done
}

/// Inputs that failed, below the root.
fn artifacts() -> Result<Vec<String>, String> {
    let root = process::root().join("fuzz/artifacts");
    let mut out = Vec::new();
    for folder in if root.is_dir() { crate::sources::entries(&root)? } else { Vec::new() } {
        let target = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = if folder.is_dir() { crate::sources::entries(&folder)? } else { Vec::new() };
        let name = |file: &PathBuf| Some(file.file_name()?.to_string_lossy().into_owned());
        out.extend(files.iter().filter_map(name).map(|name| format!("{target}/{name}")));
    }
    Ok(out)
}

/// The command that stores an input with the seeds of its target.
fn kept(path: &str) -> String {
    format!("cp fuzz/artifacts/{path} fuzz/seeds/{path}")
}

fn parse<'a>(arguments: &[&'a str]) -> Result<FuzzOptions<'a>, String> {
    let mut choice = FuzzOptions { seconds: SECONDS, stable: false, seed: None, targets: Vec::new() };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let number = words.next().copied().unwrap_or_default();
                choice.seconds = number.parse().map_err(|_| format!("invalid number of seconds `{number}`"))?;
            }
            "--stable" => choice.stable = true,
            "--seed" => {
                let number = words.next().copied().unwrap_or_default();
                choice.seed = Some(number.parse().map_err(|_| format!("invalid seed `{number}`"))?);
            }
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "unknown argument `{flag}`; `fuzz` takes --seconds N, --stable, --seed N (with --stable) and names of targets"
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
    if let Some(seed) = choice.seed {
        cargo.args(["--seed", &seed.to_string()]);
    }
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
    fn unknown_targets_are_refused_whatever_runs_them() {
        for words in [&["mpc"][..], &["--stable", "mcp", "mpc"]] {
            assert!(run(words).unwrap_err().starts_with("no target `mpc`; there are acp, agent_output"), "{words:?}");
        }
        assert_eq!(kept("mcp/crash-1"), "cp fuzz/artifacts/mcp/crash-1 fuzz/seeds/mcp/crash-1");
    }

    #[test]
    fn seconds_are_a_number() {
        let chosen = FuzzOptions { seconds: 5, stable: true, seed: Some(7), targets: vec!["mcp"] };
        assert_eq!(parse(&["--seconds", "5", "--stable", "--seed", "7", "mcp"]), Ok(chosen));
        assert!(parse(&["--seconds", "soon"]).is_err() && parse(&["--fast"]).is_err());
    }
}
