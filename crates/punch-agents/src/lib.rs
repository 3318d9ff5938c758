//! Everything that Punchlist knows about each coding agent, in one file or folder per agent: the names of its hook
//! events and what they mean, its answers, its own todo tools, its transcripts, its settings files, its environment,
//! and how it runs without a terminal. A new agent is one file and one row in [`AGENTS`]. Facts that were found by
//! trying are next to the code that needs them.

mod adapter;
mod claude;
mod claude_form;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
pub mod headless;
pub mod hook;
pub mod lenient_json;
pub mod marketplace;
mod opencode;
mod qwen;
pub mod settings;
pub mod transcript;
mod usage_limit;

pub use adapter::{
    Adapter, AssignCommand, Catalog, Environment, FindEarlierTurn, FolderTrust, HookForm, HookTrust, Listing, Meaning,
    Naming, Plugin, PluginEvidence, ReportFields, SettingsForm, TodoCall, TodoTool, ToolNames,
};
pub use usage_limit::{LimitText, Reset, UsageLimit};

/// Every agent, in the order in which they are listed.
pub static AGENTS: [&Adapter; 8] = [
    &claude::ADAPTER,
    &codex::ADAPTER,
    &qwen::ADAPTER,
    &gemini::ADAPTER,
    &cursor::ADAPTER,
    &opencode::ADAPTER,
    &copilot::ADAPTER,
    &droid::ADAPTER,
];

/// The agent of a name.
pub fn named(name: &str) -> Option<&'static Adapter> {
    AGENTS.iter().copied().find(|agent| agent.name == name)
}

/// A variable that shows that an agent runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentMark {
    /// The variable.
    pub variable: &'static str,
    /// The name of the agent that sets it.
    pub agent: &'static str,
    /// The variable with the agent's session.
    pub session: Option<&'static str>,
}

/// Every variable that shows that an agent runs a command.
pub fn marks() -> impl Iterator<Item = EnvironmentMark> {
    let of_agent = |agent: &&'static Adapter| {
        let (name, environment) = (agent.name, agent.environment);
        environment.marks.iter().map(move |variable| EnvironmentMark {
            variable,
            agent: name,
            session: environment.session,
        })
    };
    AGENTS.iter().flat_map(of_agent)
}

/// Every variable that an agent started inside another one must not inherit.
pub fn private_variables() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().flat_map(|agent| agent.environment.private.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subscribed_event_means_something() {
        for agent in AGENTS {
            for event in agent.hooks.events {
                assert!(agent.meaning(event).is_some(), "{} {event}", agent.name);
            }
        }
    }

    #[test]
    fn names_and_marks_are_unique() {
        for (n, agent) in AGENTS.iter().enumerate() {
            assert!(AGENTS[..n].iter().all(|other| other.name != agent.name && other.title != agent.title));
        }
        let marks: Vec<&str> = marks().map(|mark| mark.variable).collect();
        assert!(marks.iter().enumerate().all(|(n, mark)| !marks[..n].contains(mark)));
    }

    /// Losing one would let an agent do what only the user may.
    #[test]
    fn no_mark_is_forgotten() {
        let mut marks: Vec<(&str, &str)> = marks().map(|mark| (mark.variable, mark.agent)).collect();
        marks.sort_unstable();
        assert_eq!(
            marks,
            [
                ("CLAUDECODE", "claude"),
                ("CODEX_CI", "codex"),
                ("CODEX_SANDBOX", "codex"),
                ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
                ("CODEX_THREAD_ID", "codex"),
                ("COPILOT_CLI", "copilot"),
                ("CURSOR_AGENT", "cursor"),
                ("FACTORY_EXEC_TARGET_AUTONOMY", "droid"),
                ("GEMINI_CLI", "gemini"),
                ("OPENCODE", "opencode"),
                ("QWEN_CODE", "qwen"),
            ]
        );
    }
}
