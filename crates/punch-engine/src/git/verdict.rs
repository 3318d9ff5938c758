//! Decides whether the work in a commit is still there (rule 32).

use serde::Serialize;

punch_core::words! {
    /// What git says about a completion.
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CommitVerdict {
        /// The commit is the head, or behind it.
        Valid = "valid",
        /// The commit is gone: rebased, amended, reset, or on another branch.
        Stale = "stale",
        /// No commit was recorded, there is no git, or the history is cut off.
        Unknown = "unknown",
    }
}
