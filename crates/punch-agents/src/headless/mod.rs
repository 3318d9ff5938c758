//! Agents without a terminal, as a runner drives them: how one is started, and what the lines that it prints mean.
//! Pure: the runner starts processes and moves bytes.

mod contexts;
mod event;
pub mod json;

pub use contexts::Contexts;
pub use event::{AgentEvent, AgentPlanEntry, AgentTurnEnd, PermissionRequest, TokenSpending};

/// What one start of an agent is about.
#[derive(Clone, Copy, Debug)]
pub struct HeadlessStart<'a> {
    /// The first prompt.
    pub prompt: &'a str,
    /// How our MCP server is started: program, then arguments. Empty for none.
    pub server: &'a [String],
    /// The conversation to resume.
    pub resume: Option<&'a str>,
    /// The user gave a command of their own for this agent, which says what it may do.
    pub is_customized: bool,
}

/// Drives an agent without a terminal. One value serves all starts of an agent in a run.
pub trait Headless: Send + Sync {
    /// The arguments of the program.
    fn arguments(&self, start: &HeadlessStart<'_>) -> Vec<String>;

    /// What understands the lines that the program prints after this start.
    fn listener(&self, start: &HeadlessStart<'_>) -> Box<dyn AgentListener>;
}

/// What a line of an agent leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentOutput {
    /// For the runner.
    pub events: Vec<AgentEvent>,
    /// For the agent, each without the end of its line.
    pub replies: Vec<String>,
}

impl From<Vec<AgentEvent>> for AgentOutput {
    fn from(events: Vec<AgentEvent>) -> Self {
        Self { events, replies: Vec::new() }
    }
}

/// Understands the output of one agent. Pure: no clock, no pipes.
pub trait AgentListener: Send {
    /// The first lines for the agent.
    fn begin(&mut self) -> Vec<String>;

    /// Takes a line, which can be anything.
    fn hear(&mut self, line: &str) -> AgentOutput;

    /// The lines that give a further prompt; `None` if the agent takes none now.
    fn prompt(&mut self, _prompt: &str) -> Option<Vec<String>> {
        None
    }

    /// The lines that answer a request for permission, with the user's reason where the agent can take one; none if nothing
    /// was requested.
    fn answer(&mut self, _request: &str, _option: Option<&str>, _reason: Option<&str>) -> Vec<String> {
        Vec::new()
    }

    /// The lines that end a turn.
    fn cancel(&mut self) -> Vec<String>;

    /// The agent has exited: how its turn ended, if no line said so.
    fn gone(&mut self, code: Option<i32>) -> Option<AgentTurnEnd>;

    /// Returns true if the agent's input stays open after the first lines.
    fn converses(&self) -> bool {
        true
    }
}
