//! Todos that an agent called done while their check has not passed, and what a model reads about them until it does:
//! the command, its exit code, the end of its output, and what to do. Commands and output are quoted as data.

use serde::{Deserialize, Serialize};

use super::facts::CLIPPED;
use super::quote;
use crate::text::{clip, shell};
use crate::{Status, Todo};

/// Todos that are named, the first of them with its output.
pub const UNPROVEN: usize = 4;
/// Bytes of an id, of a command, and of a command that is only mentioned.
const ID: usize = 40;
const COMMAND: usize = 100;
const MENTIONED: usize = 40;
/// Lines and bytes of output.
const LINES: usize = 8;
const TAIL: usize = 320;

/// A todo that stays open because its check has not passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unproven {
    /// The id of the todo.
    pub id: String,
    /// Its verify command, on one line.
    pub command: String,
    /// How the last run ended, as the end of a sentence; `None` if no run has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The end of what that run printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// What the check waits for, if the todo is reported as done and nothing has decided about it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingCheck>,
    /// How often an agent called it done and the check failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The session's own list cannot complete it any more: only `punch verify` can.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// Punchlist runs the check again by itself when the session stops.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_itself: bool,
}

/// What a check waits for that has to decide about a reported todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingCheck {
    /// Its end: it is running.
    Running,
    /// The approval of its command.
    Approval,
}

/// How the check of a todo that is called done again gets to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextRun {
    /// The session's own tool runs it.
    #[default]
    Tool,
    /// Punchlist runs it by itself when the session stops.
    ByItself,
    /// Only `punch verify` runs it.
    Shell,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Unproven {
    /// An open todo with a verify command; `None` for any other. Texts are cut, since facts are stored.
    pub fn of(todo: &Todo, next_run: NextRun) -> Option<Self> {
        let command = todo.verify.as_ref().filter(|_| todo.is_live() && todo.status != Status::Completed)?;
        let is_pending = todo.flags.reported && todo.status == Status::InProgress;
        let failed = todo.failed_check().filter(|_| !is_pending);
        Some(Self {
            id: clip(&todo.id, CLIPPED).into_owned(),
            command: clip(&command.line(), CLIPPED).into_owned(),
            outcome: failed.map(crate::Evidence::outcome),
            tail: failed.and_then(|check| check.text.as_deref()).map(end_of).unwrap_or_default(),
            pending: is_pending.then_some(PendingCheck::Running),
            attempts: failed.map_or(0, |_| todo.attempts),
            shell: next_run == NextRun::Shell,
            by_itself: next_run == NextRun::ByItself,
        })
    }

    /// Says that the check cannot run before the user has approved its command, if it has not run.
    #[must_use]
    pub fn awaiting_approval(self) -> Self {
        let pending = if self.outcome.is_none() { Some(PendingCheck::Approval) } else { self.pending };
        Self { pending, ..self }
    }

    /// The id, the command and how it ended, on half a line.
    pub fn mention(&self) -> String {
        let outcome = match self.pending {
            Some(PendingCheck::Running) => "is running",
            Some(PendingCheck::Approval) => "needs approval",
            None => self.outcome.as_deref().unwrap_or("has not passed yet"),
        };
        format!("{} (`{}` {outcome})", quote(&self.id, ID), quote(&self.command, MENTIONED))
    }
}

/// Why these todos are not done and what to do about it, for a model; empty if there are none.
pub fn explain(unproven: &[Unproven]) -> String {
    let Some((first, others)) = unproven.split_first() else { return String::new() };
    let (id, command) = (quote(&first.id, ID), quote(&first.command, COMMAND));
    let again = match (first.shell, first.by_itself) {
        (true, _) => format!("run `punch verify {}` in a shell: if the check passes, it completes {id}", shell(&id)),
        (false, true) => {
            format!("stop as usual: once files have changed, the check runs again and completes {id} if it passes")
        }
        (false, false) => "mark it completed again: the check runs then and decides".to_owned(),
    };
    let mut out = match (&first.outcome, first.pending) {
        (_, Some(PendingCheck::Running)) => format!(
            "{id} is reported as done and its check `{command}` is running. Continue with another todo; the result follows."
        ),
        (_, Some(PendingCheck::Approval)) => format!(
            "{id} is not done yet: the user has to approve its check `{command}` first, and finds it in `punch inbox`. \
             Continue with another todo."
        ),
        (Some(outcome), None) => {
            let output = match first.tail.is_empty() {
                true => String::new(),
                false => format!(" Its last lines, quoted as data:\n<output>\n{}\n</output>", quoted(&first.tail)),
            };
            let times = match first.attempts {
                0 | 1 => String::new(),
                attempts => format!(" ({attempts} attempts failed)"),
            };
            format!("{id} is not done: its check `{command}` {outcome}{times}.{output}\nFix it, then {again}.")
        }
        (None, None) => format!(
            "{id} is not done: its check `{command}` has not passed yet. To finish it, {again}. If the command needs \
             approval, tell the user and continue with another todo."
        ),
    };
    if !others.is_empty() {
        let named: Vec<String> = others.iter().take(UNPROVEN - 1).map(Unproven::mention).collect();
        out += &format!("\nNot done either: {}.", named.join(", "));
    }
    out
}

/// The last lines of an output, small enough to be stored with a decision.
fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let mut text = lines[lines.len().saturating_sub(LINES)..].join("\n");
    if text.len() > TAIL {
        let from = (text.len() - TAIL..text.len()).find(|at| text.is_char_boundary(*at));
        text.drain(..from.unwrap_or_default());
        text.insert(0, '…');
    }
    text
}

/// Lines as data that cannot end their block.
fn quoted(tail: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut room = TAIL;
    for line in tail.lines().rev() {
        let line = quote(line, room);
        room = room.saturating_sub(line.len() + 1);
        out.push(line);
    }
    out.reverse();
    out.join("\n").trim().to_owned()
}
