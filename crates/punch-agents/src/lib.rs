//! What Punchlist knows about each coding agent, one file or folder for each: the names of its hook events and what they
//! mean, its answers, its own todo tools, its transcripts, its settings files, its environment, and how it is driven
//! without a terminal. A new agent is one file and one row in [`AGENTS`]. Facts that were found out by trying stand with
//! the code that needs them.

mod adapter;
mod claude;
mod claude_form;
mod codex;
mod cursor;
mod gemini;
pub mod headless;
pub mod hook;
pub mod lenient_json;
pub mod marketplace;
mod opencode;
mod qwen;
pub mod settings;
pub mod transcript;

pub use adapter::{
    Adapter, AssignCommand, Environment, Fields, FindEarlierTurn, FolderTrust, HookForm, HookTrust, Listing, Meaning,
    Naming, Plugin, PluginEvidence, SettingsForm, TodoCall, TodoTool, ToolNames,
};

/// Every agent, in the order in which they are listed.
pub static AGENTS: [&Adapter; 6] =
    [&claude::ADAPTER, &codex::ADAPTER, &qwen::ADAPTER, &gemini::ADAPTER, &cursor::ADAPTER, &opencode::ADAPTER];

/// The agent of a name.
pub fn named(name: &str) -> Option<&'static Adapter> {
    AGENTS.iter().copied().find(|agent| agent.name == name)
}

/// Every variable that shows that an agent runs a command, with the agent.
pub fn marks() -> impl Iterator<Item = (&'static str, &'static Adapter)> {
    AGENTS.iter().flat_map(|agent| agent.environment.marks.iter().map(|mark| (*mark, *agent)))
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
        let marks: Vec<&str> = marks().map(|(mark, _)| mark).collect();
        assert!(marks.iter().enumerate().all(|(n, mark)| !marks[..n].contains(mark)));
    }
}
