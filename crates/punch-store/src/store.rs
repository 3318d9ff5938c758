//! The trait that every backend implements, and what it promises. Synchronous and transaction-shaped: a caller hands
//! in a body, the store runs it inside one transaction. No function here is about a single field.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use punch_core::drive::TodoOffer;
use punch_core::{Event, Footprint, Outcome, Plan, PlanRow, Todo, Uid};

use crate::{
    Activity, ActivitySpan, Ahead, AttemptUsage, CheckpointRow, CloneFacts, CloneFactsTx, CompletedFiles,
    ControlRecord, ControlScope, DecisionRow, Durability, ExpectedCall, HandOut, LedgerEntry, ListMark, PlanId,
    PlanInfo, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, ReadMarker, ReadyMark, RunGrant, RunLease,
    SeatRecord, SessionKey, SessionRow, StoreError, StoredRun, Which, WorkerRecord,
};

/// What [`Store::write`] runs.
pub type WriteBody<'b> = &'b mut dyn FnMut(&mut dyn Tx) -> Result<(), StoreError>;

/// What [`Store::read`] runs.
pub type ReadBody<'b> = &'b mut dyn FnMut(&dyn Snapshot) -> Result<(), StoreError>;

/// What [`Store::browse`] runs.
pub type BrowseBody<'b> = &'b mut dyn FnMut(&dyn Catalogue) -> Result<(), StoreError>;

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
    /// A random id, made with the store and the same in its copies: what outlives a store, such as approvals and worktrees,
    /// is kept under this id and not under a path that another store can take.
    fn identity(&self) -> Result<String, StoreError>;

    /// Runs `body` in one write transaction on a plan.
    fn write(&self, plan: PlanId, durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError>;

    /// Runs `body` in one write transaction on a plan, like [`Store::write`], and says what it is about to read.
    fn write_ahead(
        &self,
        plan: PlanId,
        durability: Durability,
        _ahead: Ahead<'_>,
        body: WriteBody<'_>,
    ) -> Result<(), StoreError> {
        self.write(plan, durability, body)
    }

    /// Runs `body` on one moment of a plan.
    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError>;

    /// Runs `body` on one moment of what belongs to no plan: to find out which plan is meant.
    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError>;

    /// Makes an empty plan. A name that a plan in use has is a conflict.
    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError>;

    /// A number that is another one after every commit of any process: what was read after a look at it holds for as
    /// long as it stays, but for the time. With a plan, only writes to that plan must change it: what belongs to no plan,
    /// such as sessions, may have changed since. `None` where the backend cannot tell. An error if the store is out of
    /// reach.
    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError>;

    /// The time by the clock of the store, about as of the last transaction. `None` where the clock of the caller counts:
    /// in a store that one machine uses.
    fn now(&self) -> Option<i64> {
        None
    }

    /// Wake-ups for commits from now on, of this process and of others.
    fn changes(&self) -> Box<dyn Changes>;
}

/// A store that several owners share, as the connections of one server do.
impl<S: Store + ?Sized> Store for Arc<S> {
    fn identity(&self) -> Result<String, StoreError> {
        (**self).identity()
    }

    fn write(&self, plan: PlanId, durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError> {
        (**self).write(plan, durability, body)
    }

    fn write_ahead(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: WriteBody<'_>,
    ) -> Result<(), StoreError> {
        (**self).write_ahead(plan, durability, ahead, body)
    }

    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError> {
        (**self).read(plan, body)
    }

    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError> {
        (**self).browse(body)
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        (**self).create_plan(name, now)
    }

    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        (**self).stamp(plan)
    }

    fn now(&self) -> Option<i64> {
        (**self).now()
    }

    fn changes(&self) -> Box<dyn Changes> {
        (**self).changes()
    }
}

/// Waits for commits. A wake-up says only that something may have changed: the caller catches up by revision, so a
/// missed or a needless one does no harm.
pub trait Changes: Send {
    /// True as soon as something was committed since the last call (or since this was made), false after `timeout`.
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError>;
}

/// What belongs to no plan.
pub trait Catalogue: CloneFacts {
    /// The time of this transaction by the clock of the store; in a write, taken after the plan was locked. `None` where the
    /// clock of the caller counts. Leases of all machines are judged by this one clock.
    fn now(&self) -> Option<i64> {
        None
    }

    /// Every plan, archived ones too, in the order they were made.
    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError>;

    /// What is known about a session.
    fn session(&self, key: &SessionKey) -> Result<Option<SessionRow>, StoreError>;

