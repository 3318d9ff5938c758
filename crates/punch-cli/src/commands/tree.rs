//! `punch tree`: the older name of `punch list --tree`, with what was closed a moment ago.

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::view::{hide, phase_tree};
use serde_json::json;

use super::list;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};
use crate::style::OutputStream;
use crate::{output, safety};

const EXAMPLES: &str = "\
Examples:
  punch tree
  punch tree --all           # closed todos too, however old";

/// The arguments of `punch tree`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TreeArgs {
    /// Show every todo; this is what it does anyway
    #[arg(long, short, hide = true)]
    expand: bool,
    /// Include closed todos, however long ago they were closed
    #[arg(long, short)]
    all: bool,
}

impl TreeArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(list::empty()) };
        let plan = open.whole()?;
        let now = open.engine.now();
        let mut todos = if self.all { plan.live() } else { hide::visible(&plan, open.project.clear_delay(), now) };
        if open.project.global.json {
            let phases: Vec<&str> = plan.row.phases.iter().map(|p| p.name.as_str()).collect();
            let records = reply::records(&plan, todos.iter().copied(), now);
            return Ok(VerbReply::new("", json!({"phases": phases, "todos": records})));
        }
        if todos.is_empty() {
            return Ok(list::empty());
        }
        let hidden = todos.len().saturating_sub(list::ON_A_TERMINAL);
        if hidden > 0 && OutputStream::Out.is_terminal() {
            output::remark(&format!(
                "{} not shown; `punch list --tree -n {}` shows all",
                safety::count(hidden as u64, "more todo"),
                todos.len()
            ));
            todos.truncate(list::ON_A_TERMINAL);
        }
        Ok(VerbReply::new(phase_tree::lines(PlanReader::new(&plan, now), &todos, open.project.layout(now)), json!({})))
    }
}
