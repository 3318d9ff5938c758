//! The extended list: dependencies, priorities and sizes.

use serde::{Deserialize, Serialize};

/// Arguments of `todo_write`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What happens to todos that are not sent.
    pub mode: Mode,
    /// The todos.
    pub todos: Vec<Item>,
}

/// What happens to todos that are not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They stay.
    Patch,
    /// They are archived.
    Replace,
}

/// One todo; what is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Item {
    /// Unique and stable.
    pub id: String,
    /// One line; needed for a new todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `pending`, `in_progress`, `completed`, `blocked`, `cancelled` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// 1 is critical, 5 is for when time allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Ids that must be completed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    /// Ids that wait for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<String>>,
    /// Labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// `trivial`, `small`, `medium`, `large` or `epic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// How many tokens the work may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// The tokens that the todo took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_tokens: Option<u64>,
    /// The phase it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Globs of the files it touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// When it counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_criteria: Option<String>,
}

/// The structured answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Answer {
    /// The call was applied.
    pub success: bool,
    /// The plan as it is now; of a large plan, the part that the call is about.
    pub todos: Vec<Todo>,
    /// Ids that can be started.
    pub ready: Vec<String>,
    /// Warnings about the call.
    pub warnings: Vec<String>,
}

/// A todo of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Todo {
    /// Unique and stable.
    pub id: String,
    /// One line.
    pub title: String,
    /// `pending`, `in_progress`, `completed`, `blocked`, `cancelled` or `failed`.
    pub status: String,
    /// 1 is critical, 5 is for when time allows.
    pub priority: u8,
    /// Ids that must be completed first.
    pub depends_on: Vec<String>,
    /// Ids that wait for this one.
    pub blocks: Vec<String>,
    /// Todos of the same group can be worked on at the same time.
    pub parallel_group: u32,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `trivial`, `small`, `medium`, `large` or `epic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// How many tokens the work may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// When it counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_criteria: Option<String>,
}
