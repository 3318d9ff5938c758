//! The TodoWrite tool: every call sends the whole list.

use serde::{Deserialize, Serialize};

/// Arguments of `TodoWrite`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The whole list, at most 20 todos.
    pub todos: Vec<Item>,
}

/// One todo of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// What is to be done.
    pub content: String,
    /// The status of the todo.
    pub status: Status,
    /// What a UI shows while it is in progress.
    pub active_form: String,
}

/// The status of a todo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    #[default]
    Pending,
    /// Worked on.
    InProgress,
    /// Done.
    Completed,
}

/// The structured answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Answer {
    /// How many todos are completed.
    pub progress: Progress,
    /// The list as it is now.
    pub items: Vec<Item>,
}

/// Completed out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Progress {
    /// Completed todos.
    pub completed: u64,
    /// All todos of the list.
    pub total: u64,
    /// Percent of them that are completed.
    pub percent: u64,
}
