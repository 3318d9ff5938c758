//! Errors that keep a run from starting or end it early.

use std::io;

use punch_core::{ErrorValue, text};
use punch_engine::EngineError;

use crate::agent::SpecError;
use crate::permission::RuleError;
use crate::worktree::WorktreeError;

punch_core::errors! {
    /// Why a run could not begin, or broke off.
    #[derive(Debug)]
    pub enum RunError {
        /// A worker did not reach the store in time, so its agents were ended.
        CutOff: "worker_cut_off",
            ("the store could not be reached for too long, so this worker ended its agents"),
            ("the worker continues once the store answers again; others may have taken over its todos");
        /// Another worker works in the same clone of the repository.
        CloneTaken { by: String }: "worker_clone_taken",
            ("another worker works in this clone of the repository ({by})"),
            ("give each worker a clone of its own: `git clone URL another-folder`");
    }
    from {
        /// Check commands of todos are not approved.
        Consent(missing: MissingApprovals) => "needs_consent", missing.message(), missing.hint();
        /// The engine refused something, or the store failed.
        Engine(error: EngineError) => error.code(), error.message(), error.hint();
        /// A file of the run could not be read or written.
        File(error: io::Error) => "run_files",
            format!("cannot write the files of the run: {error}"),
            "`punch store info` shows the folder; check its permissions and the free space".to_owned();
        /// An agent of the options is unknown.
        Spec(error: SpecError) => "no_agent", error.message(), error.hint();
        /// A permission rule is invalid.
        Rule(error: RuleError) => "no_rule", error.to_string(), error.hint().to_owned();
        /// The worktrees of the run cannot be created.
        Worktree(error: WorktreeError) => "no_worktrees", error.message(), error.hint();
    }
}

/// Todos whose check commands are not approved.
#[derive(Debug)]
pub struct MissingApprovals {
    /// The first few todos, with their commands.
    pub todos: Vec<(String, String)>,
    /// The number of such todos.
    pub total: usize,
    /// True if an earlier version recorded approvals for some of them, which no longer count.
    pub outdated: bool,
}

impl MissingApprovals {
    fn message(&self) -> String {
        let lines = self.todos.iter().map(|(id, command)| format!("\n  {}: {}", id.shown(), command.shown()));
        let more = self.total.saturating_sub(self.todos.len());
        let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
        format!("these check commands need your approval before they run here:{}{more}", lines.collect::<String>())
    }

    fn hint(&self) -> String {
        let why = if self.outdated { "approvals given to an earlier version no longer count; " } else { "" };
        let first = self.todos.first().map(|(id, _)| text::shell(id)).unwrap_or_default();
        format!("{why}review them, then run `punch verify --allow {first}`")
    }
}
