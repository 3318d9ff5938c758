//! `punch hold`: puts a todo on hold for something that is not a todo.

use clap::Args;
use punch_core::{HoldKind, Op};
use serde_json::json;

use crate::environment::{clock, duration};
use crate::failure::Failure;
use crate::input;
use crate::named_todos::{act, native};
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch hold T-3 'needs a decision on the name'          # waits for you
  punch hold T-3 'deploy is running' --kind job
  punch hold T-3 'rate limit' --for 10m                  # ends by itself
  punch hold T-3 --kind parked                           # set aside until you take it off hold";

/// The arguments of `punch hold`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct HoldArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    /// What it is waiting for; `--kind parked` needs none
    #[arg(value_name = "REASON", required_unless_present = "kind")]
    reason: Option<String>,
    /// What kind of wait: human, external, timer, job, conflict, other, or parked to set it aside
    #[arg(long, value_name = "KIND", value_parser = input::hold_kind)]
    kind: Option<HoldKind>,
    /// End the hold after this time, for example 90s, 10m, 2h
    #[arg(long = "for", value_name = "TIME")]
    time: Option<String>,
}

impl HoldArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        // Only a timer ends by itself, so `--for` says that it is one.
        let kind = self.kind.or(self.time.as_ref().map(|_| HoldKind::Timer));
        let mismatch = match (kind, &self.time) {
            (Some(HoldKind::Timer), None) => Some("`--kind timer` needs `--for`, for example `--for 10m`".to_owned()),
            (Some(kind), Some(_)) if kind != HoldKind::Timer => {
                Some(format!("`--for` needs `--kind timer`, not `{}`", kind.name()))
            }
            _ => None,
        };
        if let Some(message) = mismatch {
            return Err(Failure::usage(&message, "`punch hold --help` shows examples"));
        }
        let mut op = json!({"op": "hold", "id": self.todo, "kind": kind.map(HoldKind::name), "reason": self.reason});
        if let Some(time) = &self.time {
            op["until"] = json!(clock()().saturating_add(duration(time)?));
        }
        let ops = native(&project, op)?;
        act(project, &[self.todo], &|refs| {
            let hold = |op: &Op| match (op, refs.first()) {
                (Op::Hold(_, hold), Some(r)) => Op::Hold(r.clone(), hold.clone()),
                (other, _) => other.clone(),
            };
            ops.iter().map(hold).collect()
        })
    }
}
