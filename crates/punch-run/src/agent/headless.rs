//! An agent that its adapter can drive without a terminal.

use std::io;

use punch_agents::Adapter;
use punch_agents::headless::{Headless, HeadlessStart};

use super::{AgentProgram, AgentStart, RunningAgent, Sink, host};

/// A program with a mode without a terminal.
pub(super) struct HeadlessAgent {
    program: &'static str,
    command: String,
    headless: Box<dyn Headless>,
}

impl HeadlessAgent {
    /// `command` takes the place of the program's name, unless it is empty. `None` if the program has no such mode.
    pub fn new(agent: &'static Adapter, command: &str) -> Option<Self> {
        Some(Self { program: agent.program, command: command.to_owned(), headless: agent.headless?() })
    }
}

impl AgentProgram for HeadlessAgent {
    fn start(&self, assignment: &AgentStart, sink: Sink) -> io::Result<Box<dyn RunningAgent>> {
        let start = HeadlessStart {
            prompt: &assignment.prompt,
            server: &assignment.server,
            resume: assignment.resume.as_deref(),
            is_customized: !self.command.is_empty(),
        };
        let command = host::program(self.program, &self.command, &self.headless.arguments(&start));
        host::start(command, assignment, sink, self.headless.listener(&start))
    }
}
