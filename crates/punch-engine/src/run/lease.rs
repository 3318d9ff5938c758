//! The right to run a plan: one runner at a time on all machines that share the store. It is a lease with an epoch.
//! While this process holds it, every write of its engine to the plan compares the epoch, so a runner that was
//! suspended and replaced changes nothing.

use std::sync::PoisonError;

use punch_store::{Durability, PlanId, RunGrant, Snapshot};
use serde::{Deserialize, Serialize};

use crate::process::host_name;
use crate::{Engine, EngineError};

/// How long the lease lasts unless renewed, in milliseconds.
const LEASE: i64 = 30_000;

/// The plan that this process runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldRun {
    plan: PlanId,
    epoch: u64,
    /// How long the lease lasts unless renewed, in milliseconds.
    lease: i64,
}

/// The runner that holds a lease, stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHolder {
    /// The name of its machine.
    host: String,
    /// The folder with the files of its runs. Its lock shows on that machine whether a runner is alive.
    folder: String,
    /// The number of its process.
    process: u32,
    /// A random number of a worker's folder, which differs between machines that were copied from one another.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    instance: String,
    /// How long its lease lasts unless renewed, in milliseconds.
    #[serde(skip, default = "usual_lease")]
    lease: i64,
}

const fn usual_lease() -> i64 {
    LEASE
}

impl RunHolder {
    /// This process, with the folder for the files of its runs.
    pub fn this_process(folder: &std::path::Path) -> Self {
        let (host, folder, process) = (host_name(), folder.display().to_string(), std::process::id());
        Self { host, folder, process, instance: String::new(), lease: LEASE }
    }

    /// Returns the same holder with the random number of its folder.
    #[must_use]
    pub fn with_instance(self, instance: &str) -> Self {
        Self { instance: instance.to_owned(), ..self }
    }

    /// Returns true if both have one folder, on one machine.
    fn has_folder_of(&self, other: &Self) -> bool {
        (&self.host, &self.folder, &self.instance) == (&other.host, &other.folder, &other.instance)
    }

    /// Returns the same holder with a lease of another length, in milliseconds.
    #[must_use]
    pub fn with_lease(self, lease: i64) -> Self {
        Self { lease, ..self }
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
                held_by.has_folder_of(holder).then_some(lease.epoch)
            });
            if let Some(epoch) = earlier {
                tx.release_run(epoch)?;
            }
            // Whether the lease of another runner is plausible does not depend on how long ours lasts.
            match tx.take_run(&stored, LEASE, now)? {
                RunGrant::Granted { epoch } => {
                    tx.renew_run(epoch, holder.lease, now)?;
                    Ok(epoch)
                }
                RunGrant::HeldBy(lease) => {
                    let by = serde_json::from_str::<RunHolder>(&lease.holder).map(|holder| holder.shown());
                    Err(EngineError::RunTaken { by: by.unwrap_or(lease.holder) })
                }
            }
        })?;
        self.set_held_run(Some(HeldRun { plan, epoch, lease: holder.lease }));
        Ok(())
    }

    /// Returns true if a runner could take the plan now: nobody holds it, or an earlier process with the same folder.
    pub fn is_run_free(&self, plan: PlanId, holder: &RunHolder) -> Result<bool, EngineError> {
        let clock = self.now();
        self.read(plan, |snapshot| {
            let now = snapshot.now().unwrap_or(clock);
            let Some(lease) = snapshot.run_lease()?.filter(|lease| lease.is_live(LEASE, now)) else { return Ok(true) };
            let held_by = serde_json::from_str::<RunHolder>(&lease.holder).ok();
            Ok(held_by.is_some_and(|by| by.has_folder_of(holder)))
        })
    }

    /// Renews the lease of the plan that this process runs.
    pub fn renew_run(&self, plan: PlanId) -> Result<(), EngineError> {
        self.write(plan, Durability::Relaxed, |tx, now| {
            let Some(held) = self.held_run(plan) else { return Ok(()) };
            if tx.renew_run(held.epoch, held.lease, now)? { Ok(()) } else { Err(EngineError::RunReplaced) }
        })
    }

    /// Gives up the lease of the plan that this process runs.
    pub fn release_run(&self, plan: PlanId) -> Result<(), EngineError> {
        let Some(held) = self.held_run(plan) else { return Ok(()) };
        let released = self.write(plan, Durability::Full, |tx, _| Ok(tx.release_run(held.epoch)?));
        self.set_held_run(None);
        released.map(drop)
    }

    /// Fails if this process ran the plan and another runner has taken it since.
    pub(crate) fn require_held_run(&self, plan: PlanId, snapshot: &dyn Snapshot) -> Result<(), EngineError> {
        let Some(held) = self.held_run(plan) else { return Ok(()) };
        match snapshot.run_lease()? {
            Some(lease) if lease.epoch == held.epoch => Ok(()),
            _ => Err(EngineError::RunReplaced),
        }
    }

    /// Returns true if this process has taken the plan: its writes compare the lease.
    pub(crate) fn holds_run(&self, plan: PlanId) -> bool {
        self.held_run(plan).is_some()
    }

    fn held_run(&self, plan: PlanId) -> Option<HeldRun> {
        let held = *self.held_run.lock().unwrap_or_else(PoisonError::into_inner);
        held.filter(|held| held.plan == plan)
    }

    fn set_held_run(&self, held: Option<HeldRun>) {
        *self.held_run.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}
