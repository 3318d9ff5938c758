//! Agents as the runner sees them: something that is started on an assignment, reports neutral events, may take a
//! further prompt, and can be ended. What a particular program prints is understood by its adapter in `punch-agents`.

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

pub use exec::LimitSigns;
pub use punch_agents::headless::{Event, Finish, Permission, PlanEntry, Spending};
pub use sink::{Report, Sink, reports};
pub use spec::{Kind, Spec, SpecError};
pub use stream::{LINE, LOG_LIMIT, Lines, Out};

/// What an agent is started on.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The prompt. The first line names the ids of its todos.
    pub prompt: String,
    /// Where it works.
    pub folder: PathBuf,
    /// Where what it prints is kept, within [`LOG_LIMIT`]. An existing log is added to.
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

impl Assignment {
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
pub trait Agent: Send + Sync {
    /// Starts it on an assignment. From then on it reports into the sink: [`Event::TurnEnded`] whenever a turn is over,
    /// and [`Event::Exited`] last and exactly once, whatever happens, with nothing of it left behind.
    fn start(&self, assignment: &Assignment, sink: Sink) -> io::Result<Box<dyn Running>>;
}

/// An agent at work. Dropping it ends it with everything it has started.
pub trait Running: Send {
    /// Gives a further prompt in the same conversation after a turn has ended. False if it can take none: then the
    /// caller starts it anew, with [`Assignment::resume`] where the host has told its session.
    fn say(&mut self, prompt: &str) -> io::Result<bool>;

    /// Answers a permission request with one of its options; `None` refuses it in whatever way the agent knows.
    /// Agents whose protocol has no room for the reason read it before the next prompt.
    fn answer(&mut self, request: &str, option: Option<&str>, reason: Option<&str>) -> io::Result<()>;

    /// Asks it to stop its turn and end. It may not listen.
    fn cancel(&mut self);

    /// Ends it now, with everything it has started. [`Event::Exited`] still comes.
    fn kill(&mut self);

    /// Sees to it that nothing of it would outlive a sudden end of this process. To be called now and then.
    fn tend(&mut self);

    /// When it last printed something: a sign of life, also where it is only half a line or nobody had time to hear it.
    fn printed(&self) -> Instant;

    /// The number of its process.
    fn pid(&self) -> u32;
}

/// The agent that a spec names. `limits` are the signs of a program that has no adapter.
pub fn agent(spec: &Spec, limits: &LimitSigns) -> Result<Box<dyn Agent>, SpecError> {
    match spec.kind {
        Kind::Exec => Ok(Box::new(exec::Exec::new(&spec.command, limits.clone()))),
        Kind::Acp => Ok(Box::new(acp::Acp::new(&spec.command))),
        Kind::Headless(program) => match headless::HeadlessAgent::new(program, &spec.command) {
            Some(agent) => Ok(Box::new(agent)),
            None => Err(SpecError::Unknown { given: spec.to_string() }),
        },
    }
}
