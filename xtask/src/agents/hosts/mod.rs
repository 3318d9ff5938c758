//! The agents: how each is installed, wired to our server and hooks, started, and resumed. Facts about them that were
//! found out by trying stand with the code that needs them.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod qwen;

use std::fs;

use serde::Deserialize;

use super::scenario::By;
use super::trial::Wiring;
use super::trial_folders::TrialFolders;

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
}

/// What is kept between the runs of a scenario.
#[derive(Default)]
pub struct Conversation {
    /// The agent's own name for it, where the agent needs one to resume.
    pub id: Option<String>,
}

/// Standard output of the agent.
pub const OUTPUT: &str = "output.jsonl";
/// Its standard error.
pub const ERRORS: &str = "errors.txt";

impl Host {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Opencode, Self::Gemini, Self::Qwen];

    /// The name: of the program, of the scenario's field, of `punch hook --agent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
        }
    }

    /// The agent of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// The npm package and its version. In full: with less npm steps back to one that fits the Node it runs on.
    pub fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "2.1.325"),
            Self::Codex => ("@openai/codex", "0.166.0"),
            Self::Opencode => ("opencode-ai", "1.18.33"),
            Self::Gemini => ("@google/gemini-cli", "0.61.0"),
            Self::Qwen => ("@qwen-code/qwen-code", "0.24.4"),
        }
    }

    /// The npm package that lets it speak the Agent Client Protocol, with its program; none if it does by itself.
    pub fn adapter(self) -> Option<(&'static str, &'static str, &'static str)> {
        match self {
            Self::Claude => Some(("@agentclientprotocol/claude-agent-acp", "0.99.1", "claude-agent-acp")),
            Self::Codex => Some(("@agentclientprotocol/codex-acp", "2.6.0", "codex-acp")),
            Self::Opencode | Self::Gemini | Self::Qwen => None,
        }
    }

    /// How `punch run` starts it, without a terminal or over the Agent Client Protocol; none if it does not.
    pub fn spec(self, by: By, place: &TrialFolders) -> Option<String> {
        let own = |arguments: &str| Some(format!("acp:{} {arguments}", self.name()));
        match (by, self) {
            (By::Headless, Self::Claude | Self::Codex) => Some(self.name().to_owned()),
            (By::Headless, Self::Opencode | Self::Gemini | Self::Qwen) => None,
            (By::Acp, Self::Claude | Self::Codex) => {
                let (.., program) = self.adapter()?;
                Some(format!("acp:node {}", place.adapters.join(program).display()))
            }
            (By::Acp, Self::Opencode) => own("acp"),
            (By::Acp, Self::Gemini) => own("--acp --skip-trust -m gemini-2.5-pro"),
            // By itself it asks the model what may be done.
            (By::Acp, Self::Qwen) => own("--acp --auth-type openai --approval-mode default"),
        }
    }

    /// The variables that lead it to the scripted model.
    pub fn environment(self, wiring: &Wiring) -> Vec<(&'static str, String)> {
        let program = || wiring.place.program(self.name());
        match self {
            Self::Claude => {
                let mut out = claude::environment(wiring);
                out.push(("CLAUDE_CODE_EXECUTABLE", program()));
                out
            }
            Self::Codex => {
                let mut out = codex::environment(wiring);
                out.extend([("CODEX_PATH", program()), ("OPENAI_API_KEY", "scripted".to_owned())]);
                out
            }
            Self::Opencode => opencode::environment(),
            Self::Gemini => gemini::environment(wiring),
            Self::Qwen => qwen::environment(wiring),
        }
    }

    /// Whether one start can take several prompts.
    pub fn takes_many_prompts(self) -> bool {
        matches!(self, Self::Claude | Self::Opencode)
    }

    /// Writes its settings: the model behind it, and our server and hooks unless `punch install` wires them.
    pub fn configure(self, wiring: &Wiring) -> Result<(), String> {
        match self {
            Self::Claude => claude::configure(wiring),
            Self::Codex => codex::configure(wiring),
            Self::Opencode => opencode::configure(wiring),
            Self::Gemini => gemini::configure(wiring),
            Self::Qwen => qwen::configure(wiring),
        }
    }

    /// The words that start it with its own screen.
    pub fn screen(self, wiring: &Wiring) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Self::Claude => claude::screen(wiring),
            Self::Codex => words(&["codex"]),
            Self::Opencode => words(&["opencode"]),
            Self::Gemini => words(&["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]),
            Self::Qwen => words(&["qwen", "--yolo", "--auth-type", "openai"]),
        }
    }

    /// Starts it, and waits for its end: the exit code.
    pub fn converse(self, wiring: &Wiring, conversation: &mut Conversation) -> Result<i32, String> {
        match self {
            Self::Claude => claude::converse(wiring, conversation),
            Self::Codex => codex::converse(wiring),
            Self::Opencode => opencode::converse(wiring, conversation),
            Self::Gemini => gemini::converse(wiring),
            Self::Qwen => qwen::converse(wiring),
        }
    }
}

impl Conversation {
    /// Everything the agent has printed so far.
    pub fn output(&self, place: &TrialFolders) -> String {
        let read = |name| fs::read(place.file(name)).unwrap_or_default();
        String::from_utf8_lossy(&[read(OUTPUT), read(ERRORS)].concat()).into_owned()
    }
}
