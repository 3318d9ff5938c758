//! `punch renew`: extends the lease of a claim.

use clap::Args;
use punch_core::Op;
use serde_json::json;

use crate::environment::{clock, duration, span};
use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch renew T-7 --owner worker-1 --lease 30m";

/// The arguments of `punch renew`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RenewArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    /// How long the claim lasts from now, for example 90s, 15m, 2h
    #[arg(long, value_name = "TIME")]
    lease: Option<String>,
}

impl RenewArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let lease = match &self.lease {
            Some(lease) => duration(lease)?,
            None => project.config.settings.lease_ms(),
        };
        let until = clock()().saturating_add(lease);
        let mut reply = act(project, &[self.todo], &|refs| refs.iter().map(|r| Op::Renew(r.clone(), until)).collect())?;
        reply.json["leaseUntil"] = json!(until);
        reply.body.push(format!("lease {}", span(lease)));
        Ok(reply)
    }
}
