//! The agents that scenarios run: how each is installed, configured for a trial, started, and resumed. What the programs
//! themselves are like is in the adapters of `punch-agents`. Facts about them that were found out by trying stand with the
//! code that needs them.

mod claude;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod qwen;

use std::fmt;
use std::fs;

use punch_agents::{AGENTS, Adapter};
use serde::de::{Deserialize, Deserializer, Error};

use super::scenario::By;
use super::trial::TrialWiring;
use super::trial_folders::TrialFolders;

/// The agents that can be tried, in any order: each names its adapter.
static TRIALS: [&Trial; 7] =
    [&claude::TRIAL, &codex::TRIAL, &opencode::TRIAL, &gemini::TRIAL, &qwen::TRIAL, &copilot::TRIAL, &droid::TRIAL];

/// How one agent is tried.
pub struct Trial {
    /// The name of its adapter.
    pub name: &'static str,
    /// The npm package and its version. In full: with less npm steps back to one that fits the Node it runs on.
    pub package: (&'static str, &'static str),
    /// An npm package of the same version that it would fetch on its first start in an empty home.
    pub plugin: Option<&'static str>,
    /// How `punch run` drives it over the Agent Client Protocol.
    pub acp: AcpCommand,
    /// One start can take several prompts.
    pub takes_many_prompts: bool,
    /// The variables that lead it to the scripted model.
    pub environment: fn(&TrialWiring) -> Vec<(&'static str, String)>,
    /// Writes its settings: the model behind it, and our server and hooks unless `punch install` writes them.
    pub configure: fn(&TrialWiring) -> Result<(), String>,
    /// The words that start it with its own screen; none if no scenario does.
    pub screen: Option<fn(&TrialWiring) -> Vec<String>>,
    /// Finds the id of its first conversation, where it writes that down.
    pub first_conversation: Option<fn(&TrialWiring) -> Option<String>>,
    /// Starts it, and waits for its end: the exit code.
    pub converse: fn(&TrialWiring, &mut TrialConversation) -> Result<i32, String>,
}

/// How an agent speaks the Agent Client Protocol.
#[derive(Clone, Copy, Debug)]
pub enum AcpCommand {
    /// By itself, with these arguments.
    Own(&'static str),
    /// By the program of another npm package.
    Package {
        /// The package.
        name: &'static str,
        /// Its version.
        version: &'static str,
        /// Its program.
        program: &'static str,
    },
    /// In a way that was not made to work here.
    Never,
}

/// An agent that can be tried.
#[derive(Clone, Copy)]
pub struct TrialAgent {
    adapter: &'static Adapter,
    /// How it is tried.
    pub trial: &'static Trial,
}

/// What is kept between the runs of a scenario.
#[derive(Default)]
pub struct TrialConversation {
    /// The agent's own name for it, where the agent needs one to resume.
    pub id: Option<String>,
}

/// Standard output of the agent.
pub const OUTPUT: &str = "output.jsonl";
/// Its standard error.
pub const ERRORS: &str = "errors.txt";

impl TrialAgent {
    /// All of them, in the order of their adapters.
    pub fn all() -> impl Iterator<Item = Self> {
        AGENTS.into_iter().filter_map(|adapter| {
            let trial = TRIALS.into_iter().find(|trial| trial.name == adapter.name)?;
            Some(Self { adapter, trial })
        })
    }

    /// The agent of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|host| host.name() == name)
    }

    /// The name: of the program, of the scenario's field, of `punch hook --agent`.
    pub fn name(self) -> &'static str {
        self.adapter.name
    }

    /// How `punch run` starts it, without a terminal or over the Agent Client Protocol; none if it does not.
    pub fn spec(self, by: By, place: &TrialFolders) -> Option<String> {
        match (by, self.trial.acp) {
            (By::Headless, _) => self.adapter.headless.map(|_| self.name().to_owned()),
            (By::Acp, AcpCommand::Own(arguments)) => Some(format!("acp:{} {arguments}", self.name())),
            (By::Acp, AcpCommand::Package { program, .. }) => {
                Some(format!("acp:node {}", place.adapters.join(program).display()))
            }
            (By::Acp, AcpCommand::Never) => None,
        }
    }
}

impl PartialEq for TrialAgent {
    fn eq(&self, other: &Self) -> bool {
        self.adapter == other.adapter
    }
}

impl fmt::Debug for TrialAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'de> Deserialize<'de> for TrialAgent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::parse(&name).ok_or_else(|| D::Error::custom(format!("no agent `{name}`")))
    }
}

impl TrialConversation {
    /// Everything the agent has printed so far.
    pub fn output(&self, place: &TrialFolders) -> String {
        let read = |name| fs::read(place.file(name)).unwrap_or_default();
        String::from_utf8_lossy(&[read(OUTPUT), read(ERRORS)].concat()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trial_belongs_to_an_adapter() {
        assert_eq!(TrialAgent::all().count(), TRIALS.len());
    }
}
