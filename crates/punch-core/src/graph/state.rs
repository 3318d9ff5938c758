//! The status of a todo as dependencies see it.

use crate::{CancelledDep, Status, Todo};

/// What a todo means for the todos that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Pending and not on hold: ready once nothing is unmet.
    Pending,
    /// In progress, or pending and on hold.
    Busy,
    /// Its dependents no longer wait for it.
    Satisfied,
    /// Cancelled or failed, and its dependents wait in vain.
    Dropped,
}

impl NodeState {
    /// Returns the state of a todo at `now` under the plan's rule for cancelled dependencies.
    pub fn of(todo: &Todo, cancelled: CancelledDep, now: i64) -> Self {
        match todo.status_at(now) {
            Status::Pending if todo.hold_at(now).is_none() => Self::Pending,
            Status::Pending | Status::InProgress => Self::Busy,
            Status::Completed => Self::Satisfied,
            Status::Cancelled | Status::Failed if cancelled == CancelledDep::Satisfy => Self::Satisfied,
            Status::Cancelled | Status::Failed => Self::Dropped,
        }
    }

    /// Returns true for pending and in-progress todos, whose priority counts for what they depend on.
    pub const fn open(self) -> bool {
        matches!(self, Self::Pending | Self::Busy)
    }

    /// Returns true if dependents need not wait for this todo.
    pub const fn satisfied(self) -> bool {
        matches!(self, Self::Satisfied)
    }

    /// Returns true if the todo is ready once nothing is unmet.
    pub const fn eligible(self) -> bool {
        matches!(self, Self::Pending)
    }
}
