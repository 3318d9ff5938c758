//! Errors that keep a run from beginning or end it early.

use std::io;

use punch_core::text;
use punch_engine::EngineError;

use crate::agent::SpecError;
use crate::permission::RuleError;
use crate::worktree::WorktreeError;

/// Why a run could not begin, or broke off.
#[derive(Debug)]
pub enum RunError {
    /// Another runner works on the plan.
    Taken {
        /// What the other runner wrote about itself into the lock file.
        by: String,
    },
    /// Check commands of todos are not approved.
    Consent {
        /// The first few todos, with their commands.
        todos: Vec<(String, String)>,
        /// The number of such todos.
        total: usize,
        /// True if an earlier version recorded approvals for some of them, which no longer count.
        outdated: bool,
    },
    /// The engine refused something, or the store failed.
    Engine(EngineError),
    /// A file of the run could not be read or written.
    File(io::Error),
    /// An agent of the options is unknown.
    Spec(SpecError),
    /// A permission rule is invalid.
    Rule(RuleError),
    /// The worktrees of the run cannot be created.
    Worktree(WorktreeError),
}

impl RunError {
    /// Returns the stable code that programs match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "run_taken",
            Self::Consent { .. } => "needs_consent",
            Self::Engine(error) => error.code(),
            Self::File(_) => "run_files",
            Self::Spec(_) => "no_agent",
            Self::Rule(_) => "no_rule",
            Self::Worktree(_) => "no_worktrees",
        }
    }

    /// Returns what is wrong.
    pub fn message(&self) -> String {
        match self {
            Self::Taken { by } => format!("another runner ({}) works on this plan", text::neutral(by)),
            Self::Consent { todos, total, .. } => {
                let lines = todos.iter().map(|(id, command)| {
                    let (id, command) = (text::clip(id, 80), text::clip(command, 200));
                    format!("\n  {}: {}", text::neutral(&id), text::neutral(&command))
                });
                let more = total.saturating_sub(todos.len());
                let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
                format!("these commands need your approval to run here:{}{more}", lines.collect::<String>())
            }
            Self::Engine(error) => error.message(),
            Self::File(error) => format!("the files of the run cannot be written: {error}"),
            Self::Spec(error) => error.message(),
            Self::Rule(error) => error.to_string(),
            Self::Worktree(error) => error.to_string(),
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Taken { .. } => "wait for its end, or stop it; `punch runs` lists what runs".to_owned(),
            Self::Consent { todos, outdated, .. } => {
                let first = todos.first().map(|(id, _)| text::shell(id).into_owned()).unwrap_or_default();
                match outdated {
                    true => format!(
                        "approvals from before this version no longer count; read the commands and run `punch verify \
                         --allow {first}`"
                    ),
                    false => format!("read them and run `punch verify --allow {first}`"),
                }
            }
            Self::Engine(error) => error.hint(),
            Self::File(_) => "look at the folder of the store: `punch store`".to_owned(),
            Self::Spec(error) => error.hint(),
            Self::Rule(error) => error.hint().to_owned(),
            Self::Worktree(error) => error.hint(),
        }
    }
}

impl From<EngineError> for RunError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<SpecError> for RunError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<WorktreeError> for RunError {
    fn from(error: WorktreeError) -> Self {
        Self::Worktree(error)
    }
}
