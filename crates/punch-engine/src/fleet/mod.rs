//! Workers of a fleet: processes on any number of machines that take todos of the plans in one store. Each has a name and
//! a record in the store, which says that it is alive as long as it is renewed. A process that finds its name taken writes
//! nothing more.

mod handed_in;
mod list;
mod open_questions;
mod refresher;

use std::collections::BTreeSet;

use punch_core::{Actor, Footprint, Label, Op, Plan, Ref, Status, Todo, Uid, WorkerId};
use punch_store::{Ahead, Durability, PlanId, Snapshot, WorkerRecord};
use serde::{Deserialize, Serialize};

pub(crate) use handed_in::FleetSeats;
pub use handed_in::HandedIn;
pub use refresher::FleetRefresher;

use crate::doctor::CLOCK_TOLERANCE;
use crate::process::host_name;
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, WriteRequest};

/// The longest name of a worker, in characters.
const LONGEST_NAME: usize = 60;

/// Returns true if a worker can have this name: letters, digits, `.`, `_` and `-`.
pub fn is_worker_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits) && !name.starts_with(['.', '-'])
}

/// Returns the name that a worker on this machine has by default.
pub fn default_worker_name() -> String {
    let name: String = host_name().chars().map(|c| if is_worker_name(&c.to_string()) { c } else { '-' }).collect();
    let name: String = name.trim_matches('-').chars().take(LONGEST_NAME).collect();
    if is_worker_name(&name) { name } else { "worker".to_owned() }
}

/// What a worker writes about itself, stored as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkerBody {
    /// The name of its machine.
    pub host: String,
    /// The number of its process.
    pub process: u32,
    /// The folder with its files. The lock in it shows on that machine whether the worker is alive.
    pub folder: String,
    /// The version of the program.
    pub version: String,
    /// The labels that todos may ask for.
    pub labels: BTreeSet<Label>,
    /// How many agents work at the same time.
    pub seats: usize,
    /// The agents, as the user named them.
    pub agents: Vec<String>,
    /// The plans it takes todos of; all if there are none.
    pub plans: Vec<String>,
    /// It takes no more todos and leaves when its agents are done.
    pub draining: bool,
    /// When the worker started.
    pub started_at: i64,
    /// Todos whose work it handed in since then.
    pub handed_in: u64,
    /// It never coordinates a plan.
    pub only_works: bool,
    /// A random number that differs between machines which were copied from one another.
    pub instance: String,
}

impl WorkerBody {
    /// Describes this process. `folder` is for its files.
    pub fn this_process(folder: &std::path::Path, version: &str) -> Self {
        Self {
            host: host_name(),
            process: std::process::id(),
            folder: folder.display().to_string(),
            version: version.to_owned(),
            ..Self::default()
        }
    }

    /// How messages name the process.
    fn shown(&self) -> String {
        format!("process {} on {}", self.process, self.host)
    }
}

/// A worker that this process is: a name, and which of the processes with that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerName {
    /// The name.
    pub name: String,
    /// Grows by one with each process that takes the name.
    pub epoch: u32,
}

impl Engine {
    /// Takes a name for a worker and starts its record, for `lease` milliseconds. The caller holds the lock of the
    /// worker's folder, so an earlier process with the same folder is dead. Fails if another process has the name.
    pub fn register_worker(&self, name: &str, body: &WorkerBody, lease: i64) -> Result<WorkerName, EngineError> {
        // Always through the same plan: its lock keeps two processes apart that ask for one name.
        let first = self.plans()?.into_iter().map(|plan| plan.id).min();
        let first = first.ok_or_else(|| EngineError::UnknownPlan { name: "main".to_owned(), near: Vec::new() })?;
        self.write(first, Durability::Full, |tx, now| {
            let known = tx.workers()?.into_iter().find(|worker| worker.name == name);
            if let Some(other) = known.as_ref().filter(|worker| is_alive(worker, now)).map(read)
                && (&other.host, &other.folder, &other.instance) != (&body.host, &body.folder, &body.instance)
            {
                return Err(EngineError::WorkerTaken { name: name.to_owned(), by: other.shown() });
            }
            let epoch = known.map_or(0, |worker| worker.epoch) + 1;
            let body = WorkerBody { started_at: now, ..body.clone() };
            let record = record(name, epoch, Some(now.saturating_add(lease)), &body, now);
            tx.put_worker(&record)?;
            Ok(WorkerName { name: name.to_owned(), epoch: u32::try_from(epoch).unwrap_or(u32::MAX) })
        })
    }