    /// The sessions of a plan, or of all, that were seen after a time, the most recently seen first, at most `limit`.
    fn sessions(&self, plan: Option<PlanId>, seen_after: i64, limit: usize) -> Result<Vec<SessionRow>, StoreError>;

    /// The newest decisions first, of one session or of all. At most [`crate::DECISIONS_KEPT`] of each session are
    /// there.
    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRow>, StoreError>;

    /// What the user wants of a run, a seat or a session. `None` stands for [`crate::RequestedState::Go`].
    fn control(&self, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError>;

    /// Calls that hooks have announced and that no server has met yet, oldest first.
    fn expected_calls(&self) -> Result<Vec<ExpectedCall>, StoreError>;

    /// Every worker of the store, by name; also those that have left.
    fn workers(&self) -> Result<Vec<WorkerRecord>, StoreError>;
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

    /// Puts every live todo into a plan. A store that holds plans in memory shares its todos instead of copying them.
    fn load_live(&self, into: &mut Plan) -> Result<(), StoreError> {
        self.list(Which::Live, None, usize::MAX)?.into_iter().for_each(|todo| into.put(todo));
        Ok(())
    }

    /// Ready todos, beginning with the one that has `skip` others before it; those are counted and not read.
    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError>;

    /// The live todo with that id.
    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError>;

    /// The next time after `now` at which a lease or a timer ends: until then what is read changes only by writes.
    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError>;

    /// The todos whose lease or timer ended after `after` and not after `until`, in the order in which they ended. Nothing
    /// has been written about them since.
    fn ended(&self, after: i64, until: i64, limit: usize) -> Result<Vec<Todo>, StoreError>;

    /// The open todos whose content is exactly one of these, in list order: for formats that name todos by what they
    /// say.
    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError>;

    /// Events after a revision, in order. Only whole revisions: the page ends with the revision in which `limit` is
    /// reached. What was pruned is missing, see [`PlanInfo::pruned`].
    fn events(&self, since: u64, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// The events of one revision; empty if there is none, or if it was pruned.
    fn events_of(&self, revision: u64) -> Result<Vec<Event>, StoreError>;

    /// The first `limit` events of one revision, and how many it has: an import of a large plan is one revision.
    fn events_head(&self, revision: u64, limit: usize) -> Result<(Vec<Event>, u64), StoreError> {
        let mut events = self.events_of(revision)?;
        let total = events.len() as u64;
        events.truncate(limit);
        Ok((events, total))
    }

    /// What folding starts from: an empty whole plan, or the plan at the revision up to which events were pruned
    /// (without derived values: `derive` follows after the last event).
    fn baseline(&self) -> Result<Plan, StoreError>;

    /// The answer that was given under an idempotency key, if it is not older than
    /// [`crate::ANSWER_LIFETIME_MS`] at `now`.
    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError>;

    /// One checkpoint.
    fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError>;

    /// What attempts at todos took, of one todo or of all, by todo and attempt: sums over the ledger. Tokens that
    /// that were not reported are not in it: an estimate teaches nothing about estimates.
    fn usage(&self, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError>;

    /// The entries of the ledger that belong to a run, in the order in which they were added.
    fn ledger(&self, run: u64) -> Result<Vec<LedgerEntry>, StoreError>;

    /// The entries of the ledger about one todo, in or outside of runs, in the order in which they were added.
    fn spent_on(&self, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Entries of the ledger, whatever they belong to, in the order in which they were added, after the first `skip`.
    fn spending(&self, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Runs of the plan, newest first.
    fn runs(&self, limit: usize) -> Result<Vec<StoredRun>, StoreError>;

    /// One run.
    fn run(&self, id: u64) -> Result<Option<StoredRun>, StoreError>;

    /// Checkpoints of the plan, newest first.
    fn checkpoints(&self, limit: usize) -> Result<Vec<CheckpointRow>, StoreError>;

    /// Activities with a number above `since`, oldest first. What was pruned is missing, see
    /// [`ActivitySpan::has_gap_after`].
    fn activity(&self, since: u64, limit: usize) -> Result<Vec<Activity>, StoreError>;

    /// Activities about one todo, newest first.
    fn activity_of(&self, todo: Uid, limit: usize) -> Result<Vec<Activity>, StoreError>;

    /// The numbers of the oldest and the newest activity.
    fn activity_span(&self) -> Result<ActivitySpan, StoreError>;

    /// Questions of agents, newest first.
    fn questions(&self, which: QuestionFilter, limit: usize) -> Result<Vec<Question>, StoreError>;

    /// One question.
    fn question(&self, id: u64) -> Result<Option<Question>, StoreError>;

    /// What the user wants of a run and of its seats, where that is not [`crate::RequestedState::Go`]: first the run, then the
    /// seats by number.
    fn run_controls(&self, run: u64) -> Result<Vec<ControlRecord>, StoreError>;

    /// The seats of a run, by number.
    fn seats(&self, run: u64) -> Result<Vec<SeatRecord>, StoreError>;

    /// Todos that were handed out together, the oldest batch first.
    fn batches(&self) -> Result<Vec<HandOut>, StoreError>;

    /// The todos to which sessions were sent and that they have not started, oldest first; at most one for each session.
    fn offers(&self) -> Result<Vec<TodoOffer>, StoreError>;

    /// The todos that were copied from an agent's own list, the latest first.
    fn mirrored(&self) -> Result<Vec<Uid>, StoreError>;

    /// What the files of a todo held when it was completed.
    fn completed_files(&self, todo: Uid) -> Result<Option<CompletedFiles>, StoreError>;

    /// Up to where a reader has looked at the plan; `None` if it never did.
    fn read_marker(&self, reader: &str) -> Result<Option<ReadMarker>, StoreError>;

    /// Up to where each reader has looked, by the name of the reader.
    fn read_markers(&self) -> Result<Vec<ReadMarker>, StoreError>;

    /// The latest lease of a runner on the plan, released and expired ones too. A write of a runner compares its epoch.
    fn run_lease(&self) -> Result<Option<RunLease>, StoreError>;
}

/// A write transaction on one plan. It reads its own writes.
pub trait Tx: Snapshot + CloneFactsTx {
    /// Keeps an outcome: rows, edges, events, plan row. It must have been computed on this transaction's state: its
    /// revision is the current one, or the next one if it has events, else it is a conflict.
    fn put(&mut self, outcome: &Outcome) -> Result<(), StoreError>;

    /// Events that were put into this transaction and closed a todo ([`Event::closes`]): what follows a write needs not
    /// read them back.
    fn closing(&self) -> &[Event];

    /// Lets a plan without events begin at a baseline, as if the events before it had been pruned: for copies. The caller
    /// puts the events after it and then the todos. A plan that has events already is a conflict.
    fn begin_at(&mut self, baseline: &Plan) -> Result<(), StoreError>;

    /// Gives the plan another name. A name that a plan in use has is a conflict.
    fn rename(&mut self, name: &str) -> Result<(), StoreError>;

    /// Puts the plan away (`Some(when)`), or back into use.
    fn archive(&mut self, archived: Option<i64>) -> Result<(), StoreError>;

    /// Keeps an answer under an idempotency key, and forgets those of every plan that are too old at `now`.
    fn put_answer(&mut self, key: &str, body: &str, now: i64) -> Result<(), StoreError>;

    /// Keeps a session, replacing what was known about it.
    fn put_session(&mut self, session: &SessionRow) -> Result<(), StoreError>;

    /// Keeps a decision of a session under the next number, and forgets its oldest beyond [`crate::DECISIONS_KEPT`]. The
    /// first one of a session lets go of those of every session that are older than [`crate::DECISION_LIFETIME_MS`].
    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError>;

    /// Adds an entry to the ledger. Numbers beyond `i64::MAX` are kept as that.
    fn spend(&mut self, spent: &LedgerEntry) -> Result<(), StoreError>;

    /// Keeps a run, replacing what was known about it. One that has ended has no seats and no controls any more.
    fn put_run(&mut self, run: &StoredRun) -> Result<(), StoreError>;

    /// Keeps a checkpoint, replacing one with the same id.
    fn put_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError>;

    /// Forgets a checkpoint; one that is not there is no error.
    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError>;

    /// Adds an activity and returns its number. Now and then it also forgets the oldest: those beyond
    /// [`crate::ACTIVITY_KEPT`] and those older than [`crate::ACTIVITY_LIFETIME_MS`].
    fn put_activity(&mut self, activity: &Activity) -> Result<u64, StoreError>;

    /// Keeps a question and returns its number. Forgets settled ones that are more than [`crate::QUESTIONS_KEPT`] numbers
    /// behind it.
    fn put_question(&mut self, question: &Question) -> Result<u64, StoreError>;

    /// Answers a question if it is open. Of several answers only the first counts.
    fn answer_question(&mut self, id: u64, answer: &QuestionAnswer) -> Result<QuestionOutcome, StoreError>;

    /// Takes the answer to a question to apply it. Returns false if the question has no answer, or it was taken before.
    fn take_answer(&mut self, id: u64, now: i64) -> Result<bool, StoreError>;

    /// Closes a question without an answer if it is open, as when the agent that asked has ended.
    fn close_question(&mut self, id: u64, reason: &str, now: i64) -> Result<QuestionOutcome, StoreError>;

    /// Keeps what the user wants. [`crate::RequestedState::Go`] is kept as the absence of a control.
    fn put_control(&mut self, control: &ControlRecord) -> Result<(), StoreError>;

    /// Keeps where a seat stands, replacing what was known about it.
    fn put_seat(&mut self, seat: &SeatRecord) -> Result<(), StoreError>;

    /// Keeps up to where a reader has looked, and forgets all but the [`crate::READERS_KEPT`] readers that looked last.
    fn put_read_marker(&mut self, marker: &ReadMarker) -> Result<(), StoreError>;

    /// Takes the plan for a runner, with a new epoch, unless another runner holds it ([`RunLease::is_live`]).
    fn take_run(&mut self, holder: &str, lease_ms: i64, now: i64) -> Result<RunGrant, StoreError>;

    /// Prolongs a runner's lease. Returns false if the lease was released or another runner has taken the plan.
    fn renew_run(&mut self, epoch: u64, lease_ms: i64, now: i64) -> Result<bool, StoreError>;

    /// Ends a runner's lease. Returns false if another runner has taken the plan.
    fn release_run(&mut self, epoch: u64) -> Result<bool, StoreError>;

    /// Keeps a batch in place of its owner's earlier one, and forgets the oldest beyond [`crate::BATCHES_KEPT`].
    fn put_batch(&mut self, batch: &HandOut) -> Result<(), StoreError>;

    /// Forgets the batch of an owner.
    fn forget_batch(&mut self, owner: &str) -> Result<(), StoreError>;

    /// Keeps an offer in place of its owner's earlier one, and forgets those that have run out, are from the future, or
    /// are beyond the newest [`crate::OFFERS_KEPT`].
    fn put_offer(&mut self, offer: &TodoOffer) -> Result<(), StoreError>;

    /// Forgets the offer to an owner.
    fn forget_offer(&mut self, owner: &str) -> Result<(), StoreError>;

    /// Keeps which todos were copied from an agent's own list.
    fn put_mirrored(&mut self, todos: &[Uid]) -> Result<(), StoreError>;

    /// Keeps what the files of a completed todo held. The store forgets the earliest beyond
    /// [`crate::COMPLETED_FILES_KEPT`], of all plans together.
    fn put_completed_files(&mut self, files: &CompletedFiles) -> Result<(), StoreError>;

    /// Keeps an announced call, and forgets the oldest beyond [`crate::EXPECTED_CALLS_KEPT`].
    fn put_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError>;

    /// Forgets an announced call, once it has come.
    fn forget_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError>;

    /// Keeps what a worker writes about itself, and forgets workers that were last seen [`crate::WORKER_LIFETIME_MS`] before
    /// it. Returns false, and keeps nothing, if the name is stored with a later epoch: another process has it.
    fn put_worker(&mut self, worker: &WorkerRecord) -> Result<bool, StoreError>;

    /// Forgets the events of all revisions before `before`: writes each as one line of JSON to `export`, folds them
    /// into the baseline and deletes them. Answers how many there were. If `export` fails, nothing is forgotten. What the
    /// files of todos held that were removed, or completed before the last of these events, is forgotten too.
    fn prune(&mut self, before: u64, export: &mut dyn Write) -> Result<u64, StoreError>;
}

/// Fails unless the outcome was computed on the state that is there.
pub fn follows(revision: u64, outcome: &Outcome) -> Result<(), StoreError> {
    let expected = if outcome.events.is_empty() { revision } else { revision + 1 };
    let found = outcome.plan.revision;
    if found == expected {
        return Ok(());
    }
    Err(StoreError::Conflict { what: format!("the change leads to revision {found}, the plan is at {revision}") })
}

/// The events of an outcome that close a todo.
pub fn closing(outcome: &Outcome) -> impl Iterator<Item = Event> + '_ {
    outcome.events.iter().filter(|event| event.closes().is_some()).cloned()
}

/// Fails unless a plan can begin at a baseline.
pub fn begins(revision: u64) -> Result<(), StoreError> {
    if revision == 0 {
        return Ok(());
    }
    Err(StoreError::Conflict { what: format!("the plan is at revision {revision}, it cannot begin at a baseline") })
}

/// The error for a name that another plan in use has.
pub fn name_taken(name: &str) -> StoreError {
    StoreError::Conflict { what: format!("a plan named `{name}` already exists") }
}
