//! `cargo xtask validate`: the plugin, the marketplace and the extension of this repository, judged by the programs that will
//! load them.

use std::process::Command;

use super::hosts::TrialAgent;
use super::install;
use crate::{TaskResult, process};

/// Agents with the words that make them judge a path of the repository.
const CHECKS: [(&str, &[&str]); 3] = [
    ("claude", &["plugin", "validate", "--strict", "."]),
    ("claude", &["plugin", "validate", "--strict", "--profile", "directory", "plugins/punch"]),
    ("gemini", &["extensions", "validate", "plugins/gemini"]),
];

/// Fails if an agent that is installed refuses what we ship. One that cannot be installed is skipped loudly.
pub fn run() -> TaskResult {
    let hosts: Vec<TrialAgent> = ["claude", "gemini"].into_iter().filter_map(TrialAgent::parse).collect();
    let found = install::install(&hosts, &[]);
    let home = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    for (name, words) in CHECKS {
        if let Some((_, reason)) = found.missing.iter().find(|(host, _)| host.name() == name) {
            println!("    SKIPPED {name} {}: {reason}", words.join(" "));
            continue;
        }
        let path = std::env::join_paths([found.bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()])
            .map_err(|cause| format!("{}: {cause}", found.bin.display()))?;
        let mut command = Command::new(found.bin.join(name));
        command.current_dir(process::root()).args(words).env_clear().env("HOME", home.path()).env("PATH", path);
        let output = command.output().map_err(|cause| format!("{name} does not start: {cause}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            return Err(format!("`{name} {}` refuses it:\n{}", words.join(" "), said.trim()));
        }
        println!("    passed  {name} {}", words.join(" "));
    }
    Ok(())
}
