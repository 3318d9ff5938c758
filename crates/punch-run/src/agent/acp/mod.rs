//! Any agent that speaks the Agent Client Protocol, version 1: one process, one session, prompt after prompt.
//!
//! The messages are read and written here; the protocol's own crate reads lines of any length and wants a runtime.

mod client;
mod spent;
mod update;

use std::io;

use punch_agents::headless::AgentListener;

use self::client::AcpClient;
use super::{AgentProgram, AgentStart, RunningAgent, Sink, host};

/// The client of the protocol, for one start of an agent: it understands the lines that the agent prints.
pub fn acp_listener(assignment: &AgentStart) -> Box<dyn AgentListener> {
    Box::new(AcpClient::new(assignment))
}

/// An agent behind the protocol.
pub(super) struct AcpAgent {
    command: String,
}

impl AcpAgent {
    /// A line for the shell that starts it.
    pub fn new(command: &str) -> Self {
        Self { command: command.to_owned() }
    }
}

impl AgentProgram for AcpAgent {
    fn start(&self, assignment: &AgentStart, sink: Sink) -> io::Result<Box<dyn RunningAgent>> {
        host::start(host::program("acp", &self.command, &[]), assignment, sink, acp_listener(assignment))
    }
}
