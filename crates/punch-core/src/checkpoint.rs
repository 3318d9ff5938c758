//! The state of the work on a plan: the lists that a checkpoint shows, and the data that a restore needs.

use serde::{Deserialize, Serialize};

use crate::{Fields, Flags, Hold, Plan, Status, Todo};

/// The progress of the work on one todo, without its text and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoProgress {
    /// The stored status.
    pub status: Status,
    /// The owner that works on the todo, or did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The hold that the todo is under, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Marks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flags: Flags,
    /// Failed attempts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempts: u32,
    /// Why the last one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it was last started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When the todo was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<i64>,
}

impl TodoProgress {
    /// Returns the progress of a todo as it is.
    pub fn of(todo: &Todo) -> Self {
        let Fields { status, owner, hold, flags, attempts, last_error, started_at, finished_at, .. } = &todo.fields;
        Self {
            status: *status,
            owner: owner.clone(),
            hold: hold.clone(),
            flags: *flags,
            attempts: *attempts,
            last_error: last_error.clone(),
            started_at: *started_at,
            finished_at: *finished_at,
        }
    }

    /// Writes it into a todo, but for the status.
    pub(crate) fn put(self, into: &mut Fields) {
        into.owner = self.owner;
        into.hold = self.hold;
        into.flags = self.flags;
        into.attempts = self.attempts;
        into.last_error = self.last_error;
        into.started_at = self.started_at;
        into.finished_at = self.finished_at;
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The ids of a plan grouped by the state of the work, each list in list order (rule 31).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lists {
    /// Done.
    pub completed: Vec<String>,
    /// Pending and in progress.
    pub remaining: Vec<String>,
    /// Those of `remaining` that wait for something.
    pub blocked: Vec<String>,
    /// The one in progress; null if there is none or there are several.
    pub in_progress: Option<String>,
    /// All in progress.
    #[serde(default)]
    pub in_progress_all: Vec<String>,
    /// Given up on purpose.
    #[serde(default)]
    pub cancelled: Vec<String>,
    /// Given up after attempts.
    #[serde(default)]
    pub failed: Vec<String>,
}

impl Lists {
    /// Returns the lists of a whole plan at a moment.
    pub fn of(plan: &Plan, now: i64) -> Self {
        let mut out = Self::default();
        for todo in plan.live() {
            let id = || todo.id.clone();
            match todo.status_at(now) {
                Status::Completed => out.completed.push(id()),
                Status::Cancelled => out.cancelled.push(id()),
                Status::Failed => out.failed.push(id()),
                Status::InProgress => {
                    out.remaining.push(id());
                    out.in_progress_all.push(id());
                }
                Status::Pending => {
                    out.remaining.push(id());
                    if todo.is_blocked(now) {
                        out.blocked.push(id());
                    }
                }
            }
        }
        if let [one] = &out.in_progress_all[..] {
            out.in_progress = Some(one.clone());
        }
        out
    }
}
