//! `punch start`: begin work on todos, which is a claim.

use clap::Args;
use punch_core::Op;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch start T-3
  punch start 'fix login'      # by content, if only one fits
  punch start T-3 --owner ann  # claim it for `ann`, as long as `lease` says";

/// The arguments of `punch start`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Start {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl Start {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        act(project, &self.todos, &|refs| refs.iter().map(|r| Op::Start(r.clone())).collect())
    }
}
