//! `punch drop`: give todos up on purpose.

use clap::Args;
use punch_core::Op;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch drop T-3";

/// The arguments of `punch drop`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Drop {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl Drop {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        act(project, &self.todos, &|refs| refs.iter().map(|r| Op::Drop(r.clone())).collect())
    }
}
