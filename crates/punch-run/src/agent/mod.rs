//! Agents as the runner sees them: started on an assignment, they report neutral events, may take further prompts, and
//! can be stopped. The adapters in `punch-agents` understand what a particular program prints.

mod acp;
mod exec;
mod headless;
mod host;
mod sink;
mod spec;
mod stream;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

pub use acp::acp_listener;
pub use exec::LimitSigns;
pub use punch_agents::headless::{AgentEvent, AgentPlanEntry, AgentTurnEnd, PermissionRequest, TokenSpending};
pub use sink::{AgentReport, Sink, reports};
pub use spec::{AgentKind, AgentSpec, SpecError};
pub use stream::{LINE, LOG_LIMIT, Out, StreamLines};

/// What an agent is started on.
#[derive(Clone, Debug)]
pub struct AgentStart {
    /// The prompt. The first line names the ids of its todos.
    pub prompt: String,
    /// The folder in which the agent works.
    pub folder: PathBuf,
    /// The log of its output, limited to [`LOG_LIMIT`]. An existing log is appended to.
    pub log: PathBuf,
    /// The session file that the runner, our server and our hooks share.
    pub session: PathBuf,
    /// How our MCP server is started for this agent: program, then arguments.
    pub server: Vec<String>,
    /// The conversation of the host to resume, where there was one and the agent can.
    pub resume: Option<String>,
    /// Variables for its environment, over those that are inherited.
    pub environment: Vec<(String, String)>,
    /// Variables that it must not inherit: those by which an agent around us marks what it starts.
    pub without: Vec<String>,
}

impl AgentStart {
    /// Gives a command its folder and its environment.
    pub fn prepare(&self, command: &mut Command) {
        command.current_dir(&self.folder);
        for name in &self.without {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }
}

/// A kind of agent that can be started.
pub trait AgentProgram: Send + Sync {
    /// Starts it on an assignment. From then on it reports into the sink: [`AgentEvent::TurnEnded`] whenever a turn is over,
    /// and [`AgentEvent::Exited`] last and exactly once, whatever happens, with nothing of it left behind.
    fn start(&self, assignment: &AgentStart, sink: Sink) -> io::Result<Box<dyn RunningAgent>>;
}

/// An agent at work. Dropping it ends it with everything it has started.
pub trait RunningAgent: Send {
    /// Gives a further prompt in the same conversation after a turn has ended. Returns false if the agent cannot take
    /// one: the caller then starts it again, with [`AgentStart::resume`] if the host has reported its session.
    fn say(&mut self, prompt: &str) -> io::Result<bool>;

    /// Answers a permission request with one of its options; `None` refuses it in whatever way the agent supports.
    /// Agents whose protocol has no field for the reason read it before the next prompt.
    fn answer(&mut self, request: &str, option: Option<&str>, reason: Option<&str>) -> io::Result<()>;

    /// Asks it to stop its turn and end. It may not listen.
    fn cancel(&mut self);

    /// Ends it now, with everything it has started. [`AgentEvent::Exited`] still comes.
    fn kill(&mut self);

    /// Sees to it that nothing of it would outlive a sudden end of this process. To be called now and then.
    fn tend(&mut self);

    /// When it last printed something: a sign of life, also where it is only half a line or nobody had time to hear it.
    fn printed(&self) -> Instant;

    /// The number of its process.
    fn pid(&self) -> u32;
}

/// The agent that a spec names. `limits` are the signs of a program that has no adapter.
pub fn agent(spec: &AgentSpec, limits: &LimitSigns) -> Result<Box<dyn AgentProgram>, SpecError> {
    match spec.kind {
        AgentKind::Exec => Ok(Box::new(exec::ExecAgent::new(&spec.command, limits.clone()))),
        AgentKind::Acp => Ok(Box::new(acp::AcpAgent::new(&spec.command))),
        AgentKind::Headless(program) => match headless::HeadlessAgent::new(program, &spec.command) {
            Some(agent) => Ok(Box::new(agent)),
            None => Err(SpecError::Unknown { given: spec.to_string() }),
        },
    }
}
