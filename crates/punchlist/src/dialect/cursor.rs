//! Cursor's list: merged by id, or replaced.

use serde::{Deserialize, Serialize};

/// Arguments of `todo_write`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Update by id instead of replacing all.
    pub merge: bool,
    /// The todos.
    pub todos: Vec<Item>,
}

/// One todo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    /// Unique and stable.
    pub id: String,
    /// What is to be done; may be left out when merging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The status of the todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Ids that must be completed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
}

/// The status of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Worked on.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

/// The structured answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Answer {
    /// The call was applied.
    pub success: bool,
    /// Ids that can be given to subagents, where the setting `subagents` asks for that.
    pub ready_task_ids: Vec<String>,
    /// Something is pending and nothing is in progress.
    pub needs_in_progress_todos: bool,
    /// The list as it is now.
    pub final_todos: Vec<Item>,
    /// The list as it was before.
    pub initial_todos: Vec<Item>,
    /// The call updated by id.
    pub was_merge: bool,
}
