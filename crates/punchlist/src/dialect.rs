//! Arguments and answers of the todo tools as types, for hosts with tool registries of their own. They serialize to what the
//! tools take, and deserialize from what models send and [`crate::Answer::structured`] holds. Lenient where the tools are:
//! unknown keys are ignored.
//!
//! ```
//! use punchlist::dialect::todowrite::{Answer, Call, Item, Status};
//! use punchlist::{Dialect, Options, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::in_memory(Options::new("my-agent").dialect(Dialect::Todowrite))?;
//! let item = Item { content: "Run tests".into(), status: Status::InProgress, active_form: "Running tests".into() };
//! let call = serde_json::to_value(Call { todos: vec![item] })?;
//! let answer: Answer = serde_json::from_value(session.call("TodoWrite", &call)?.structured)?;
//! assert_eq!(answer.items[0].status, Status::InProgress);
//! # Ok(())
//! # }
//! ```

/// The TodoWrite tool: every call sends the whole list.
pub mod todowrite {
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
        /// Where it stands.
        pub status: Status,
        /// What a UI shows while it is in progress.
        pub active_form: String,
    }

    /// Where a todo stands.
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
    pub struct Answer {
        /// The list as it is now.
        pub items: Vec<Item>,
        /// How many of them are completed.
        pub progress: Progress,
    }

    /// Completed out of a total.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Progress {
        /// Completed todos.
        pub completed: u64,
        /// All todos of the list.
        pub total: u64,
    }
}

/// The phased list: ops on tasks that are named by their content.
pub mod phases {
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
            /// Its exact content.
            task: String,
        },
        /// Finishes.
        Done {
            /// Its exact content.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            task: Option<String>,
            /// A whole phase.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            phase: Option<String>,
        },
        /// Gives up.
        Drop {
            /// Its exact content.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            task: Option<String>,
            /// A whole phase.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            phase: Option<String>,
        },
        /// Removes.
        Rm {
            /// Its exact content.
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
            /// Its exact content.
            task: String,
            /// The note.
            text: String,
        },
    }

    /// A phase that `init` makes.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NewPhase {
        /// Its name.
        pub phase: String,
        /// Its tasks.
        pub items: Vec<String>,
    }

    /// The structured answer.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Answer {
        /// The list as it is now.
        pub phases: Vec<Phase>,
        /// Tasks that this call completed.
        pub completed_tasks: Vec<CompletedTask>,
        /// What was not applied.
        pub errors: Vec<String>,
    }

    /// A phase of the list.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Phase {
        /// Its name.
        pub name: String,
        /// Its tasks.
        pub tasks: Vec<Task>,
    }

    /// A task.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
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
    pub struct CompletedTask {
        /// Its phase.
        pub phase: String,
        /// Its content.
        pub content: String,
    }
}

/// Cursor's list: merged by id, or replaced.
pub mod cursor {
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
        /// Where it stands.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub status: Option<Status>,
        /// Ids that must be completed first.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dependencies: Option<Vec<String>>,
    }

    /// Where a todo stands.
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
}

/// The extended list: dependencies, priorities and sizes.
pub mod extended {
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
        /// How many it took.
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
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Answer {
        /// The call was applied.
        pub success: bool,
        /// The todos that changed, in the extended format.
        pub todos: Vec<serde_json::Value>,
        /// Ids that can be started.
        pub ready: Vec<String>,
        /// What is worth knowing.
        pub warnings: Vec<String>,
    }
}

/// The native tools: batches of ops on ids.
pub mod native {
    use serde::{Deserialize, Serialize};

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
        /// `add`, `start`, `done`, `edit`, `drop`, `fail`, `reopen`, `hold`, `release`, `rm`, `note`, `move`, `undo` or
        /// `redo`.
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
        /// What else is worth knowing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Ids that must be done first.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub depends_on: Option<Vec<String>>,
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
        /// How to see that it is done.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub verification_criteria: Option<String>,
        /// Globs of the files it touches.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub files: Option<Vec<String>>,
        /// Put it before this todo.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub before: Option<String>,
        /// Put it after this todo.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
        /// What shows that it is done.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub evidence: Option<String>,
        /// How many tokens it took.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub actual_tokens: Option<u64>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// What a hold waits for.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        /// The kind of a hold.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// The text of a note.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// The revision to undo.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub revision: Option<u64>,
    }

    /// The structured answer.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Answer {
        /// The revision of the plan.
        pub revision: u64,
        /// Ids of new todos.
        pub added: Vec<String>,
        /// Ids that can be started now and could not before.
        pub unblocked: Vec<String>,
        /// What is worth knowing.
        pub warnings: Vec<String>,
        /// Completed todos.
        pub completed: u64,
        /// All todos.
        pub total: u64,
        /// The todo to work on next.
        pub next: Option<String>,
    }
}
