//! `punch guide`: instructions about the list for a system prompt or `AGENTS.md`.

use clap::Args;
use punch_agents::Adapter;
use punch_serve::guide;
use serde_json::json;

use super::install::agents;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch guide >> AGENTS.md
  punch guide --agent claude     # with the names that its tools have there
  punch install claude --guide   # adds it to CLAUDE.local.md; `uninstall` removes it

Agents connected to `punch mcp` get a shorter version from the server.";

/// The arguments of `punch guide`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GuideArgs {
    /// For this agent
    #[arg(long, value_name = "NAME", value_parser = agents())]
    agent: Option<&'static Adapter>,
}

impl GuideArgs {
    /// Runs the verb.
    pub fn run(self) -> VerbReply {
        let text = guide::standing(self.agent);
        VerbReply::new(text.clone(), json!({"agent": self.agent.map(|agent| agent.name), "text": text}))
    }
}
