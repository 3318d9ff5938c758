//! `todo_checkpoint`, which [`crate::ToolGroup::Checkpoint`] adds to every dialect.

use serde::{Deserialize, Serialize};

/// Arguments of `todo_checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// Saves the state of the work: [`Saved`].
    Save {
        /// A remark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Lists the latest checkpoints: [`Listed`].
    List,
    /// Puts the work back to a checkpoint: [`Restored`].
    Restore {
        /// The checkpoint; without it the latest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// A checkpoint that was saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Saved {
    /// The id of the checkpoint.
    pub id: String,
    /// The state of the work when the checkpoint was made.
    pub todos: crate::Lists,
}

/// Checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Listed {
    /// The ids of the checkpoints, newest first.
    pub checkpoints: Vec<String>,
}

/// The result of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Restored {
    /// The checkpoint.
    pub id: String,
    /// The todos that are open again.
    pub reopened: Vec<String>,
    /// The todo to continue with.
    pub next: Option<String>,
    /// The git commands that bring the code of the checkpoint back.
    pub git: Vec<String>,
}
