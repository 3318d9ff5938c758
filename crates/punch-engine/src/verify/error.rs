//! Why a todo is not proven.

use std::time::Duration;

use punch_core::{Verify, text};

use super::words;
use crate::config::print_duration;

/// Lines of output that a message shows; all that is kept is with the todo.
const LINES: usize = 50;

/// Why a check did not speak for a todo. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// There is nothing to run.
    NoCommand {
        /// The todo.
        id: String,
    },
    /// The user has not approved the command.
    Consent {
        /// The todo.
        id: String,
        /// What would run.
        command: Verify,
        /// An earlier version recorded an approval, which no longer counts.
        outdated: bool,
    },
    /// It ran and said no.
    Failed {
        /// The todo.
        id: String,
        /// What ran.
        command: Verify,
        /// Its exit code.
        exit: i32,
        /// The end of what it printed.
        tail: String,
    },
    /// It took too long and was ended.
    Timeout {
        /// The todo.
        id: String,
        /// What ran.
        command: Verify,
        /// How long it was allowed to take.
        limit: Duration,
        /// The end of what it printed.
        tail: String,
    },
    /// It could not be started.
    NotStarted {
        /// The todo.
        id: String,
        /// What was to run.
        command: Verify,
        /// What the system said.
        why: String,
    },
    /// It was stopped from outside.
    Stopped {
        /// The todo.
        id: String,
    },
}

impl VerifyError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoCommand { .. } => "no_verify_command",
            Self::Consent { .. } => "needs_consent",
            Self::Failed { .. } => "verify_failed",
            Self::Timeout { .. } => "verify_timeout",
            Self::NotStarted { .. } => "verify_not_started",
            Self::Stopped { .. } => "verify_stopped",
        }
    }

    /// What is wrong, with the end of the output below it.
    pub fn message(&self) -> String {
        let clip = |text: &str, limit| text::clip(&text::neutral(text), limit).into_owned();
        let line = |command: &Verify| clip(&words(command), 500);
        let below = |tail: &str| {
            let lines: Vec<&str> = tail.trim_end().lines().collect();
            let (more, last) = lines.split_at(lines.len().saturating_sub(LINES));
            let more = (!more.is_empty()).then(|| format!("\n… {} lines before", more.len()));
            let last = last.iter().map(|line| format!("\n{}", text::neutral(line)));
            more.into_iter().chain(last).collect::<String>()
        };
        let id = clip(self.id(), 80);
        match self {
            Self::NoCommand { .. } => format!("`{id}` has no verify command"),
            Self::Consent { command, outdated, .. } => {
                let why = if *outdated { "; approvals from before this version no longer count" } else { "" };
                format!("`{}`, which checks `{id}`, needs the user's approval to run here{why}", line(command))
            }
            Self::Failed { command, exit, tail, .. } => {
                format!("`{id}` is not done: `{}` ended with exit code {exit}{}", line(command), below(tail))
            }
            Self::Timeout { command, limit, tail, .. } => {
                let limit = print_duration(*limit);
                format!("`{id}` is not done: `{}` was ended after {limit}{}", line(command), below(tail))
            }
            Self::NotStarted { command, why, .. } => {
                format!("`{id}` is not done: `{}` does not start: {}", line(command), clip(why, 300))
            }
            Self::Stopped { .. } => format!("the check of `{id}` was stopped"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let id = text::shell(self.id());
        match self {
            Self::NoCommand { .. } => format!("give it one with `punch edit {id} --verify COMMAND`"),
            Self::Consent { .. } => {
                format!("the user reads the command and, if it may run here, types `punch verify --allow {id}`")
            }
            Self::Failed { .. } => format!("repair what it found, then `punch verify {id}`"),
            Self::Timeout { .. } => {
                format!("run `punch verify {id}` in a shell; `punch config set verify.timeout 30m` gives more time")
            }
            Self::NotStarted { .. } => format!("correct it with `punch edit {id} --verify COMMAND`"),
            Self::Stopped { .. } => format!("`punch verify {id}` runs it again"),
        }
    }

    /// The todo that is not proven.
    pub fn id(&self) -> &str {
        match self {
            Self::NoCommand { id }
            | Self::Consent { id, .. }
            | Self::Failed { id, .. }
            | Self::Timeout { id, .. }
            | Self::NotStarted { id, .. }
            | Self::Stopped { id } => id,
        }
    }
}
