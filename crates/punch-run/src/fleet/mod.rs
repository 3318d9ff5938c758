//! Workers of a fleet: one process on each machine, with agents that take todos of many plans. For each plan a worker has
//! two parts. One gives todos to agents and hands their work in; the other coordinates the plan while it holds its lease:
//! it merges and checks what all workers hand in (decision 0180).

mod seat_pool;
mod supervisor;
mod watchdog;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punch_core::Label;
use punch_engine::{WorkerBody, WorkerName};

use crate::interrupt::Interrupt;
pub(crate) use seat_pool::SeatPool;
pub use supervisor::{FleetOptions, FleetWorld, work};
pub(crate) use watchdog::Watchdog;

/// A worker of a fleet, shared by everything that its process does.
pub(crate) struct Fleet {
    /// Its name.
    pub worker: WorkerName,
    /// Its labels.
    pub labels: BTreeSet<Label>,
    /// The git remote of the fleet.
    pub remote: String,
    /// How long it counts as alive unless it is heard of.
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
}

/// The part that a runner has in a fleet.
#[derive(Clone, Copy)]
pub(crate) struct FleetPart<'a> {
    pub fleet: &'a Fleet,
    pub part: Part,
}

/// What a runner does for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Gives todos to agents and hands their work in.
    Worker,
    /// Merges and checks what was handed in, and completes it.
    Coordinator,
}

impl Fleet {
    /// Returns true once no more todos are taken.
    pub fn is_draining(&self) -> bool {
        self.signals.is_asked()
    }

    /// Returns a number that no other start of an agent in this process has.
    pub fn next_start(&self) -> u64 {
        self.starts.fetch_add(1, Ordering::Relaxed) + 1
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

    fn lock_body(&self) -> MutexGuard<'_, WorkerBody> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
