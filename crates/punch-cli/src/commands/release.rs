//! `punch release`: end the hold of todos.

use clap::Args;
use punch_core::Op;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch release T-3";

/// The arguments of `punch release`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Release {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl Release {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        act(project, &self.todos, &|refs| refs.iter().map(|r| Op::Release(r.clone())).collect())
    }
}
