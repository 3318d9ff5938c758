//! Records other than todos and events, and the types of queries.

mod activity;
mod control;
mod hand_out;
mod question;
mod reader;
mod worker;

pub use activity::{ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, ACTIVITY_SWEEP, Activity, ActivitySpan};
pub use control::{ControlRecord, ControlScope, RequestedState, RunGrant, RunLease, SeatRecord};
pub use hand_out::{
    BATCHES_KEPT, COMPLETED_FILES_KEPT, CompletedFiles, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, OFFERS_KEPT,
};
pub use question::{QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState};
pub use reader::{READERS_KEPT, ReadMarker};
pub use worker::{WORKER_LIFETIME_MS, WorkerRecord};

use punch_core::{Todo, Uid};
use serde::{Deserialize, Serialize};

/// How long the answer to an idempotency key is kept: 24 hours.
pub const ANSWER_LIFETIME_MS: i64 = 24 * 60 * 60 * 1000;

/// How many decisions of one session are kept.
pub const DECISIONS_KEPT: u64 = 200;

/// How long a session is kept after it was last seen: 90 days. Whoever returns later begins a new one.
pub const SESSION_LIFETIME_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// How long the decisions of a session are kept: 30 days.
pub const DECISION_LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The immutable number of a plan inside its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub i64);

/// What a committed write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Power loss: for everything that is acknowledged to the user or a model.
    Full,
    /// The end of the process, however it came: for chatter such as lease renewals and counters.
    Relaxed,
}

/// A plan as the catalogue lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanInfo {
    /// Never reused.
    pub id: PlanId,
    /// Unique among the plans in use.
    pub name: String,
    /// When it was made.
    pub created_at: i64,
    /// When it was put away, if it is.
    pub archived: Option<i64>,
    /// Its last revision.
    pub revision: u64,
    /// The last revision whose events were pruned, 0 if none were.
    pub pruned: u64,
}

/// Which todos a listing is about. Removed ones never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    Live,
    /// Pending and in progress, as stored.
    Open,
    /// Pending, in progress and failed, as stored: what needs work or a decision. Reads past closed todos, so ask for
    /// open ones where the plan row counts none that failed.
    Unfinished,
    /// In progress, as stored, by any owner.
    Running,
    /// Pending with nothing unmet, but held, as stored.
    Held,
}

/// A place in the ready order: what comes after it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadyMark {
    /// The effective priority of the todo ([`Todo::effective_priority`]).
    pub priority: u8,
    /// The place in the list.
    pub position: i64,
    /// Decides between equal places.
    pub uid: Uid,
}

impl ReadyMark {
    /// The place of a todo.
    pub fn of(todo: &Todo) -> Self {
        Self { priority: todo.effective_priority(), position: todo.position, uid: todo.uid }
    }
}

/// A place in list order: what comes after it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListMark {
    /// The place in the list.
    pub position: i64,
    /// Decides between equal places.
    pub uid: Uid,
}

impl ListMark {
    /// The place of a todo.
    pub fn of(todo: &Todo) -> Self {
        Self { position: todo.position, uid: todo.uid }
    }
}

/// What the names of sessions begin with that were made up here.
const PROVISIONAL: &str = "mcp-";

/// Identifies a conversation with an agent: the id of its session, and the subagent inside it if there is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    session_id: String,
    subagent: Option<String>,
}

impl SessionKey {
    /// The key of a session. An empty subagent counts as none.
    pub fn new(session_id: impl Into<String>, subagent: Option<&str>) -> Self {
        Self { session_id: session_id.into(), subagent: subagent.filter(|name| !name.is_empty()).map(str::to_owned) }
    }

    /// A key that stands for a session without a name yet: that of a server, or of an assignment before an agent
    /// takes it up. It can be linked to the real session later. `tag` is what no other key has.
    pub fn provisional(tag: impl std::fmt::Display) -> Self {
        Self::new(format!("{PROVISIONAL}{tag}"), None)
    }

    /// Returns true for keys that [`SessionKey::provisional`] makes.
    pub fn is_provisional(&self) -> bool {
        self.session_id.starts_with(PROVISIONAL)
    }

    /// The id that the agent gave to its session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The session with its subagent as one name: `SESSION/SUBAGENT`.
    pub fn full_name(&self) -> String {
        match self.subagent() {
            Some(subagent) => format!("{}/{subagent}", self.session_id),
            None => self.session_id.clone(),
        }
    }

    /// The subagent inside the session.
    pub fn subagent(&self) -> Option<&str> {
        self.subagent.as_deref()
    }
}

/// What is known about a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The session.
    pub key: SessionKey,
    /// The plan it is bound to.
    pub plan: Option<PlanId>,
    /// When it was last seen.
    pub seen_at: i64,
    /// Dialect, role, scope shown, revision shown, counters: JSON of the engine, kept as it is.
    pub body: String,
}

/// What was decided for a session, or what its host reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// The session that it is about.
    pub key: SessionKey,
    /// Its number in the session, growing.
    pub seq: u64,
    /// When.
    pub at: i64,
    /// JSON of the engine, kept as it is.
    pub body: String,
}

/// What one attempt at a todo took: the sum of its entries in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptUsage {
    /// Which todo.
    pub uid: Uid,
    /// Which attempt, counted from 1.
    pub attempt: u32,
    /// Tokens that were reported so far, read for the first time and written, at most `i64::MAX`.
    pub tokens: u64,
    /// Milliseconds so far, at most `i64::MAX`.
    pub ms: u64,
    /// When it was last added to.
    pub at: i64,
}

/// One entry of the ledger: something that was spent on a todo. Entries are added, never changed. Not an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// On which todo.
    pub uid: Uid,
    /// In which attempt, counted from 1.
    pub attempt: u32,
    /// In which run; `None` for what was reported outside of one.
    pub run: Option<u64>,
    /// By which agent; empty where it is unknown.
    pub agent: String,
    /// By which of its subagents.
    pub subagent: Option<String>,
    /// Tokens read.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Of these tokens, those that the context held already, or may have held: they are
    /// spent, and say nothing about what the todo takes.
    pub again: u64,
    /// Millionths of a dollar, where it is known.
    pub cost: Option<u64>,
    /// Milliseconds.
    pub ms: u64,
    /// Turns of the model.
    pub turns: u32,
    /// The tokens were not reported: they are what the todo was estimated at.
    pub estimated: bool,
    /// When.
    pub at: i64,
}

impl LedgerEntry {
    /// Tokens read and written.
    pub const fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// Tokens by which the context grew, as far as that was reported: what estimates are about.
    pub const fn grown(&self) -> u64 {
        if self.estimated { 0 } else { self.tokens().saturating_sub(self.again) }
    }
}

/// A run of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRun {
    /// Counted from 1 in every plan.
    pub id: u64,
    /// When it began.
    pub started_at: i64,
    /// When it ended; `None` while it runs, or if it was killed.
    pub ended_at: Option<i64>,
    /// Options, outcome, story: JSON of the engine, kept as it is.
    pub body: String,
}

/// A state of work to come back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRow {
    /// Unique in the plan.
    pub id: String,
    /// When it was made.
    pub at: i64,
    /// JSON of the engine, kept as it is.
    pub body: String,
}
