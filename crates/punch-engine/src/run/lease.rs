//! The right to run a plan: one runner at a time, on all machines that share the store. A lease with an epoch; while this
//! process holds it, every write of its engine to the plan compares the epoch, so that a runner that was paused for too
//! long and replaced changes nothing any more.

use std::sync::PoisonError;

use punch_store::{Durability, PlanId, RunGrant, Snapshot};
use serde::{Deserialize, Serialize};

use crate::process::host_name;
use crate::{Engine, EngineError};

/// How long the lease lasts unless renewed, in milliseconds.
const LEASE: i64 = 30_000;

/// The runner that holds a lease, stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHolder {
    /// The name of its machine.
    host: String,
    /// The folder with the files of its runs. Its lock tells on that machine whether a runner is alive.
    folder: String,
    /// The number of its process.
    process: u32,
}

impl RunHolder {
    /// This process, with the folder for the files of its runs.
    pub fn this_process(folder: &std::path::Path) -> Self {
        Self { host: host_name(), folder: folder.display().to_string(), process: std::process::id() }
    }

    /// How messages name the runner.
    fn shown(&self) -> String {
        match self.host == host_name() {
            true => format!("process {}", self.process),
            false => format!("process {} on {}", self.process, self.host),
        }
    }
}

impl Engine {
    /// Takes the plan for a runner. The caller holds the lock of the holder's folder, so an earlier runner with the same
    /// folder is dead and its lease does not count.
    pub fn take_run(&self, plan: PlanId, holder: &RunHolder) -> Result<(), EngineError> {
        let stored = serde_json::to_string(holder).unwrap_or_default();
        let epoch = self.write(plan, Durability::Full, |tx, now| {
            let earlier = tx.run_lease()?.and_then(|lease| {
                let held_by = serde_json::from_str::<RunHolder>(&lease.holder).ok()?;
                ((&held_by.host, &held_by.folder) == (&holder.host, &holder.folder)).then_some(lease.epoch)
            });
            if let Some(epoch) = earlier {
                tx.release_run(epoch)?;
            }
            match tx.take_run(&stored, LEASE, now)? {
                RunGrant::Granted { epoch } => Ok(epoch),
                RunGrant::HeldBy(lease) => {
                    let by = serde_json::from_str::<RunHolder>(&lease.holder).map(|holder| holder.shown());
                    Err(EngineError::RunTaken { by: by.unwrap_or(lease.holder) })
                }
            }
        })?;
        self.set_held_run(Some((plan, epoch)));
        Ok(())
    }

    /// Renews the lease of the plan that this process runs.
    pub fn renew_run(&self, plan: PlanId) -> Result<(), EngineError> {
        self.write(plan, Durability::Relaxed, |tx, now| {
            let Some(epoch) = self.held_epoch(plan) else { return Ok(()) };
            if tx.renew_run(epoch, LEASE, now)? { Ok(()) } else { Err(EngineError::RunReplaced) }
        })
    }

    /// Gives up the lease of the plan that this process runs.
    pub fn release_run(&self, plan: PlanId) -> Result<(), EngineError> {
        let Some(epoch) = self.held_epoch(plan) else { return Ok(()) };
        let released = self.write(plan, Durability::Full, |tx, _| Ok(tx.release_run(epoch)?));
        self.set_held_run(None);
        released.map(drop)
    }

    /// Fails if this process ran the plan and another runner has taken it since.
    pub(crate) fn require_held_run(&self, plan: PlanId, snapshot: &dyn Snapshot) -> Result<(), EngineError> {
        let Some(epoch) = self.held_epoch(plan) else { return Ok(()) };
        match snapshot.run_lease()? {
            Some(lease) if lease.epoch == epoch => Ok(()),
            _ => Err(EngineError::RunReplaced),
        }
    }

    fn held_epoch(&self, plan: PlanId) -> Option<u64> {
        let held = *self.held_run.lock().unwrap_or_else(PoisonError::into_inner);
        held.filter(|(held, _)| *held == plan).map(|(_, epoch)| epoch)
    }

    fn set_held_run(&self, held: Option<(PlanId, u64)>) {
        *self.held_run.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}
