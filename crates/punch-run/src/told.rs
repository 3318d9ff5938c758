//! What a run tells while it goes on: for people as lines, for programs as JSON. Nothing in it grows.

use punch_core::text;
use serde::Serialize;

use punch_engine::{RunOutcome, Sum};

use crate::agent::Permission;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Told {
    /// It begins, or goes on where it was.
    Begun {
        /// Its number.
        run: u64,
        /// It was cut short before.
        resumed: bool,
        /// How many agents work at once.
        agents: usize,
    },
    /// Worth knowing before or while it runs.
    Remark {
        /// One line.
        what: String,
    },
    /// An agent works on a todo.
    Started {
        /// Which agent, counted from 1.
        agent: usize,
        /// What it is.
        name: String,
        /// The todo.
        todo: String,
        /// What it says.
        content: String,
        /// Counted from 1.
        attempt: u32,
    },
    /// An agent printed something.
    Said {
        /// Which agent.
        agent: usize,
        /// One line.
        text: String,
    },
    /// An agent was told to go on.
    Continued {
        /// Which agent.
        agent: usize,
        /// The todo.
        todo: String,
    },
    /// What was said to be done is looked at.
    Verifying {
        /// Which agent had it; 0 if none of this run.
        agent: usize,
        /// The todo.
        todo: String,
    },
    /// A todo is done.
    Completed {
        /// Which agent had it.
        agent: usize,
        /// The todo.
        todo: String,
        /// What it took in this run.
        spent: Sum,
    },
    /// An attempt failed, and there is another one.
    Retrying {
        /// Which agent had it.
        agent: usize,
        /// The todo.
        todo: String,
        /// What went wrong, on one line.
        why: String,
    },
    /// A todo has failed; what does not depend on it goes on.
    Failed {
        /// Which agent had it.
        agent: usize,
        /// The todo.
        todo: String,
        /// What went wrong, on one line.
        why: String,
    },
    /// A todo waits for a person.
    Held {
        /// Which agent had it.
        agent: usize,
        /// The todo.
        todo: String,
        /// For what.
        why: String,
    },
    /// An agent wants to be allowed something.
    Asks {
        /// Which agent.
        agent: usize,
        /// The todo.
        todo: String,
        /// What for.
        what: String,
    },
    /// A todo is no longer the agent's: somebody changed the plan, or the run is over.
    Released {
        /// Which agent had it.
        agent: usize,
        /// The todo.
        todo: String,
        /// Why.
        why: String,
    },
    /// Nothing can be started just now.
    Waiting {
        /// For what.
        what: String,
    },
    /// It is over.
    Ended {
        /// The word.
        outcome: RunOutcome,
        /// What more is to be said: limits, roots.
        because: Vec<String>,
        /// Todos that are done now and were not when the run began.
        completed: u64,
        /// Todos that failed.
        failed: u64,
        /// Everything it spent.
        spent: Sum,
    },
}

/// Who watches a run.
pub trait Watch: Sync {
    /// Something happened.
    fn told(&self, event: &Told);

    /// Asks a person; `None` if there is nobody to ask. May take as long as it likes.
    fn ask(&self, todo: &str, wanted: &Permission) -> Option<bool>;
}

/// One short line for people out of anything.
pub fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    text::clip(&text::neutral(first), 300).into_owned()
}
