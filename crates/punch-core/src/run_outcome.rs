//! How a run ended: the word for programs and stores, and the text for users.

use serde::{Deserialize, Serialize};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every todo that the run was to work on is done.
    Done,
    /// Todos are open, and none of them can be started.
    Stalled,
    /// A limit was reached.
    Budget,
    /// The user stopped the run.
    Interrupted,
}

impl RunOutcome {
    /// Returns the word that the CLI's JSON and the store use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stalled => "stalled",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns what a sentence says that the run did: "run 3 has stalled".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Done => "is done",
            Self::Stalled => "has stalled",
            Self::Budget => "reached a limit",
            Self::Interrupted => "was interrupted",
        }
    }
}
