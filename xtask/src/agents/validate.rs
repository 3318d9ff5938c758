//! `cargo xtask validate`: the plugins in the catalogs of this repository and the extension, judged by the programs that will
//! load them.

use std::fs;
use std::process::Command;

use punch_agents::marketplace::MARKETPLACE;
use serde_json::Value;

use super::hosts::TrialAgent;
use super::install;
use crate::{TaskResult, process};

/// One check: an agent, and the words that make it judge a path of the repository.
type ShippedCheck = (&'static str, Vec<String>);

/// Everything that the catalogs list, and the extension.
fn checks() -> Result<Vec<ShippedCheck>, String> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut out = vec![("claude", words("plugin validate --strict ."))];
    for (_, folder) in listed(".claude-plugin/marketplace.json")? {
        out.push(("claude", words(&format!("plugin validate --strict --profile directory {folder}"))));
    }
    // Codex has no command that only judges: it installs, into a home of its own.
    out.push(("codex", words("plugin marketplace add .")));
    for (name, _) in listed(".agents/plugins/marketplace.json")? {
        out.push(("codex", words(&format!("plugin add {name}@{MARKETPLACE}"))));
    }
    out.push(("gemini", words("extensions validate plugins/gemini")));
    Ok(out)
}

/// Names and folders of the plugins in a catalog.
fn listed(path: &str) -> Result<Vec<(String, String)>, String> {
    let text = fs::read_to_string(process::root().join(path)).map_err(|cause| format!("{path}: {cause}"))?;
    let catalog: Value = serde_json::from_str(&text).map_err(|cause| format!("{path}: {cause}"))?;
    let plugin = |listed: &Value| {
        let folder = listed["source"].as_str().or_else(|| listed["source"]["path"].as_str())?;
        Some((listed["name"].as_str()?.to_owned(), folder.to_owned()))
    };
    let plugins: Option<Vec<_>> = catalog["plugins"].as_array().into_iter().flatten().map(plugin).collect();
    plugins.filter(|plugins| !plugins.is_empty()).ok_or_else(|| format!("{path} lists no plugins"))
}

/// Fails if an agent that is installed refuses what we ship. One that cannot be installed is skipped loudly; in CI that is
/// a failure, too.
pub fn run() -> TaskResult {
    let hosts: Vec<TrialAgent> = ["claude", "codex", "gemini"].into_iter().filter_map(TrialAgent::parse).collect();
    let found = install::install(&hosts, &[]);
    let home = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    for (name, words) in checks()? {
        if let Some((_, reason)) = found.missing.iter().find(|(host, _)| host.name() == name) {
            process::skip(&format!("{name} {}", words.join(" ")), reason)?;
            continue;
        }
        let path = std::env::join_paths([found.bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()])
            .map_err(|cause| format!("{}: {cause}", found.bin.display()))?;
        let mut command = Command::new(found.bin.join(name));
        command.current_dir(process::root()).args(&words).env_clear().env("HOME", home.path()).env("PATH", path);
        let output = command.output().map_err(|cause| format!("{name} does not start: {cause}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            return Err(format!("`{name} {}` refuses it:\n{}", words.join(" "), said.trim()));
        }
        println!("    passed  {name} {}", words.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_a_catalog_lists_is_judged_by_the_agent_that_reads_it() {
        let checks = checks().unwrap_or_else(|cause| panic!("{cause}"));
        let lines: Vec<String> = checks.iter().map(|(name, words)| format!("{name} {}", words.join(" "))).collect();
        assert_eq!(
            lines,
            [
                "claude plugin validate --strict .",
                "claude plugin validate --strict --profile directory ./plugins/punch",
                "codex plugin marketplace add .",
                "codex plugin add punch-codex@punchlist",
                "gemini extensions validate plugins/gemini",
            ]
        );
        let mut folders: Vec<String> = Vec::new();
        for catalog in [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"] {
            folders.extend(
                listed(catalog).unwrap_or_else(|cause| panic!("{cause}")).into_iter().map(|(_, folder)| folder),
            );
        }
        assert!(folders.iter().all(|folder| process::root().join(folder).is_dir()), "{folders:?}");
    }
}
