//! The verbs that do one thing with todos and take nothing but their names: `start`, `cancel`, `reopen` and `unclaim`.

use clap::Args;
use punch_core::{Op, Ref};
use punch_engine::EngineError;

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::VerbReply;

macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident asks for $op:expr, else $unchanged:literal, $examples:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Args)]
            #[command(after_help = $examples)]
            pub struct $verb {
                /// Ids, or parts of their texts
                #[arg(required = true, value_name = "TODO")]
                todos: Vec<String>,
            }

            impl $verb {
                /// Runs the verb.
                pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
                    let reply = act(project, &self.todos, &|refs| refs.iter().cloned().map($op).collect())?;
                    Ok(reply.or_unchanged($unchanged))
                }
            }
        )*
    };
}

verbs! {
    /// The arguments of `punch start`.
    Start asks for Op::Start, else "already in progress", "\
Examples:
  punch start T-3
  punch start 'fix login'      # by text, if only one fits
  punch start T-3 --owner ann  # claim it as `ann`, for the time set by `lease`";
    /// The arguments of `punch reopen`.
    Reopen asks for Op::Reopen, else "already open", "\
Examples:
  punch reopen T-3";
    /// The arguments of `punch unclaim`.
    Unclaim asks for Op::Unclaim, else "not claimed", "\
Examples:
  punch unclaim T-3            # free for anyone again; work on it resumes later
  punch unclaim T-3 --owner worker-1";
}

const CANCEL: &str = "\
Examples:
  punch cancel T-3
  punch cancel T-3 T-4         # `punch undo` or `punch reopen T-3` brings one back
  punch cancel T-3 --note 'the new parser does this'";

/// The arguments of `punch cancel`.
#[derive(Args)]
#[command(after_help = CANCEL)]
pub struct Cancel {
    /// Ids, or parts of their texts
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
    /// Why; stored as a note
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Cancel {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let ops = |r: &Ref| {
            let note = self.note.clone().map(|note| Op::Note(r.clone(), note));
            note.into_iter().chain([Op::Drop(r.clone())])
        };
        let reply = act(project, &self.todos, &|refs| refs.iter().flat_map(ops).collect());
        let reply = reply.map_err(|failure| match failure {
            Failure::Engine(error @ EngineError::NotFound { .. }) if self.todos.len() > 1 => Failure::refused(
                error.code(),
                error.message(),
                "`punch list` shows the ids; a reason goes into `--note '…'`",
            ),
            other => other,
        })?;
        Ok(reply.or_unchanged("already cancelled"))
    }
}