    /// Renews the record of a worker and all its claims on a plan, in one transaction. `claims` are todos with the owner of
    /// each claim; those that no longer hold stay as they are.
    pub fn renew_worker(
        &self,
        plan: PlanId,
        worker: &WorkerName,
        body: &WorkerBody,
        lease: i64,
        (run, claims, claim_lease): (u64, &[(Uid, String)], i64),
    ) -> Result<(), EngineError> {
        let all = Footprint { todos: claims.iter().map(|(uid, _)| *uid).collect(), ..Footprint::default() };
        self.write_ahead(plan, Durability::Relaxed, Ahead::load(&all), |tx, now| {
            // Read with the lock: the claims below are answered from it.
            tx.load(&all, &mut Plan::slice(tx.row()?))?;
            let record = record(&worker.name, u64::from(worker.epoch), Some(now.saturating_add(lease)), body, now);
            if !tx.put_worker(&record)? {
                return Err(EngineError::WorkerReplaced { name: worker.name.clone() });
            }
            for (uid, owner) in claims {
                let request = WriteRequest {
                    durability: Durability::Relaxed,
                    ..WriteRequest::of(Actor::runner(run, Some(owner)))
                };
                let first = Footprint { todos: [*uid].into(), ..Footprint::default() };
                let until = now.saturating_add(claim_lease);
                let renewed = apply_in_transaction(tx, now, &request, &first, &mut |part, _| {
                    let todo = part.need(*uid)?;
                    let ours = todo.status == Status::InProgress && todo.owner.as_deref() == Some(owner.as_str());
                    Ok(if ours { vec![Op::Renew(Ref::Uid(*uid), until)] } else { Vec::new() })
                });
                match renewed {
                    Ok(_) | Err(EngineError::Refused(_) | EngineError::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    /// Records that a worker has left. Nothing happens if another process has its name.
    pub fn release_worker(&self, worker: &WorkerName, body: &WorkerBody) -> Result<(), EngineError> {
        let Some(first) = self.plans()?.into_iter().map(|plan| plan.id).min() else { return Ok(()) };
        self.write(first, Durability::Full, |tx, now| {
            tx.put_worker(&record(&worker.name, u64::from(worker.epoch), None, body, now))?;
            Ok(())
        })
    }

    /// Returns true if a worker other than this one could coordinate a plan: it is alive, and not about to leave.
    pub fn has_other_coordinator(&self, plan: PlanId, name: &str, worker: &str) -> Result<bool, EngineError> {
        let clock = self.now();
        self.read(plan, |snapshot| {
            let now = snapshot.now().unwrap_or(clock);
            let others = snapshot.workers()?.into_iter().filter(|other| other.name != worker && is_alive(other, now));
            Ok(others.map(|other| read(&other)).any(|body| {
                let serves = body.plans.is_empty() || body.plans.iter().any(|plan| plan == name);
                serves && !body.only_works && !body.draining
            }))
        })
    }

    /// Returns the todos in progress whose worker is dead: its record has expired, it has left, or a later process has its
    /// name. Also those of earlier coordinators. Only for the coordinator of this run.
    pub fn orphaned_todos(&self, plan: PlanId, run: u64, epoch: u32) -> Result<Vec<Todo>, EngineError> {
        let clock = self.now();
        self.read(plan, |snapshot| {
            let now = snapshot.now().unwrap_or(clock);
            let workers = snapshot.workers()?;
            let mut out = snapshot.list(punch_store::Which::Running, None, usize::MAX)?;
            out.retain(|todo| {
                let owner = todo.owner.as_deref().and_then(WorkerId::of);
                owner.is_some_and(|owner| is_orphaned(&owner, &workers, (run, epoch), now))
                    && todo.status == Status::InProgress
            });
            Ok(out)
        })
    }
}

/// Returns true if the worker that started an agent is dead, or an earlier coordinator did. `current` is the run and the epoch
/// of this coordinator.
fn is_orphaned(owner: &WorkerId, workers: &[WorkerRecord], current: (u64, u32), now: i64) -> bool {
    match &owner.fleet {
        Some(name) => is_dead(workers, name, owner.epoch, now),
        None => (owner.run, owner.epoch) != current,
    }
}

/// Returns true if no live process has this name and epoch.
fn is_dead(workers: &[WorkerRecord], name: &str, epoch: u32, now: i64) -> bool {
    let alive =
        |worker: &&WorkerRecord| worker.name == name && worker.epoch == u64::from(epoch) && is_alive(worker, now);
    !workers.iter().any(|worker| alive(&worker))
}

/// Returns true if a worker has renewed its record in time. A record that was renewed later than now comes from a clock
/// that ran ahead, and is not respected.
pub(crate) fn is_alive(worker: &WorkerRecord, now: i64) -> bool {
    worker.until.is_some_and(|until| now < until) && worker.seen_at <= now.saturating_add(CLOCK_TOLERANCE)
}

/// Returns the labels of each worker that is alive and takes todos; `None` if the store knows no worker.
pub(crate) fn labels_of_fleet(snapshot: &dyn Snapshot, now: i64) -> Result<Option<Vec<BTreeSet<Label>>>, EngineError> {
    let workers = snapshot.workers()?;
    let alive = workers.iter().filter(|worker| is_alive(worker, now));
    let labels = alive.map(read).filter(|body| !body.draining).map(|body| body.labels).collect();
    Ok((!workers.is_empty()).then_some(labels))
}

/// Reads a worker's record. A record from another version is read as far as possible.
fn read(worker: &WorkerRecord) -> WorkerBody {
    serde_json::from_str(&worker.body).unwrap_or_default()
}

fn record(name: &str, epoch: u64, until: Option<i64>, body: &WorkerBody, now: i64) -> WorkerRecord {
    let body = serde_json::to_string(body).unwrap_or_default();
    WorkerRecord { name: name.to_owned(), epoch, seen_at: now, until, body }
}
