//! The five stored statuses. `blocked`, `ready` and `stalled` are derived and live on [`crate::Todo`].

use serde::{Deserialize, Serialize};

/// What is stored about the progress of a todo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not started.
    #[default]
    Pending,
    /// An owner works on it.
    InProgress,
    /// Done.
    Completed,
    /// Given up on purpose (`abandoned` on the wire of the phases dialect).
    Cancelled,
    /// Tried and not achieved.
    Failed,
}

impl Status {
    /// Every status, in the order of the counters in the plan row.
    pub const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Completed, Self::Cancelled, Self::Failed];

    /// The stored and native wire name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Work is left: pending or in progress.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }

    /// Reads a status in any dialect's word: `abandoned` means cancelled, `done` is not accepted.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "abandoned" => Some(Self::Cancelled),
            _ => Self::ALL.into_iter().find(|s| s.name() == word),
        }
    }
}
