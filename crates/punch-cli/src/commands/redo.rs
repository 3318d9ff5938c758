//! `punch redo`: undo the caller's latest undo, as a new revision.

use clap::Args;
use punch_core::Refusal;
use punch_engine::{EngineError, WriteRequest};

use super::undo;
use crate::failure::Failure;
use crate::project::{Project, never_freed};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch redo                 # brings back what you undid last
  punch undo 14              # undoes the undo in revision 14

Changes that you made since then do not matter, unless they changed the same fields.";

/// The arguments of `punch redo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RedoArgs {}

impl RedoArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = project.read()?.plan().ok_or(EngineError::from(Refusal::NothingToRedo { others: None }))?;
        let request = WriteRequest { detail: true, ..open.project.request() };
        let changed = never_freed(open.engine.redo(open.plan, &request)?);
        undo::answer(&open, &changed)
    }
}
