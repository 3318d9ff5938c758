//! The trait that every backend implements, and what it promises. Synchronous and transaction-shaped: a caller hands
//! in a body, the store runs it inside one transaction. No function here is about a single field.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use punch_core::{Event, Footprint, Outcome, Plan, PlanRow, Todo, Uid};

use crate::{
    Checkpoint, Decision, Durability, ListMark, PlanId, PlanInfo, ReadyMark, Run, Session, SessionKey, Spent,
    StoreError, Usage, Which,
};

/// A place for plans.
///
/// Promises of every backend:
/// - A write happens as a whole or not at all, also when the process is killed in the middle of it.
/// - When [`Store::write`] has returned `Ok`, the change is visible to every later read, in this process and in
///   others, and survives what its [`Durability`] says.
/// - Writers of one plan come one after the other. A body sees everything that was committed before it and nothing
///   that is not committed, so load, `apply`, put needs no retry.
/// - Readers never wait for writers and see one moment of the store for as long as their body runs.
/// - A body that returns an error leaves no trace; the error comes back unchanged. So does a body that panics.
///
/// A body must not call the store again (it would wait for itself), and must do nothing slow: others wait for it.
pub trait Store: Send + Sync {
    /// Runs `body` in one write transaction on a plan.
    fn write(
        &self,
        plan: PlanId,
        durability: Durability,
        body: &mut dyn FnMut(&mut dyn Tx) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Runs `body` on one moment of a plan.
    fn read(
        &self,
        plan: PlanId,
        body: &mut dyn FnMut(&dyn Snapshot) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Runs `body` on one moment of what belongs to no plan: to find out which plan is meant.
    fn browse(&self, body: &mut dyn FnMut(&dyn Catalogue) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// Makes an empty plan. A name that a plan in use has is a conflict.
    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError>;

    /// A number that is another one after every commit of any process: what was read after a look at it holds for as
    /// long as it stays, but for the time. `None` where the backend cannot tell. An error if the store is out of reach.
    fn stamp(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Wake-ups for commits from now on, of this process and of others.
    fn changes(&self) -> Box<dyn Changes>;
}

/// Waits for commits. A wake-up says only that something may have changed: the caller catches up by revision, so a
/// missed or a needless one does no harm.
pub trait Changes: Send {
    /// True as soon as something was committed since the last call (or since this was made), false after `timeout`.
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError>;
}

/// What belongs to no plan.
pub trait Catalogue {
    /// Every plan, archived ones too, in the order they were made.
    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError>;

    /// What is known about a session.
    fn session(&self, key: &SessionKey) -> Result<Option<Session>, StoreError>;

    /// Every session, the most recently seen first.
    fn sessions(&self) -> Result<Vec<Session>, StoreError>;

    /// The newest decisions first, of one session or of all. At most [`crate::DECISIONS_KEPT`] of each session are
    /// there.
    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<Decision>, StoreError>;

    /// A small value kept by name, such as the plan chosen for a worktree.
    fn setting(&self, name: &str) -> Result<Option<String>, StoreError>;
}

/// One moment of one plan. Nothing here writes.
pub trait Snapshot: Catalogue {
    /// Name, age and state of the plan.
    fn info(&self) -> Result<PlanInfo, StoreError>;

    /// The plan row.
    fn row(&self) -> Result<PlanRow, StoreError>;

    /// Puts exactly what the footprint asks for into a slice and marks it as loaded. The row of `into` stays as it
    /// is: make the slice with [`Plan::slice`] from [`Snapshot::row`] of the same snapshot. A revision that has no
    /// events (any more) is answered with an empty list; an unknown uid is not answered at all.
    fn load(&self, footprint: &Footprint, into: &mut Plan) -> Result<(), StoreError>;

    /// What is ready at `now`, best first: by effective priority, then position (rules 25, 33). Elapsed timers and
    /// expired leases count as if they had been written. Touches about `limit` rows, however large the plan is.
    fn ready(&self, now: i64, after: Option<ReadyMark>, limit: usize) -> Result<Vec<Todo>, StoreError>;

    /// Todos in list order, a page at a time.
    fn list(&self, which: Which, after: Option<ListMark>, limit: usize) -> Result<Vec<Todo>, StoreError>;

    /// Ready todos, beginning with the one that has `skip` others before it; those are counted and not read.
    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError>;

    /// The live todo with that id.
    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError>;

    /// The next time after `now` at which a lease or a timer ends: until then what is read changes only by writes.
    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError>;

    /// The open todos whose content is exactly one of these, in list order: for formats that name todos by what they
    /// say.
    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError>;

    /// Events after a revision, in order. Only whole revisions: the page ends with the revision in which `limit` is
    /// reached. What was pruned is missing, see [`PlanInfo::pruned`].
    fn events(&self, since: u64, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// The events of one revision; empty if there is none, or if it was pruned.
    fn events_of(&self, revision: u64) -> Result<Vec<Event>, StoreError>;

    /// What folding starts from: an empty whole plan, or the plan at the revision up to which events were pruned
    /// (without derived values: `derive` follows after the last event).
    fn baseline(&self) -> Result<Plan, StoreError>;

    /// The answer that was given under an idempotency key, if it is not older than
    /// [`crate::ANSWER_LIFETIME_MS`] at `now`.
    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError>;

    /// One checkpoint.
    fn checkpoint(&self, id: &str) -> Result<Option<Checkpoint>, StoreError>;

    /// What attempts at todos took, of one todo or of all, by todo and attempt: sums over the ledger. Tokens that
    /// that were not reported are not in it: an estimate teaches nothing about estimates.
    fn usage(&self, of: Option<Uid>) -> Result<Vec<Usage>, StoreError>;

    /// The entries of the ledger that belong to a run, in the order in which they were added.
    fn ledger(&self, run: u64) -> Result<Vec<Spent>, StoreError>;

    /// Runs of the plan, newest first.
    fn runs(&self, limit: usize) -> Result<Vec<Run>, StoreError>;

    /// One run.
    fn run(&self, id: u64) -> Result<Option<Run>, StoreError>;

    /// Checkpoints of the plan, newest first.
    fn checkpoints(&self, limit: usize) -> Result<Vec<Checkpoint>, StoreError>;
}

/// A write transaction on one plan. It reads its own writes.
pub trait Tx: Snapshot {
    /// Keeps an outcome: rows, edges, events, plan row. It must have been computed on this transaction's state: its
    /// revision is the current one, or the next one if it has events, else it is a conflict.
    fn put(&mut self, outcome: &Outcome) -> Result<(), StoreError>;

    /// Events that were put into this transaction and closed a todo ([`Event::closes`]): what follows a write needs not
    /// read them back.
    fn closing(&self) -> &[Event];

    /// Gives the plan another name. A name that a plan in use has is a conflict.
    fn rename(&mut self, name: &str) -> Result<(), StoreError>;

    /// Puts the plan away (`Some(when)`), or back into use.
    fn archive(&mut self, archived: Option<i64>) -> Result<(), StoreError>;

    /// Keeps an answer under an idempotency key, and forgets those of every plan that are too old at `now`.
    fn put_answer(&mut self, key: &str, body: &str, now: i64) -> Result<(), StoreError>;

    /// Keeps a session, replacing what was known about it.
    fn put_session(&mut self, session: &Session) -> Result<(), StoreError>;

    /// Keeps a decision of a session under the next number, and forgets its oldest beyond [`crate::DECISIONS_KEPT`]. The
    /// first one of a session lets go of those of every session that are older than [`crate::DECISION_LIFETIME_MS`].
    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError>;

    /// Adds an entry to the ledger. Numbers beyond `i64::MAX` are kept as that.
    fn spend(&mut self, spent: &Spent) -> Result<(), StoreError>;

    /// Keeps a run, replacing what was known about it.
    fn put_run(&mut self, run: &Run) -> Result<(), StoreError>;

    /// Keeps a checkpoint, replacing one with the same id.
    fn put_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Forgets a checkpoint; one that is not there is no error.
    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError>;

    /// Keeps a small value by name; `None` forgets it.
    fn put_setting(&mut self, name: &str, value: Option<&str>) -> Result<(), StoreError>;

    /// Forgets the events of all revisions before `before`: writes each as one line of JSON to `export`, folds them
    /// into the baseline and deletes them. Answers how many there were. If `export` fails, nothing is forgotten.
    fn prune(&mut self, before: u64, export: &mut dyn Write) -> Result<u64, StoreError>;
}

/// Fails unless the outcome was computed on the state that is there.
pub(crate) fn follows(revision: u64, outcome: &Outcome) -> Result<(), StoreError> {
    let expected = if outcome.events.is_empty() { revision } else { revision + 1 };
    let found = outcome.plan.revision;
    if found == expected {
        return Ok(());
    }
    Err(StoreError::Conflict { what: format!("the change leads to revision {found}, the plan is at {revision}") })
}

/// The events of an outcome that close a todo.
pub(crate) fn closing(outcome: &Outcome) -> impl Iterator<Item = Event> + '_ {
    outcome.events.iter().filter(|event| event.closes().is_some()).cloned()
}

pub(crate) fn name_taken(name: &str) -> StoreError {
    StoreError::Conflict { what: format!("a plan `{name}` exists already") }
}
