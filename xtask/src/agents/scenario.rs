//! A scenario: what the user says to an agent, what the model answers, and how the plan must look afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use punch_testkit::scripted::{AgentScript, Pattern};
use serde::Deserialize;
use serde_json::Value;

use super::hosts::TrialAgent;

/// A file of `xtask/scenarios`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScenario {
    /// The name of the file, without its ending.
    #[serde(skip)]
    pub name: String,
    /// One sentence: what holds.
    pub about: String,
    /// The agents it is for; all if it names none.
    #[serde(default, rename = "agents")]
    pub hosts: Vec<TrialAgent>,
    /// Runs in the gate.
    #[serde(default)]
    pub gate: bool,
    /// For each agent, what words in `model` stand for: a string that is exactly such a word becomes its value.
    #[serde(default)]
    pub words: BTreeMap<String, BTreeMap<String, Value>>,
    /// Variables of the agent.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Wire the agent by `punch install` at this level, and by nothing else: `project`, `user`, or as a `plugin`.
    #[serde(default)]
    pub install: Option<InstallLevel>,
    /// Keep the plan on a PostgreSQL server that lives as long as the scenario.
    #[serde(default)]
    pub postgres: bool,
    /// Let `punch run` start the agents.
    #[serde(default)]
    pub drive: Option<Drive>,
    /// More arguments of `punch mcp`.
    #[serde(default)]
    pub mcp: Vec<String>,
    /// Commands of punch before the first run; `init` comes first by itself. One that begins with `-` may fail.
    #[serde(default)]
    pub before: Vec<Vec<String>>,
    /// The agent, started once or several times in the same home and repository.
    pub runs: Vec<ScenarioRun>,
    /// Every todo afterwards, in order.
    #[serde(default)]
    pub todos: Option<Vec<ExpectedTodo>>,
    /// What `punch why-stop --json` must say afterwards.
    #[serde(default)]
    pub why_stop: Vec<Pattern>,
    /// What it must not say.
    #[serde(default)]
    pub why_stop_lacks: Vec<Pattern>,
}

/// How `punch run` drives the agents of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// On which way.
    pub by: By,
    /// Arguments of `punch run` beside the agent.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Files on the result branch afterwards, all of them.
    #[serde(default)]
    pub result: Vec<String>,
}

/// The way on which an agent is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Its own program without a terminal.
    Headless,
    /// The Agent Client Protocol.
    Acp,
}

/// Where `punch install` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallLevel {
    /// For the user, in this repository.
    Personal,
    /// Into files of the repository that a team commits.
    Shared,
    /// Into the home.
    User,
    /// As a plugin, into the home.
    Plugin,
}

impl InstallLevel {
    /// The flags of `install`.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Personal => &["--personal"],
            Self::Shared => &["--shared"],
            Self::User => &["--user"],
            Self::Plugin => &["--user", "--plugin"],
        }
    }

    /// The flag of `uninstall`.
    pub fn flag(self) -> &'static str {
        self.flags()[0]
    }
}

/// A todo as it must be: content, status and, where the identity matters, the id.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum ExpectedTodo {
    /// Any id will do.
    Unnamed(String, String),
    /// The todo of this id.
    Named(String, String, String),
}

/// Another agent that works in the same repository at the same time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The agent.
    pub agent: TrialAgent,
    /// What the person types.
    pub prompts: Vec<String>,
}

/// One start of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioRun {
    /// What the person types, one after the other; nothing where `punch run` does the talking.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// The conversation of the previous run is resumed.
    #[serde(default)]
    pub resume: bool,
    /// The prompts are typed into the agent's own screen.
    #[serde(default)]
    pub screen: bool,
    /// More variables of the agent, in this run.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A second agent at the same time, with the same model behind it.
    #[serde(default)]
    pub beside: Option<Beside>,
    /// What the model answers.
    pub model: Value,
    /// Commands of punch after it.
    #[serde(default)]
    pub after: Vec<Vec<String>>,
    /// The runner is interrupted, as by Ctrl-C, once these tracks have been asked for this many answers.
    #[serde(default)]
    pub interrupt: BTreeMap<String, usize>,
    /// A key for each question that an agent of a driven run asks: the board takes it when the question is on its screen.
    #[serde(default)]
    pub questions: Vec<String>,
    /// Every todo after it, in order.
    #[serde(default)]
    pub todos: Option<Vec<ExpectedTodo>>,
    /// The number of answers on each track, exactly.
    #[serde(default)]
    pub answers: BTreeMap<String, usize>,
    /// The agent's exit code.
    #[serde(default)]
    pub exit: i32,
    /// For each agent, what the person must be shown, anywhere in its output. Not every agent without a screen does.
    #[serde(default)]
    pub shown: BTreeMap<String, Vec<Pattern>>,
}

