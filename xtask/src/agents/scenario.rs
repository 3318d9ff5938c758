//! A scenario: what is said to an agent, what the model answers, and how the plan must look afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use punch_testkit::scripted::{Pattern, Script};
use serde::Deserialize;
use serde_json::Value;

use super::hosts::Host;

/// A file of `xtask/scenarios`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the file, without its ending.
    #[serde(skip)]
    pub name: String,
    /// One sentence: what holds.
    pub about: String,
    /// The agents it is for; all if it names none.
    #[serde(default, rename = "agents")]
    pub hosts: Vec<Host>,
    /// Runs in the gate.
    #[serde(default)]
    pub gate: bool,
    /// Variables of the agent.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// More arguments of `punch mcp`.
    #[serde(default)]
    pub mcp: Vec<String>,
    /// Commands of punch before the first run; `init` comes first by itself.
    #[serde(default)]
    pub before: Vec<Vec<String>>,
    /// The agent, started once or several times in the same home and repository.
    pub runs: Vec<Run>,
    /// Content and status of every todo afterwards, in order.
    #[serde(default)]
    pub todos: Option<Vec<(String, String)>>,
    /// What `punch why-stop --json` must say afterwards.
    #[serde(default)]
    pub why_stop: Vec<Pattern>,
    /// What it must not say.
    #[serde(default)]
    pub why_stop_lacks: Vec<Pattern>,
}

/// One start of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What the person types, one after the other.
    pub prompts: Vec<String>,
    /// The conversation of the run before goes on.
    #[serde(default)]
    pub resume: bool,
    /// What the model answers.
    pub model: Value,
    /// Commands of punch after it.
    #[serde(default)]
    pub after: Vec<Vec<String>>,
    /// The number of answers on each track, exactly.
    #[serde(default)]
    pub answers: BTreeMap<String, usize>,
    /// The agent's exit code.
    #[serde(default)]
    pub exit: i32,
    /// What the person must be shown, anywhere in the agent's output.
    #[serde(default)]
    pub shown: Vec<Pattern>,
}

impl Scenario {
    /// All scenarios of a folder, by name.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, String> {
        let fail = |cause: std::io::Error| format!("{}: {cause}", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(fail)? {
            paths.push(entry.map_err(fail)?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&name, &text).map_err(|cause| format!("{}: {cause}", path.display()))
    }

    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut scenario: Self = serde_json::from_str(text).map_err(|cause| cause.to_string())?;
        scenario.name = name.to_owned();
        if scenario.hosts.is_empty() {
            scenario.hosts = Host::ALL.to_vec();
        }
        if scenario.runs.is_empty() {
            return Err("`runs` is empty".to_owned());
        }
        for (n, run) in scenario.runs.iter().enumerate() {
            run.script().map_err(|cause| format!("runs[{n}].model: {cause}"))?;
            if run.prompts.is_empty() || (run.resume && n == 0) {
                return Err(format!("runs[{n}]: a run needs a prompt, and the first has nothing to resume"));
            }
            let single = scenario.hosts.iter().find(|host| !host.takes_many_prompts());
            if let (Some(host), true) = (single, run.prompts.len() > 1) {
                return Err(format!("runs[{n}]: {} takes one prompt a run", host.name()));
            }
        }
        Ok(scenario)
    }
}

impl Run {
    /// The model's part.
    pub fn script(&self) -> Result<Script, String> {
        Script::from_value(self.model.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_a_scenario_are_told_before_anything_runs() {
        let run = r#"{"prompts": ["go"], "model": {}}"#;
        let fine = format!(r#"{{"about": "x", "runs": [{run}]}}"#);
        assert_eq!(Scenario::parse("x", &fine).map(|scenario| scenario.hosts.len()), Ok(5));
        for (part, with) in [
            (r#""about": "x""#, r#""about": "x", "todo": []"#),
            (r#""about": "x""#, r#""about": "x", "agents": ["copilot"]"#),
            (r#"{"prompts": ["go"], "model": {}}"#, ""),
            (r#""model": {}"#, r#""model": {"step": []}"#),
            (r#"["go"]"#, "[]"),
            (r#"["go"]"#, r#"["go", "on"]"#),
            (r#""model""#, r#""resume": true, "model""#),
        ] {
            let broken = fine.replacen(part, with, 1);
            assert!(Scenario::parse("x", &broken).is_err(), "{broken}");
        }
    }
}
