//! `todo_read` of the native and the extended dialect: each view has an answer of its own.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments of `todo_read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// The view to read.
    pub view: View,
    /// The todo, for the views `todo` and `why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Closed todos too, for the view `plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
    /// How many todos come before the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// How many todos are on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The tokens that are left, for the view `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
}

/// The views that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum View {
    /// Todos in list order, a page at a time: [`Page`].
    #[default]
    Plan,
    /// The todo to work on now: [`Ready`].
    Next,
    /// Every todo that can start: [`Ready`].
    Ready,
    /// Everything about one todo: [`One`].
    Todo,
    /// What open todos, or one of them, wait for: [`Why`].
    Why,
    /// The next batch of todos that fits a token budget: [`Batch`].
    Schedule,
    /// The last changes: [`History`].
    History,
    /// What needs the user: [`Inbox`].
    Inbox,
}

/// A page of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Page {
    /// The todos.
    pub todos: Vec<Todo>,
    /// How many todos there are on all pages.
    pub total: u64,
    /// How many come before this page.
    pub offset: usize,
}

/// One todo.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct One {
    /// The todo with all its fields.
    pub todo: Todo,
}

/// A todo. The extended dialect says `title` where the native one says `content`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Todo {
    /// The id of the todo.
    pub id: String,
    /// What is to be done (native).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What is to be done (extended).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The status of the todo.
    pub status: String,
    /// Its other fields, by the names that [`crate::Record`] has for them.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Todos that can start, the best one first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Ready {
    /// The ids of the ready todos.
    pub ready: Vec<String>,
}

/// The answer to why a todo waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Why {
    /// The explanation in words.
    pub why: String,
}

/// The next batch of todos.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Batch {
    /// The ids of the todos.
    pub todos: Vec<String>,
    /// How many tokens they may take.
    pub estimated_tokens: u64,
    /// How many tokens a batch may take.
    pub budget: u64,
    /// What to do if nothing fits, in words.
    pub advice: Option<String>,
}

/// The last changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct History {
    /// The revisions, newest first.
    pub revisions: Vec<u64>,
    /// The revision at which this turn began, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_start_revision: Option<u64>,
    /// The ids of the todos that were open then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_start_todo_ids: Option<Vec<String>>,
}

/// The items that need the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Inbox {
    /// The most urgent first.
    pub inbox: Vec<Item>,
}

/// One thing that needs the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Item {
    /// What it is, such as `hold` or `question`.
    pub kind: String,
    /// The todo it is about.
    pub todo: Option<String>,
    /// The item in words.
    pub text: String,
    /// Since when, in milliseconds since the epoch.
    pub since: i64,
    /// How many todos wait for it.
    pub blocks: u64,
}
