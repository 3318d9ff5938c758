//! Events of a run. The CLI prints them as lines or as JSON, and the store keeps them as activity. Every text in them
//! is one line of bounded length.

use serde::{Deserialize, Serialize};

use super::{RunOutcome, Sum};

/// Something that happened in a run. `agent` is the number of the seat, counted from 1; 0 means that no agent of this
/// run worked on the todo. `todo` is the id of the todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RunEvent {
    /// The run begins or resumes.
    Begun {
        /// The number of the run in its plan.
        run: u64,
        /// True if the run was cut short before and continues now.
        resumed: bool,
        /// How many agents work at the same time.
        agents: usize,
    },
    /// Something the user should know that is about no todo.
    Remark {
        /// The remark.
        what: String,
    },
    /// An agent starts to work on a todo.
    Started {
        /// The seat of the agent.
        agent: usize,
        /// The program, such as `claude`.
        name: String,
        /// The todo.
        todo: String,
        /// The text of the todo.
        content: String,
        /// The number of this attempt, counted from 1.
        attempt: u32,
    },
    /// An agent printed something.
    Output {
        /// The seat of the agent.
        agent: usize,
        /// The text that the agent printed.
        text: String,
    },
    /// An agent got a further prompt about its todo.
    Continued {
        /// The seat of the agent.
        agent: usize,
        /// The todo.
        todo: String,
    },
    /// The check of a todo that was reported as done begins.
    Verifying {
        /// The seat of the agent that reported it.
        agent: usize,
        /// The todo.
        todo: String,
    },
    /// The runner completed a todo.
    Completed {
        /// The seat of the agent that worked on it.
        agent: usize,
        /// The todo.
        todo: String,
        /// What the todo is about; empty in events of older versions.
        #[serde(default)]
        content: String,
        /// What the todo took in this run.
        spent: Sum,
    },
    /// An attempt failed, and the todo has another one.
    Retrying {
        /// The seat of the agent that worked on it.
        agent: usize,
        /// The todo.
        todo: String,
        /// The error.
        why: String,
    },
    /// A todo failed for good. Todos that do not depend on it are still worked on.
    Failed {
        /// The seat of the agent that worked on it.
        agent: usize,
        /// The todo.
        todo: String,
        /// The error.
        why: String,
    },
    /// A todo is on hold for the user.
    Held {
        /// The seat of the agent that worked on it.
        agent: usize,
        /// The todo.
        todo: String,
        /// What the user has to do.
        why: String,
    },
    /// An agent asks for permission.
    Asks {
        /// The seat of the agent.
        agent: usize,
        /// The todo.
        todo: String,
        /// What the agent wants to do.
        what: String,
    },
    /// The agent no longer has the todo: the plan changed, or the run ends.
    Released {
        /// The seat of the agent that worked on it.
        agent: usize,
        /// The todo.
        todo: String,
        /// The reason.
        why: String,
    },
    /// The usage limit of an agent is reached. It gets no todo until the limit is reset; no attempt is counted.
    Limited {
        /// The seat of the agent.
        agent: usize,
        /// The program, such as `claude`.
        name: String,
        /// The reason that the agent reported.
        why: String,
        /// When the seat is used again; `None` if the run does not wait that long.
        until: Option<i64>,
    },
    /// No todo can be started now, but one will become ready without the user.
    Waiting {
        /// What the run waits for.
        what: String,
    },
    /// The run is over.
    Ended {
        /// The outcome of the run.
        outcome: RunOutcome,
        /// Details, one line each: the limit that was reached, what blocks the open todos.
        because: Vec<String>,
        /// Number of todos completed since the run began or resumed.
        completed: u64,
        /// Number of failed todos in the plan.
        failed: u64,
        /// Everything the run spent.
        spent: Sum,
    },
}

impl RunEvent {
    /// Returns the seat that the event is about; `None` if it is about the run.
    pub fn seat(&self) -> Option<u32> {
        let (Self::Started { agent, .. }
        | Self::Output { agent, .. }
        | Self::Continued { agent, .. }
        | Self::Verifying { agent, .. }
        | Self::Completed { agent, .. }
        | Self::Retrying { agent, .. }
        | Self::Failed { agent, .. }
        | Self::Held { agent, .. }
        | Self::Asks { agent, .. }
        | Self::Limited { agent, .. }
        | Self::Released { agent, .. }) = self
        else {
            return None;
        };
        u32::try_from(*agent).ok().filter(|agent| *agent > 0)
    }

    /// Returns the id of the todo that the event is about; `None` if it is about a seat or the run.
    pub fn todo(&self) -> Option<&str> {
        match self {
            Self::Started { todo, .. }
            | Self::Continued { todo, .. }
            | Self::Verifying { todo, .. }
            | Self::Completed { todo, .. }
            | Self::Retrying { todo, .. }
            | Self::Failed { todo, .. }
            | Self::Held { todo, .. }
            | Self::Asks { todo, .. }
            | Self::Released { todo, .. } => Some(todo),
            Self::Begun { .. }
            | Self::Remark { .. }
            | Self::Output { .. }
            | Self::Limited { .. }
            | Self::Waiting { .. }
            | Self::Ended { .. } => None,
        }
    }
}
