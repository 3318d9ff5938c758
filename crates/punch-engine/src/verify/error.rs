//! Reasons why a todo could not be proven.

use std::time::Duration;

use punch_core::{Evidence, Verify, text};

use super::words;
use crate::config::print_duration;

/// Lines of output that a message for people shows.
const LINES: usize = 50;

/// Lines and bytes of output that a message for a model shows.
const SHORT_LINES: usize = 15;
const SHORT: usize = 1_200;

/// Why a check did not prove a todo. Nothing has changed.
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
        /// The command that needs approval.
        command: Verify,
        /// An earlier version recorded an approval, which no longer counts.
        outdated: bool,
    },
    /// The check ran and failed.
    Failed {
        /// The todo.
        id: String,
        /// The command that failed.
        command: Verify,
        /// The exit code of the command.
        exit: i32,
        /// The end of what it printed.
        tail: String,
    },
    /// It took too long and was ended.
    Timeout {
        /// The todo.
        id: String,
        /// The command that took too long.
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
        /// The command that could not start.
        command: Verify,
        /// The message of the system.
        why: String,
    },
    /// It has not ended yet.
    Running {
        /// The todo.
        id: String,
        /// The command that is running.
        command: Verify,
    },
    /// It was stopped from outside.
    Stopped {
        /// The todo.
        id: String,
    },
}

impl VerifyError {
    /// Calls the todo by another name.
    pub(crate) fn rename(&mut self, name: &dyn Fn(&str) -> String) {
        let (Self::NoCommand { id }
        | Self::Consent { id, .. }
        | Self::Failed { id, .. }
        | Self::Timeout { id, .. }
        | Self::NotStarted { id, .. }
        | Self::Running { id, .. }
        | Self::Stopped { id }) = self;
        *id = name(id);
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoCommand { .. } => "no_verify_command",
            Self::Consent { .. } => "needs_consent",
            Self::Failed { .. } => "verify_failed",
            Self::Timeout { .. } => "verify_timeout",
            Self::NotStarted { .. } => "verify_not_started",
            Self::Running { .. } => "verify_running",
            Self::Stopped { .. } => "verify_stopped",
        }
    }

    /// What is wrong, with the end of the output below it.
    pub fn message(&self) -> String {
        self.with_output(LINES, usize::MAX)
    }

    /// What is wrong, with the last lines of the output: short enough for a model's context.
    pub fn short_message(&self) -> String {
        self.with_output(SHORT_LINES, SHORT)
    }

    /// The check as it is stored with its todo; `None` if nothing ran, or if it was stopped from outside.
    pub(crate) fn found(&self) -> Option<Evidence> {
        let (command, exit_code, text) = match self {
            Self::Failed { command, exit, tail, .. } => (command, Some(*exit), tail.clone()),
            Self::Timeout { command, limit, tail, .. } => {
                (command, None, format!("{}\n(stopped after {})", tail.trim_end(), print_duration(*limit)))
            }
            Self::NotStarted { command, why, .. } => (command, None, format!("it does not start: {why}")),
            Self::NoCommand { .. } | Self::Consent { .. } => return None,
            Self::Running { .. } | Self::Stopped { .. } => return None,
        };
        let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Evidence { text, command: Some(command.clone()), exit_code, ..Evidence::default() })
    }

    fn with_output(&self, most: usize, bytes: usize) -> String {
        let clip = |text: &str, limit| text::clip(&text::neutral(text), limit).into_owned();
        let line = |command: &Verify| clip(&words(command), 500);
        let below = |tail: &str| {
            let lines: Vec<&str> = tail.trim_end().lines().collect();
            let mut left = bytes;
            let fits = |line: &&&str| {
                let fits = line.len() < left;
                left = left.saturating_sub(line.len() + 1);
                fits
            };
            // The last line is always shown, if only its end.
            let shown = lines.iter().rev().take(most).take_while(fits).count().max(1);
            let (more, last) = lines.split_at(lines.len().saturating_sub(shown));
            let more = (!more.is_empty()).then(|| match more.len() {
                1 => "\n… 1 earlier line".to_owned(),
                lines => format!("\n… {lines} earlier lines"),
            });
            let end = |line: &str| {
                let from = line.len().saturating_sub(bytes);
                let from = (from..=line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or_default();
                text::neutral(&line[from..]).into_owned()
            };
            let last = last.iter().map(|line| format!("\n{}", end(line)));
            more.into_iter().chain(last).collect::<String>()
        };
        let id = clip(self.id(), 80);
        match self {
            Self::NoCommand { .. } => format!("`{id}` has no check command"),
            Self::Consent { command, outdated, .. } => {
                let why = if *outdated { "; approvals given to an earlier version no longer count" } else { "" };
                format!("the check `{}` of `{id}` has not been approved yet{why}", line(command))
            }
            Self::Failed { command, exit, tail, .. } => {
                format!("the check of `{id}` failed (exit code {exit}): `{}`{}", line(command), below(tail))
            }
            Self::Timeout { command, limit, tail, .. } => {
                let limit = print_duration(*limit);
                format!("the check of `{id}` was stopped after {limit}: `{}`{}", line(command), below(tail))
            }
            Self::NotStarted { command, why, .. } => {
                format!("the check of `{id}` cannot be started: `{}`: {}", line(command), clip(why, 300))
            }
            Self::Running { command, .. } => {
                format!("`{id}` is reported as done, and its check is still running: `{}`", line(command))
            }
            Self::Stopped { .. } => format!("the check of `{id}` was stopped"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let id = text::shell(self.id());
        match self {
            Self::NoCommand { .. } => format!("add one with `punch edit {id} --verify COMMAND`"),
            Self::Consent { .. } => {
                format!("review the command, then run `punch verify --allow {id}` in your own terminal")
            }
            Self::Failed { .. } => format!("fix the problem, then run `punch verify {id}`"),
            Self::Timeout { .. } => {
                format!(
                    "run `punch verify {id}` in a shell, or allow more time with `punch config set verify.timeout 30m`"
                )
            }
            Self::NotStarted { .. } => format!("fix it with `punch edit {id} --verify COMMAND`"),
            Self::Running { .. } => "continue with another todo; the check decides about this one".to_owned(),
            Self::Stopped { .. } => format!("run `punch verify {id}` again"),
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
            | Self::Running { id, .. }
            | Self::Stopped { id } => id,
        }
    }
}
