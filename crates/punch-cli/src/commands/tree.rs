//! `punch tree`: the plan by phases.

use clap::Args;
use punch_core::view::{Cap, Tree as View, hide};
use serde_json::json;

use super::list;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, Reply};

const EXAMPLES: &str = "\
Examples:
  punch tree
  punch tree --expand        # everything, not only the first eight
  punch tree --all           # closed todos too, however old";

/// The arguments of `punch tree`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Tree {
    /// Show every todo
    #[arg(long, short)]
    expand: bool,
    /// Closed todos too, however long ago they were closed
    #[arg(long)]
    all: bool,
}

impl Tree {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(list::empty()) };
        let plan = open.engine.whole(open.plan)?;
        let now = open.engine.now();
        let todos = if self.all { plan.live() } else { hide::visible(&plan, open.project.clear_delay(), now) };
        if open.project.global.json {
            let phases: Vec<&str> = plan.row.phases.iter().map(|p| p.name.as_str()).collect();
            let records = reply::records(&plan, todos.iter().copied(), now);
            return Ok(Reply::new("", json!({"phases": phases, "todos": records})));
        }
        let view = View {
            now,
            width: Some(open.project.width()),
            expanded: self.expand,
            native: true,
            glyphs: open.project.glyphs(),
            cap: if self.expand { Cap::new(100_000, 16 << 20) } else { Cap::default() },
        };
        Ok(Reply::new(view.draw(&plan, &todos), json!({})))
    }
}