impl AgentScenario {
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
            scenario.hosts = TrialAgent::all().collect();
        }
        if scenario.runs.is_empty() {
            return Err("`runs` is empty".to_owned());
        }
        for (n, run) in scenario.runs.iter().enumerate() {
            for host in &scenario.hosts {
                let script = scenario.script(*host, run);
                script.map_err(|cause| format!("runs[{n}].model for {}: {cause}", host.name()))?;
            }
            if run.prompts.is_empty() != scenario.drive.is_some() || (run.resume && n == 0) {
                let why = "a run needs a prompt unless it is driven, and the first has nothing to resume";
                return Err(format!("runs[{n}]: {why}"));
            }
            if !run.questions.is_empty() && scenario.drive.is_none() {
                return Err(format!("runs[{n}]: only questions of a driven run can be answered"));
            }
            let single = scenario.hosts.iter().find(|host| !host.trial.takes_many_prompts);
            if let (Some(host), true) = (single, run.prompts.len() > 1 && !run.screen) {
                return Err(format!("runs[{n}]: {} takes one prompt a run", host.name()));
            }
        }
        Ok(scenario)
    }

    /// The agents that run beside the one that is tested.
    pub fn others(&self) -> impl Iterator<Item = TrialAgent> {
        self.runs.iter().filter_map(|run| Some(run.beside.as_ref()?.agent))
    }

    /// Whether any run needs a terminal.
    pub fn needs_screen(&self) -> bool {
        self.runs.iter().any(|run| run.screen || !run.questions.is_empty())
    }

    /// The model's part, in the words of an agent.
    pub fn script(&self, host: TrialAgent, run: &ScenarioRun) -> Result<AgentScript, String> {
        let mut model = run.model.clone();
        if let Some(words) = self.words.get(host.name()) {
            translate(&mut model, words);
        }
        AgentScript::from_value(model)
    }
}

/// Scenarios are files of ours and not deep: recursion is safe here.
fn translate(value: &mut Value, words: &BTreeMap<String, Value>) {
    match value {
        Value::String(text) => {
            if let Some(meant) = words.get(text.as_str()) {
                *value = meant.clone();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| translate(item, words)),
        Value::Object(fields) => fields.values_mut().for_each(|item| translate(item, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_into_the_language_of_the_agent() {
        let words = r#"{"codex": {"$plan": {"name": "update_plan"}}}"#;
        let run = r#"{"prompts": ["go"], "model": {"steps": [{"tools": ["$plan"]}]}}"#;
        let text = |hosts: &str| format!(r#"{{"about": "x", "agents": [{hosts}], "words": {words}, "runs": [{run}]}}"#);
        let scenario = AgentScenario::parse("x", &text(r#""codex""#)).unwrap_or_else(|error| panic!("{error}"));
        let script = scenario.script(scenario.hosts[0], &scenario.runs[0]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(script.tracks[0].steps[0].tools[0].name, "update_plan");
        assert!(AgentScenario::parse("x", &text(r#""qwen""#)).is_err());
    }

    #[test]
    fn mistakes_in_a_scenario_are_told_before_anything_runs() {
        let run = r#"{"prompts": ["go"], "model": {}}"#;
        let fine = format!(r#"{{"about": "x", "runs": [{run}]}}"#);
        assert_eq!(
            AgentScenario::parse("x", &fine).map(|scenario| scenario.hosts.len()),
            Ok(TrialAgent::all().count())
        );
        for (part, with) in [
            (r#""about": "x""#, r#""about": "x", "todo": []"#),
            (r#""about": "x""#, r#""about": "x", "agents": ["aider"]"#),
            (r#"{"prompts": ["go"], "model": {}}"#, ""),
            (r#""model": {}"#, r#""model": {"step": []}"#),
            (r#"["go"]"#, "[]"),
            (r#"["go"]"#, r#"["go", "on"]"#),
            (r#""model""#, r#""resume": true, "model""#),
            (r#""model""#, r#""questions": ["y"], "model""#),
        ] {
            let broken = fine.replacen(part, with, 1);
            assert!(AgentScenario::parse("x", &broken).is_err(), "{broken}");
        }
    }
}
