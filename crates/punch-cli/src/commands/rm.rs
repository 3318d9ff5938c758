//! `punch rm`: archive todos. Many at once only with `--all` or `--phase`.

use clap::Args;
use punch_core::{ApplyStop, Footprint, Op, Plan, Ref};
use serde_json::json;

use crate::failure::Failure;
use crate::guard;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::{self, VerbReply};
use crate::safety;

const EXAMPLES: &str = "\
Examples:
  punch rm T-3
  punch rm --phase Docs
  punch rm --all            # `punch undo` brings them back";

/// The arguments of `punch rm`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RmArgs {
    /// Ids, or parts of their texts
    #[arg(required_unless_present_any = ["all", "phase"], conflicts_with_all = ["all", "phase"], value_name = "TODO")]
    todos: Vec<String>,
    /// Every todo of the plan
    #[arg(long, conflicts_with = "phase")]
    all: bool,
    /// Every todo of this phase
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
}

impl RmArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        if !self.all && self.phase.is_none() {
            return act(project, &self.todos, &|refs| refs.iter().map(|r| Op::Rm(r.clone())).collect());
        }
        if self.all {
            guard::only_user("archive every todo at once")?;
        }
        let open = project.write()?;
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            plan.need_whole()?;
            let phase = self.phase.as_deref().map(|name| plan.row.phase_named(name)).transpose()?;
            let meant = plan.live().into_iter().filter(|t| phase.is_none() || t.phase == phase);
            Ok(meant.map(|t| Op::Rm(Ref::Uid(t.uid))).collect())
        };
        let request = open.project.request();
        let changed = open.engine.submit_with(open.plan, &request, &Footprint::everything(), &mut ask)?;
        let gone = changed.outcome.rows.iter().filter(|t| !t.is_live()).count();
        let mut reply = reply::changed(&changed, &[], &open.project);
        let them = if gone == 1 { "it" } else { "them" };
        reply.body = format!("{} archived; `punch undo` brings {them} back", safety::count(gone as u64, "todo")).into();
        reply.json["removed"] = json!(gone);
        Ok(reply)
    }
}
