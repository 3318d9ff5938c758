//! What writers tried and what they were promised: the side of the story that the store did not write itself.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryOutcome {
    /// An answer came: it happened.
    Acknowledged,
    /// A refusal came: it did not happen.
    Refused,
    /// Killed, or nobody knows: it happened once or not at all.
    Unknown,
}

/// How the revision of an acknowledged write is found in the history.
#[derive(Clone, Debug)]
pub enum RevisionMark {
    /// The answer named it; a write that changed nothing names the last one.
    Revision(u64),
    /// It added a todo that says this.
    Content(String),
    /// It gave out this fence.
    Fence(u64),
}

/// One try of a writer.
#[derive(Clone, Debug)]
pub enum JournalEntry {
    /// Todos of one write, each with a content that occurs nowhere else.
    Add {
        /// Who.
        by: String,
        /// What the todos say.
        contents: Vec<String>,
        /// How it ended.
        outcome: TryOutcome,
    },
    /// A completion.
    Done {
        /// Who.
        by: String,
        /// The id of the todo.
        id: String,
        /// The revision in the answer, if one came.
        acknowledged: Option<u64>,
    },
    /// An acknowledged claim.
    Claim {
        /// Who.
        by: String,
        /// The id of the todo.
        id: String,
        /// The fence in the answer.
        fence: u64,
    },
    /// An acknowledged undo or redo.
    Undo {
        /// Who.
        by: String,
        /// The revision that it undid, by the answer.
        target: u64,
        /// The revision that it wrote, by the answer.
        revision: u64,
        /// It asked for a change or undo of its own.
        own: bool,
    },
    /// A list of an agent that was mirrored once or more: each content belongs to one todo.
    Listed {
        /// What the items say.
        contents: Vec<String>,
    },
    /// An acknowledged write, with the time from the question to the answer: whoever asks later finds it done.
    Ordered {
        /// Who.
        by: String,
        /// Its revision.
        mark: RevisionMark,
        /// When it was asked for.
        asked: Instant,
        /// When the answer was there.
        answered: Instant,
    },
    /// Tokens that were reported for the one todo of a plan.
    Spent {
        /// How many.
        tokens: u64,
        /// How it ended.
        outcome: TryOutcome,
    },
}

/// What all writers of one plan tried, with counters for the summary.
#[derive(Debug, Default)]
pub struct WriterJournal {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    records: Vec<JournalEntry>,
    actions: u64,
    killed: u64,
}

impl WriterJournal {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record.
    pub fn add(&self, record: JournalEntry) {
        self.lock().records.push(record);
    }

    /// Counts an action, and whether it was killed.
    pub fn count(&self, killed: bool) {
        let mut inner = self.lock();
        inner.actions += 1;
        inner.killed += u64::from(killed);
    }

    /// Everything that was recorded.
    pub fn records(&self) -> Vec<JournalEntry> {
        self.lock().records.clone()
    }

    /// Actions, and how many of them were killed.
    pub fn counts(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.actions, inner.killed)
    }
}
