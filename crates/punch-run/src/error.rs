//! Why a run cannot begin or go on.

use std::io;

use punch_core::text;
use punch_engine::EngineError;

use crate::agent::SpecError;
use crate::permission::RuleError;
use crate::worktree::WorktreeError;

/// Why a run did not come to an end of its own.
#[derive(Debug)]
pub enum RunError {
    /// Another runner works on the plan.
    Taken {
        /// What it says about itself.
        by: String,
    },
    /// Commands that would verify todos may not run.
    Consent {
        /// Todos with their commands, the first of them.
        todos: Vec<(String, String)>,
        /// How many there are.
        total: usize,
        /// An earlier version recorded approvals of some, which no longer count.
        outdated: bool,
    },
    /// The plan or its store.
    Engine(EngineError),
    /// A file of the run.
    File(io::Error),
    /// An agent that is none.
    Spec(SpecError),
    /// A rule about permissions that is none.
    Rule(RuleError),
    /// Work trees cannot be made.
    Worktree(WorktreeError),
}

impl RunError {
    /// The stable code.
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

    /// What is wrong.
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

    /// What to do about it.
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
            Self::Spec(error) => error.hint().to_owned(),
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
