//! The record of a run: when it began, how often it was resumed, and how it ended.

use punch_core::{RunOutcome, Status, Todo, WorkerId};
use punch_store::{Durability, PlanId, Snapshot, StoredRun, Which};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::turns::{self, OpenTurn};
use crate::fleet::{FleetSeats, HandedIn};
use crate::{Engine, EngineError, question};

/// Details of a run, stored as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunBody {
    /// The agents, as the user named them.
    pub agents: Vec<String>,
    /// How often the run was begun or resumed.
    pub epoch: u32,
    /// The revision of the plan before the run's first write.
    pub from: u64,
    /// The revision of the plan after the run's last write, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// When the run was last begun or resumed.
    pub taken_up: i64,
    /// Milliseconds that the run took before it was last resumed.
    pub wall: u64,
    /// The options of the run.
    pub options: Value,
    /// What the name of the run in branches begins with; `None` in runs that earlier versions began. Does not change with
    /// the name of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<String>,
    /// How the run ended; `None` while it runs, or if it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
    /// Details of the outcome, one line each: the limit that was reached, what blocks the open todos.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// The branch with the work of the run, if it was not merged when the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Turns that have begun and not ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_turns: Vec<OpenTurn>,
    /// The seats of each worker of the fleet that works on the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fleet: Vec<FleetSeats>,
    /// Work that workers of the fleet have pushed and the coordinator has not decided about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handed_in: Vec<HandedIn>,
}

/// The record of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The number of the run in its plan.
    pub id: u64,
    /// When the run began.
    pub started_at: i64,
    /// When the run ended.
    pub ended_at: Option<i64>,
    /// All other details.
    pub body: RunBody,
}

/// The limits of a whole run, as its record has them. `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedLimits {
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
    /// Turns of the model.
    pub turns: Option<u64>,
    /// Time in milliseconds.
    pub time: Option<u64>,
}

impl RunRecord {
    /// Returns the limits of the whole run.
    pub fn limits(&self) -> RecordedLimits {
        let limits = &self.body.options["limits"];
        let limit = |name: &str| limits[name].as_u64();
        // Earlier versions recorded the time as seconds and nanoseconds.
        let parts = || Some((limits["time"]["secs"].as_u64()?, limits["time"]["nanos"].as_u64()?));
        let earlier = || parts().map(|(secs, nanos)| secs.saturating_mul(1_000).saturating_add(nanos / 1_000_000));
        let some = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
        RecordedLimits {
            tokens: some(limit("tokens")),
            cost: some(limit("cost")),
            turns: some(limit("turns")),
            time: some(limit("time").or_else(earlier)),
        }
    }

    /// Returns true if the run can be resumed: it was killed, interrupted, or reached a limit.
    pub const fn is_resumable(&self) -> bool {
        !matches!(self.body.outcome, Some(RunOutcome::Done | RunOutcome::Stalled))
    }

    /// Returns true if the workers of a fleet work on the run, and the one that holds the plan coordinates them.
    pub fn is_fleet(&self) -> bool {
        is_fleet(&self.body.options)
    }

    /// Returns true if the run works in lanes.
    pub fn has_worktrees(&self) -> bool {
        self.body.options["worktrees"] == true
    }
}

/// What a run begins or resumes with.
#[derive(Clone, Debug, Default)]
pub struct RunStart {
    /// The agents, as the user named them.
    pub agents: Vec<String>,
    /// The options of the run, stored as [`RunBody::options`].
    pub options: Value,
    /// Begin a new run even if the last one can be resumed.
    pub fresh: bool,
    /// What the name of a new run in branches begins with, stored as [`RunBody::lanes`].
    pub lanes: Option<String>,
}

/// How a run ends, and why.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: RunOutcome,
    /// Details of the outcome, one line each, stored as [`RunBody::because`].
    pub because: Vec<String>,
    /// The branch with work that is not merged.
    pub result: Option<String>,
}

