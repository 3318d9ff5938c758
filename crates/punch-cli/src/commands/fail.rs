//! `punch fail`: report a failed attempt. The first one is retried, the second one ends it.

use clap::Args;
use punch_core::Op;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch fail T-3 --error 'the API answers 500'";

/// The arguments of `punch fail`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Fail {
    /// An id, or a part of the content
    #[arg(value_name = "TODO")]
    todo: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    error: String,
}

impl Fail {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        act(project, &[self.todo], &|refs| refs.iter().map(|r| Op::Fail(r.clone(), self.error.clone())).collect())
    }
}
