//! `punch reopen`: open closed todos again, or put a running one back.

use clap::Args;
use punch_core::Op;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch reopen T-3";

/// The arguments of `punch reopen`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Reopen {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl Reopen {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        act(project, &self.todos, &|refs| refs.iter().map(|r| Op::Reopen(r.clone())).collect())
    }
}
