//! `punch fail`: reports a failed attempt. The first one is retried, the second one is final.

use clap::Args;
use punch_core::{ATTEMPTS, EventKind, Op, Ref};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};
use crate::safety;

const EXAMPLES: &str = "\
Examples:
  punch fail T-3 'the API answers 500'";

/// The arguments of `punch fail`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct FailArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    /// What went wrong; stored with the attempt
    #[arg(value_name = "ERROR", default_value = "", hide_default_value = true, conflicts_with = "flag")]
    error: String,
    /// The older way to say what went wrong
    #[arg(id = "flag", long = "error", short = 'e', value_name = "TEXT", hide = true)]
    error_flag: Option<String>,
}

impl FailArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let names = [self.todo];
        let error = self.error_flag.unwrap_or(self.error);
        let open = project.open_named(&names)?;
        let ops = |refs: &[Ref]| refs.iter().map(|r| Op::Fail(r.clone(), error.clone())).collect();
        let (changed, uids) = open.engine.submit_named(open.plan, &open.project.request(), &names, &ops)?;
        let mut reply = reply::changed(&changed, &uids, &open.project);
        let counted = changed.outcome.events.iter().any(|event| event.kind == EventKind::Failed);
        if let Some(todo) = uids.first().and_then(|uid| changed.plan.get(*uid)) {
            reply.body.push(match todo.status.is_open() {
                _ if !counted => "it had already failed; only the error was updated".to_owned(),
                true => {
                    let left = safety::count(u64::from(ATTEMPTS.saturating_sub(todo.attempts)), "attempt");
                    format!("attempt {} of {ATTEMPTS} failed; {left} left", todo.attempts)
                }
                false => format!("failed after {}", safety::count(u64::from(todo.attempts), "attempt")),
            });
        }
        Ok(reply)
    }
}
