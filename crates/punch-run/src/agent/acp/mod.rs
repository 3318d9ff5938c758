//! Any agent that speaks the Agent Client Protocol, version 1: one process, one session, prompt after prompt.
//!
//! The messages are read and written here; the protocol's own crate reads lines of any length and wants a runtime.

mod client;
mod spent;
mod update;

use std::io;

use self::client::Client;
use super::{Agent, Assignment, Running, Sink, host};

/// An agent behind the protocol.
pub(super) struct Acp {
    command: String,
}

impl Acp {
    /// A line for the shell that starts it.
    pub fn new(command: &str) -> Self {
        Self { command: command.to_owned() }
    }
}

impl Agent for Acp {
    fn start(&self, assignment: &Assignment, sink: Sink) -> io::Result<Box<dyn Running>> {
        host::start(host::program("acp", &self.command, &[]), assignment, sink, Box::new(Client::new(assignment)))
    }
}