impl Engine {
    /// Begins a run, or resumes the last one if it was killed, interrupted, or reached a limit. A resumed run keeps its
    /// number and its ledger, so its limits hold over all its parts. A fleet resumes only runs of a fleet, and leaves
    /// everything alone that its workers have there: they may be at work.
    pub fn begin_run(&self, plan: PlanId, begin: &RunStart) -> Result<RunRecord, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let last = tx.runs(1)?.first().map(read);
            let revision = tx.row()?.revision;
            let next = last.as_ref().map_or(1, |run| run.id + 1);
            let fleet = is_fleet(&begin.options);
            let resumes = |run: &RunRecord| !begin.fresh && run.is_resumable() && run.is_fleet() == fleet;
            let mut run = match last.filter(resumes) {
                Some(run) => run,
                None => {
                    let body = RunBody { from: revision, lanes: begin.lanes.clone(), ..RunBody::default() };
                    RunRecord { id: next, started_at: now, ended_at: None, body }
                }
            };
            if run.body.epoch > 0 {
                let last = match run.ended_at {
                    Some(ended) => ended,
                    None => last_trace(tx, &run)?,
                };
                let went_on = last.saturating_sub(run.body.taken_up);
                run.body.wall = run.body.wall.saturating_add(u64::try_from(went_on).unwrap_or(0));
                if !fleet {
                    turns::charge_open(tx, &mut run, now)?;
                }
            }
            run.body.taken_up = now;
            if run.body.epoch == 0 || !fleet {
                run.body.agents.clone_from(&begin.agents);
                run.body.options.clone_from(&begin.options);
            }
            let goes_on = fleet && run.ended_at.take().is_none();
            run.ended_at = None;
            run.body.epoch += 1;
            (run.body.outcome, run.body.to) = (None, None);
            run.body.because.clear();
            // Ends an earlier part that was killed, and removes its seats and controls, because the user asks for work
            // now.
            if !goes_on {
                tx.put_run(&written(&RunRecord { ended_at: Some(now), ..run.clone() }))?;
            }
            tx.put_run(&written(&run))?;
            Ok(run)
        })
    }

    /// Records how a run ended.
    pub fn end_run(&self, plan: PlanId, id: u64, ended: &RunEnd) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let Some(mut run) = tx.run(id)?.as_ref().map(read) else { return Ok(()) };
            turns::charge_open(tx, &mut run, now)?;
            run.ended_at = Some(now);
            run.body.to = Some(tx.row()?.revision);
            run.body.outcome = Some(ended.outcome);
            run.body.because.clone_from(&ended.because);
            run.body.result.clone_from(&ended.result);
            tx.put_run(&written(&run))?;
            question::close_all(tx, id, now)
        })
    }

    /// Returns the runs of a plan, newest first.
    pub fn runs(&self, plan: PlanId, limit: usize) -> Result<Vec<RunRecord>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.runs(limit)?.iter().map(read).collect()))
    }

    /// Returns the record of a run.
    pub fn run(&self, plan: PlanId, id: u64) -> Result<Option<RunRecord>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.run(id)?.as_ref().map(read)))
    }

    /// Returns the todos that workers of runs have in progress, even if the lease has run out. Only for a runner that
    /// holds the lease of the plan: then these workers are dead.
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

/// Reads a record. A body that another version wrote is read as far as possible.
pub(crate) fn read(run: &StoredRun) -> RunRecord {
    let body = serde_json::from_str(&run.body).unwrap_or_default();
    RunRecord { id: run.id, started_at: run.started_at, ended_at: run.ended_at, body }
}

pub(crate) fn written(run: &RunRecord) -> StoredRun {
    let body = serde_json::to_string(&run.body).unwrap_or_default();
    StoredRun { id: run.id, started_at: run.started_at, ended_at: run.ended_at, body }
}

fn is_fleet(options: &Value) -> bool {
    options["fleet"] == true
}

/// Returns how long a run that has not ended worked, in milliseconds, with the parts before it was last resumed; and
/// until when.
pub(crate) fn worked(snapshot: &dyn Snapshot, run: &RunRecord, now: i64) -> Result<(u64, i64), EngineError> {
    let until = if is_running(snapshot, run, now)? { now } else { last_trace(snapshot, run)? };
    let part = u64::try_from(until.saturating_sub(run.body.taken_up)).unwrap_or(0);
    Ok((run.body.wall.saturating_add(part), until))
}

/// Returns until when a run that was killed ran at least: the latest time that it left in the store.
fn last_trace(snapshot: &dyn Snapshot, run: &RunRecord) -> Result<i64, EngineError> {
    let charged = snapshot.ledger(run.id)?.last().map(|spent| spent.at);
    let seats = snapshot.seats(run.id)?.into_iter().map(|seat| seat.at);
    let turns = run.body.open_turns.iter().map(|turn| turn.began);
    Ok(seats.chain(turns).chain(charged).max().unwrap_or(run.body.taken_up))
}

/// Returns true if a runner works on the run now.
pub(super) fn is_running(snapshot: &dyn Snapshot, run: &RunRecord, now: i64) -> Result<bool, EngineError> {
    let lease = snapshot.run_lease()?;
    let held = lease.is_none_or(|lease| lease.until.is_some_and(|until| now < until));
    Ok(held && run.ended_at.is_none())
}
