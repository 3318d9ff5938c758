//! Workers of a fleet: one process on each machine, with agents that take todos of many plans. For each plan a worker has
//! two parts. One gives todos to agents and hands their work in; the other coordinates the plan while it holds its lease:
//! it merges and checks what all workers hand in (decision 0180).

mod instance;
mod seat_pool;
mod supervisor;
mod watchdog;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punch_core::{Label, Uid};
use punch_engine::{HandedIn, RunHolder, WorkerBody, WorkerName};
use punch_store::PlanId;

use crate::interrupt::Interrupt;
pub(crate) use seat_pool::SeatPool;
pub use supervisor::{FleetOptions, FleetProject, work};
pub(crate) use watchdog::Watchdog;

/// A worker of a fleet, shared by everything that its process does.
pub(crate) struct WorkerProcess {
    /// Its name.
    pub worker: WorkerName,
    /// Its labels.
    pub labels: BTreeSet<Label>,
    /// The git remote of the fleet.
    pub remote: String,
    /// How long the worker counts as alive unless its record is renewed.
    pub lease: Duration,
    /// The folder for its files.
    pub folder: PathBuf,
    /// The seats of its agents, shared by all plans.
    pub pool: SeatPool,
    /// Requests to stop: after the first one, no more todos are taken.
    pub signals: Interrupt,
    /// Every agent has left, so the coordinators can end too.
    pub drained: AtomicBool,
    /// What it writes about itself.
    body: Mutex<WorkerBody>,
    /// When the record in the store was last renewed.
    renewed: Mutex<Instant>,
    /// The number of the last start of an agent in this process.
    starts: AtomicU64,
    /// The plans that it serves.
    served: Mutex<BTreeSet<PlanId>>,
    /// Work that it could not check and left to another coordinator, by plan, todo and commit.
    passed_on: Mutex<BTreeSet<(PlanId, Uid, String)>>,
    /// Todos whose checks are not approved on this machine, already reported to the user.
    unapproved: Mutex<BTreeSet<(PlanId, Uid)>>,
    /// How often something was written to the store, as far as this process has heard.
    changes: AtomicU64,
    /// A random number that distinguishes copies of its machine.
    pub instance: String,
}

/// The part that a runner has in a fleet.
#[derive(Clone, Copy)]
pub(crate) struct FleetPart<'a> {
    pub fleet: &'a WorkerProcess,
    pub part: FleetRole,
}

/// What a runner does for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FleetRole {
    /// Gives todos to agents and hands their work in.
    Worker,
    /// Merges and checks what was handed in, and completes it.
    Coordinator,
}

impl WorkerProcess {
    /// Returns true once no more todos are taken.
    pub fn is_draining(&self) -> bool {
        self.signals.is_asked()
    }

    /// Returns a number that no other start of an agent in this process has.
    pub fn next_start(&self) -> u64 {
        self.starts.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes that something was written to the store.
    pub fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a number that grows with each write to the store that this process has heard of.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Counts a todo whose work was handed in.
    pub fn count_handed_in(&self) {
        self.lock_body().handed_in += 1;
    }

    /// Returns what the worker writes about itself now.
    pub fn body(&self) -> WorkerBody {
        let mut body = self.lock_body();
        body.draining = self.is_draining();
        body.clone()
    }

    /// Records that the store has a record of this worker that was asked for at `asked`.
    pub fn note_renewed(&self, asked: Instant) {
        let mut renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        *renewed = (*renewed).max(asked);
    }

    /// Returns how long ago the record in the store was renewed.
    pub fn since_renewed(&self) -> Duration {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Returns the lease in milliseconds.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns how long claims last unless renewed, in milliseconds: at least as long as the worker counts as alive, by
    /// which it is judged when they are renewed. `lease` is what the settings say.
    pub fn claim_lease_ms(&self, lease: i64) -> i64 {
        lease.max(self.lease_ms())
    }

    /// Records which plans the worker serves. Work on the others comes to its end.
    pub fn set_served(&self, plans: BTreeSet<PlanId>) {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = plans;
    }

    /// Returns true if the worker serves a plan. False once the plan was archived.
    pub fn serves(&self, plan: PlanId) -> bool {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).contains(&plan)
    }

    /// Returns true the first time that this worker meets work which it may not check. It leaves the plan to others then.
    pub fn passes_on(&self, plan: PlanId, work: &HandedIn) -> bool {
        let mut passed = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        passed.insert((plan, work.uid, work.commit.clone()))
    }

    /// Returns true the first time that this worker meets a todo whose check is not approved on this machine.
    pub fn notes_unapproved(&self, plan: PlanId, todo: Uid) -> bool {
        self.unapproved.lock().unwrap_or_else(PoisonError::into_inner).insert((plan, todo))
    }

    /// Returns the worker as the holder of the lease of a plan.
    pub fn holder(&self) -> RunHolder {
        RunHolder::this_process(&self.folder).with_lease(self.lease_ms()).with_instance(&self.instance)
    }

    fn lock_body(&self) -> MutexGuard<'_, WorkerBody> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl WorkerProcess {
    /// A worker with nothing to do.
    fn for_test(lease: Duration) -> Self {
        Self {
            worker: WorkerName { name: "a".to_owned(), epoch: 1 },
            labels: BTreeSet::new(),
            remote: "origin".to_owned(),
            lease,
            folder: PathBuf::new(),
            pool: SeatPool::new(1),
            signals: Interrupt::default(),
            drained: AtomicBool::new(false),
            body: Mutex::default(),
            renewed: Mutex::new(Instant::now()),
            starts: AtomicU64::new(0),
            served: Mutex::default(),
            passed_on: Mutex::default(),
            unapproved: Mutex::default(),
            changes: AtomicU64::new(0),
            instance: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_last_at_least_as_long_as_their_worker_counts_as_alive() {
        let fleet = WorkerProcess::for_test(Duration::from_secs(30));
        assert_eq!([1_000, 30_000, 900_000].map(|lease| fleet.claim_lease_ms(lease)), [30_000, 30_000, 900_000]);
    }

    #[test]
    fn work_that_cannot_be_checked_here_is_passed_on_once() {
        let fleet = WorkerProcess::for_test(Duration::from_secs(30));
        let work = |commit: &str| HandedIn {
            uid: Uid(1),
            fence: 1,
            commit: commit.to_owned(),
            branch: "punch/1/T-1".to_owned(),
            proof: None,
        };
        assert!(fleet.passes_on(PlanId(1), &work("a")));
        assert!(!fleet.passes_on(PlanId(1), &HandedIn { fence: 2, ..work("a") }), "every other worker had its chance");
        assert!(fleet.passes_on(PlanId(1), &work("b")) && fleet.passes_on(PlanId(2), &work("a")));
    }
}
