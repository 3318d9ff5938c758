//! Schedules, checkpoints and assignments for the host.

use punch_core::schedule::{self, Batch, Schedule, ScheduleRequest};
use punch_engine::config::Batches;
use punch_engine::{Code, RestoreResult, Restoring, SavedCheckpoint, Saving};
use punch_store::SessionKey;
use serde::{Deserialize, Serialize};

use crate::{Error, Op, Options, Record, Session, Status};

/// A checkpoint: a snapshot of the plan and of the git state.
pub type Checkpoint = SavedCheckpoint;

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RestoreReport {
    /// The plan changed.
    pub changed: bool,
    /// The todos that are open again, in list order.
    pub reopened: Vec<String>,
    /// Todos that came after the checkpoint, and stay as they are.
    pub newer: Vec<String>,
    /// The checkpoint of the state before; none if nothing had to change.
    pub safety: Option<String>,
    /// The todo to continue with.
    pub next: Option<String>,
}

impl Session {
    /// Schedules the open todos for a number of agents, each with its own context windows.
    ///
    /// ```
    /// # use punchlist::{NewTodo, Op, Options, ScheduleRequest, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[
    ///     Op::add(NewTodo::new("Schema").id("a").estimated_tokens(8_000)),
    ///     Op::add(NewTodo::new("Endpoint").id("b").estimated_tokens(8_000).after(["a"])),
    ///     Op::add(NewTodo::new("Docs").id("c").estimated_tokens(4_000)),
    /// ])?;
    /// let schedule = session.schedule(&ScheduleRequest { agents: 2, context: 200_000, ..ScheduleRequest::default() })?;
    /// assert_eq!((schedule.budget, schedule.makespan), (140_000, 16_000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn schedule(&self, ask: &ScheduleRequest) -> Result<Schedule, Error> {
        Ok(schedule::schedule(&self.engine.whole(self.plan)?, ask, self.engine.now()))
    }

    /// The next batch for a context with that many tokens left. It fills at most 70 % of them, by estimates that are
    /// calibrated with what finished todos took. When all todos of the batch are closed, a checkpoint is saved, unless the
    /// setting `checkpoint.batches` is off.
    pub fn next_batch(&self, tokens_left: u64) -> Result<Batch, Error> {
        let (plan, calibration) = (self.engine.whole(self.plan)?, self.engine.calibration()?);
        let batch = schedule::batch(&plan, tokens_left, calibration, self.engine.now());
        if self.settings.checkpoint_batches.value != Batches::Off {
            let ids: Vec<String> = batch.todos.iter().map(|(id, _)| id.clone()).collect();
            let actor = self.actor();
            // A store that cannot be written to can be read all the same.
            if let Err(error) = self.engine.give_batch(self.plan, actor.owner().unwrap_or(self.name()), &ids) {
                self.engine.trouble(&error);
            }
        }
        Ok(batch)
    }

    /// Saves a checkpoint of the plan. With the feature `git` and a worktree, also of the git state.
    pub fn checkpoint(&self, notes: &str) -> Result<Checkpoint, Error> {
        let notes = Some(notes).filter(|notes| !notes.is_empty());
        let saving = Saving { by: &self.agent, notes, ..Saving::default() };
        Ok(self.engine.checkpoint(self.plan, &self.code(), &saving)?)
    }

    /// The latest checkpoints, newest first.
    pub fn checkpoints(&self, limit: usize) -> Result<Vec<Checkpoint>, Error> {
        Ok(self.engine.checkpoints(self.plan, limit)?)
    }

    /// Puts the work on the plan back to a checkpoint. The code is not touched; if it is elsewhere now, the restore is
    /// refused.
    pub fn restore(&self, id: &str) -> Result<RestoreReport, Error> {
        let how = Restoring { force: false, reopen: true };
        let restored = self.engine.restore(self.plan, &self.session_request(), &self.code(), id, how)?;
        let RestoreResult { reopened, newer, safety, next, changed, .. } = restored;
        Ok(RestoreReport { changed: !changed.outcome.events.is_empty(), reopened, newer, safety, next })
    }

    /// Hands open todos to a subagent of this conversation. The session that comes back is the subagent's: it may read, and
    /// report on these todos and no others. What this session has in progress among them goes over to it.
    /// [`Session::assignment`] is its first message. `options` name the subagent's
    /// program, dialect and settings; its session is this one.
    pub fn assign<I: AsRef<str>>(&self, ids: &[I], options: Options) -> Result<Self, Error> {
        let uids = ids.iter().map(|id| self.engine.resolve(self.plan, id.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let key = match &options.subagent {
            Some(name) => SessionKey::new(self.name(), Some(name)),
            None => self.new_subagent()?,
        };
        let assigned = self.engine.hand_out(self.plan, &self.actor(), &self.settings, &key, &uids)?;
        self.release_own(&assigned.ids)?;
        let subagent = key.subagent().map(str::to_owned);
        let options = Options { session: Some(self.name().to_owned()), subagent, ..options };
        let mut worker = self.beside(options)?;
        worker.assignment = Some(worker.wording.assignment(assigned.prompt));
        Ok(worker)
    }

    /// Gives back the claims of this session on todos, so that someone else can start them.
    fn release_own(&self, ids: &[String]) -> Result<(), Error> {
        let actor = self.actor();
        let is_own = |todo: &Record| {
            todo.status.stored() == Status::InProgress && todo.owner.as_deref() == actor.owner() && todo.owner.is_some()
        };
        let own = self.todos()?.into_iter().filter(is_own).filter_map(|todo| todo.id).filter(|id| ids.contains(id));
        let ops: Vec<Op> = own.map(Op::unclaim).collect();
        if ops.is_empty() { Ok(()) } else { self.apply(&ops).map(drop) }
    }

    /// A subagent of this conversation that there was never before, also not in an earlier process.
    fn new_subagent(&self) -> Result<SessionKey, Error> {
        loop {
            let key = SessionKey::new(self.name(), Some(&self.next_subagent()));
            if self.engine.session(&key)?.is_none() {
                return Ok(key);
            }
        }
    }

    /// The first message for a subagent that was assigned todos; `None` for every other session.
    pub fn assignment(&self) -> Option<&str> {
        self.assignment.as_deref()
    }

    fn code(&self) -> Code {
        self.tree.as_ref().map(Code::look).unwrap_or_default()
    }
}
