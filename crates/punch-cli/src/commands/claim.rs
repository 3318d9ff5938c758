//! `punch claim`: the best ready todo, or a named one, for one owner, under a lease.

use clap::Args;
use punch_core::{Plan, text};
use serde_json::json;

use super::{list, ready};
use crate::environment::{duration, span};
use crate::failure::Failure;
use crate::guard;
use crate::project::Project;
use crate::reply::{self, Body, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch claim --owner worker-1
  punch claim T-7 --owner worker-1 --lease 30m --json     # todo, fence, leaseUntil";

/// The arguments of `punch claim`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimArgs {
    /// An id, or a part of the text; without it the best ready todo
    #[arg(value_name = "TODO")]
    todo: Option<String>,
    /// How long the claim lasts unless renewed, for example 90s, 15m, 2h
    #[arg(long, value_name = "TIME")]
    lease: Option<String>,
}

impl ClaimArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        guard::only_outside_runs("claim todos")?;
        if project.actor().owner().is_none() {
            return Err(Failure::usage("a claim needs an owner", "say who claims it: `--owner NAME` or PUNCH_OWNER"));
        }
        let lease = match &self.lease {
            Some(lease) => duration(lease)?,
            None => project.config.settings.lease_ms(),
        };
        let Some(open) = project.read()?.plan() else { return Ok(nothing(list::empty().body)) };
        let request = open.project.request();
        let claimed = match &self.todo {
            Some(todo) => {
                let uid = open.engine.resolve(open.plan, todo)?;
                Some(open.engine.claim(open.plan, &request, uid, lease)?)
            }
            None => open.engine.claim_next(open.plan, &request, lease)?,
        };
        let Some(claimed) = claimed else {
            let plan = open.engine.read(open.plan, |snapshot| Ok(Plan::slice(snapshot.row()?)))?;
            return Ok(nothing(ready::nothing_ready(&plan)));
        };
        let mut reply = reply::changed(&claimed.changed, &[claimed.uid], &open.project);
        if let Some(todo) = claimed.changed.plan.get(claimed.uid) {
            reply.json["fence"] = json!(todo.fence);
            reply.json["leaseUntil"] = json!(todo.lease_until);
            let owner = text::neutral(todo.owner.as_deref().unwrap_or_default()).into_owned();
            reply.body.push(format!("claimed by {owner} for {}", span(lease)));
        }
        Ok(reply)
    }
}

fn nothing(why: impl Into<Body>) -> VerbReply {
    VerbReply::new(why, json!({"todo": null, "fence": null, "leaseUntil": null}))
}
