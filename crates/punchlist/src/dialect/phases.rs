//! The phased list: ops on tasks that are named by their content.

use serde::{Deserialize, Serialize};

/// Arguments of `todo_write`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Applied in order.
    pub ops: Vec<Op>,
}

/// One op. `done`, `drop` and `rm` take a task, a phase for all of it, or neither for everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// Replaces everything.
    Init {
        /// The phases.
        list: Vec<NewPhase>,
    },
    /// Begins a task.
    Start {
        /// The exact content of the task.
        task: String,
    },
    /// Finishes.
    Done {
        /// The exact content of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        /// A whole phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Gives up.
    Drop {
        /// The exact content of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        /// A whole phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Removes.
    Rm {
        /// The exact content of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        /// A whole phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Adds tasks to a phase.
    Append {
        /// The phase.
        phase: String,
        /// The tasks.
        items: Vec<String>,
    },
    /// Adds a note to a task.
    Note {
        /// The exact content of the task.
        task: String,
        /// The note.
        text: String,
    },
}

/// A phase that `init` makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPhase {
    /// The name of the phase.
    pub phase: String,
    /// The tasks of the phase.
    pub items: Vec<String>,
}

/// The structured answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Answer {
    /// The list as it is now.
    pub phases: Vec<Phase>,
    /// Where the list is kept: `memory` if it ends with the process, otherwise `session`.
    pub storage: String,
    /// Tasks that this call completed.
    pub completed_tasks: Vec<CompletedTask>,
    /// Errors for ops that were not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// A phase of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Phase {
    /// The name of the phase.
    pub name: String,
    /// The tasks of the phase.
    pub tasks: Vec<Task>,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Task {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed` or `abandoned`.
    pub status: String,
    /// Notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A task that a call completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompletedTask {
    /// The phase of the task.
    pub phase: String,
    /// The content of the task.
    pub content: String,
}
