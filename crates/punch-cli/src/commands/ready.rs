//! `punch ready`: what can be started now, best first.

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::{Plan, Todo, Uid};
use punch_engine::ReadyQuery;
use serde_json::json;

use super::list;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};
use crate::safety;

const EXAMPLES: &str = "\
Examples:
  punch ready
  punch ready --limit 3 --json";

/// The arguments of `punch ready`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReadyArgs {
    /// Show at most N todos
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

impl ReadyArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(list::empty()) };
        let now = open.engine.now();
        let (json, own) = (open.project.global.json, open.assigned_todos()?);
        let (plan, uids) = open.engine.read(open.plan, |snapshot| {
            let mut plan = Plan::slice(snapshot.row()?);
            let query = ReadyQuery { scope: own.as_deref(), ..ReadyQuery::of_plan(now) };
            let ready = query.ready(snapshot, self.limit)?;
            let uids: Vec<Uid> = ready.iter().map(|t| t.uid).collect();
            ready.into_iter().for_each(|todo| plan.put(todo));
            if json {
                reply::load_names(snapshot, &mut plan, &uids)?;
            }
            Ok((plan, uids))
        })?;
        let todos: Vec<&Todo> = uids.iter().filter_map(|uid| plan.get(*uid)).collect();
        if json {
            let records = reply::records(&plan, todos.iter().copied(), now);
            return Ok(VerbReply::new("", json!({"todos": records})));
        }
        if !todos.is_empty() {
            let layout = open.project.layout(now);
            return Ok(VerbReply::new(reply::table(PlanReader::new(&plan, now), todos, layout), json!({})));
        }
        Ok(VerbReply::new(nothing_ready(&plan), json!({})))
    }
}

/// Says that nothing can be started, and where to look for the reason.
pub(super) fn nothing_ready(plan: &Plan) -> String {
    match plan.row.counts.open() {
        0 => nothing_open(plan),
        1 => "Nothing is ready; 1 todo is open. `punch why` shows what it is waiting for.".to_owned(),
        open => format!("Nothing is ready; {open} todos are open. `punch why` shows what they are waiting for."),
    }
}

/// Says that no work is left to begin, and whether some of it failed.
pub(super) fn nothing_open(plan: &Plan) -> String {
    match plan.row.counts.failed {
        0 => "Nothing is open.".to_owned(),
        failed => format!("Nothing is open; {} (`punch list --failed`).", safety::count(failed, "todo") + " failed"),
    }
}
