//! The native tools: batches of ops on ids.

use serde::{Deserialize, Serialize};

use crate::Verify;

/// Arguments of `todo_write`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Applied in order, all of them or none.
    pub ops: Vec<Op>,
}

/// One op. Which fields it takes depends on `op`; the description of the tool says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Op {
    /// `add`, `start`, `done`, `edit`, `drop`, `fail`, `reopen`, `hold`, `release`, `rm`, `note`, `move`, `replace`, `undo`
    /// or `redo`. Empty in the todos of a replacement.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub op: String,
    /// The todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Several todos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The words that a UI shows while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Ids that must be done first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    /// Ids that must wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<String>>,
    /// The phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// 1 first to 5 last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// `trivial`, `small`, `medium`, `large` or `epic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// How many tokens the work may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// How to see that it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_criteria: Option<String>,
    /// The command that proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_command: Option<Verify>,
    /// Globs of the files it touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Put it before this todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Put it after this todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// `first` or `end`: puts it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The status that a new todo comes with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The id that it gets instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_id: Option<String>,
    /// The todos of a replacement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<Self>>,
    /// What shows that it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The fence of the claim that a completion belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// How many tokens it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_tokens: Option<u64>,
    /// The reason why the todo failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What a hold waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kind of a hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// When a hold ends, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// The text of a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The revision to undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Undoes the latest change of anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<bool>,
}

/// The structured answer. The calls of a subagent that was assigned todos have it in every dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Answer {
    /// The revision of the plan.
    pub revision: u64,
    /// Ids of new todos.
    pub added: Vec<String>,
    /// Ids that can be started now and could not before.
    pub unblocked: Vec<String>,
    /// Warnings about the call.
    pub warnings: Vec<String>,
    /// Completed todos.
    pub completed: u64,
    /// All todos.
    pub total: u64,
    /// The todo to work on next.
    pub next: Option<String>,
}
