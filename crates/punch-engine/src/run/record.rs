//! The record of a run: begun, taken up again, ended.

use punch_core::{Status, Todo, WorkerId};
use punch_store::{Durability, PlanId, Run, Which};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Engine, EngineError};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Nothing is left that the run was to do.
    Done,
    /// Something is open and nothing of it can be worked on.
    Stalled,
    /// A limit was reached.
    Budget,
    /// Somebody stopped it.
    Interrupted,
}

impl RunOutcome {
    /// The word on the last line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stalled => "stalled",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What is kept about a run beside its times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunBody {
    /// The agents, as they were named.
    pub agents: Vec<String>,
    /// How often it was taken up, the beginning included.
    pub epoch: u32,
    /// The revision before its first write.
    pub from: u64,
    /// The revision after its last write, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// When it was last taken up.
    pub taken_up: i64,
    /// Milliseconds that it went on before it was last taken up.
    pub wall: u64,
    /// Limits and whatever else it was asked for.
    pub options: Value,
    /// How it ended; `None` while it goes on, or if it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
    /// What more is to be said about that: the limit, the roots. One line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its number in the plan.
    pub id: u64,
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// The rest.
    pub body: RunBody,
}

impl RunRecord {
    /// It did not come to an end of its own, and can be taken up.
    pub const fn is_resumable(&self) -> bool {
        !matches!(self.body.outcome, Some(RunOutcome::Done | RunOutcome::Stalled))
    }

    /// Its agents worked in work trees of their own.
    pub fn has_worktrees(&self) -> bool {
        self.body.options["worktrees"] == true
    }
}

/// What a run begins with.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// The agents, as they were named.
    pub agents: Vec<String>,
    /// See [`RunBody::options`].
    pub options: Value,
    /// Begin a new one even if the last one could be taken up.
    pub fresh: bool,
}

/// How a run ends.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The word for it.
    pub outcome: RunOutcome,
    /// See [`RunBody::because`].
    pub because: Vec<String>,
}

impl Engine {
    /// Begins a run, or takes up the last one if it did not come to an end of its own: it was killed, interrupted, or
    /// ran into a limit. Its ledger goes on: the meter never starts again.
    pub fn begin_run(&self, plan: PlanId, begin: &Begin) -> Result<RunRecord, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let last = tx.runs(1)?.first().map(read);
            let revision = tx.row()?.revision;
            let next = last.as_ref().map_or(1, |run| run.id + 1);
            let mut run = match last.filter(|run| !begin.fresh && run.is_resumable()) {
                Some(run) => run,
                None => {
                    let body = RunBody { from: revision, ..RunBody::default() };
                    RunRecord { id: next, started_at: now, ended_at: None, body }
                }
            };
            if run.body.epoch > 0 {
                // One that was killed went on at least until its last entry.
                let last = run.ended_at.or_else(|| tx.ledger(run.id).ok()?.last().map(|spent| spent.at));
                let went_on = last.unwrap_or(run.body.taken_up).saturating_sub(run.body.taken_up);
                run.body.wall = run.body.wall.saturating_add(u64::try_from(went_on).unwrap_or(0));
            }
            run.body.taken_up = now;
            run.ended_at = None;
            run.body.agents.clone_from(&begin.agents);
            run.body.options.clone_from(&begin.options);
            run.body.epoch += 1;
            (run.body.outcome, run.body.to) = (None, None);
            run.body.because.clear();
            tx.put_run(&written(&run))?;
            Ok(run)
        })
    }

    /// Ends a run.
    pub fn end_run(&self, plan: PlanId, id: u64, ended: &Ended) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let Some(mut run) = tx.run(id)?.as_ref().map(read) else { return Ok(()) };
            run.ended_at = Some(now);
            run.body.to = Some(tx.row()?.revision);
            run.body.outcome = Some(ended.outcome);
            run.body.because.clone_from(&ended.because);
            Ok(tx.put_run(&written(&run))?)
        })
    }

    /// Runs of a plan, newest first.
    pub fn runs(&self, plan: PlanId, limit: usize) -> Result<Vec<RunRecord>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.runs(limit)?.iter().map(read).collect()))
    }

    /// One run.
    pub fn run(&self, plan: PlanId, id: u64) -> Result<Option<RunRecord>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.run(id)?.as_ref().map(read)))
    }

    /// What workers of runs have in progress, whether or not their leases still hold. To be asked by the only runner
    /// that there is: then these workers are gone.
    pub fn todos_of_workers(&self, plan: PlanId) -> Result<Vec<Todo>, EngineError> {
        self.read(plan, |snapshot| {
            let mut out = snapshot.list(Which::Running, None, usize::MAX)?;
            out.retain(|todo| {
                todo.status == Status::InProgress && todo.owner.as_deref().and_then(WorkerId::of).is_some()
            });
            Ok(out)
        })
    }
}

/// A body that an older version wrote reads as far as it is understood.
fn read(run: &Run) -> RunRecord {
    let body = serde_json::from_str(&run.body).unwrap_or_default();
    RunRecord { id: run.id, started_at: run.started_at, ended_at: run.ended_at, body }
}

fn written(run: &RunRecord) -> Run {
    let body = serde_json::to_string(&run.body).unwrap_or_default();
    Run { id: run.id, started_at: run.started_at, ended_at: run.ended_at, body }
}
