//! Checks that outlive the process that starts them. At most one runs for each todo on this machine: whoever runs it holds
//! a file lock, which the system frees when the process exits or is killed. So a check that was killed leaves nothing behind
//! and counts as not run.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::Uid;
use punch_store::{PlanId, create_own_folder, update_own};

/// How often a process that waits looks whether checks are over.
const LOOK: Duration = Duration::from_millis(10);

/// Starts checks in processes of their own, and knows which of them are running.
pub trait BackgroundChecks: Send + Sync {
    /// Starts the check of a todo that `agent` reported as done. When this returns, the check is running or has ended.
    fn start(&self, plan: PlanId, todo: Uid, agent: &str) -> io::Result<()>;

    /// The locks of the checks that are running.
    fn locks(&self) -> &CheckLocks;
}

/// The locks of running checks, in a folder beside the store.
#[derive(Clone, Debug)]
pub struct CheckLocks {
    folder: PathBuf,
}

/// Held while a check runs, freed when dropped.
#[derive(Debug)]
pub struct CheckLock {
    _file: File,
}

impl CheckLocks {
    /// The locks for the plans of a store, given the path of its database.
    pub fn beside(store: &Path) -> Self {
        Self { folder: store.parent().unwrap_or(Path::new(".")).join("checks") }
    }

    /// Takes the lock of a todo; `None` if its check is running.
    pub fn take(&self, plan: PlanId, todo: Uid) -> io::Result<Option<CheckLock>> {
        create_own_folder(&self.folder)?;
        let file = update_own(&self.path(plan, todo))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(CheckLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Returns true while the check of a todo is running on this machine.
    pub fn is_running(&self, plan: PlanId, todo: Uid) -> bool {
        let path = self.path(plan, todo);
        // A shared lock: two processes that look at the same time must not take each other for a check.
        let locked = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        path.is_file() && update_own(&path).is_ok_and(locked)
    }

    /// Waits until none of the checks is running, at most as long as given. Returns false if one still is.
    pub fn wait(&self, plan: PlanId, todos: &[Uid], limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            if !todos.iter().any(|todo| self.is_running(plan, *todo)) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(LOOK);
        }
    }

    fn path(&self, plan: PlanId, todo: Uid) -> PathBuf {
        self.folder.join(format!("{}-{}.lock", plan.0, todo.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_check_runs_for_each_todo() {
        let folder = tempfile::tempdir().unwrap();
        let locks = CheckLocks::beside(&folder.path().join("store.db"));
        let (plan, one, other) = (PlanId(1), Uid(1), Uid(2));
        assert!(!locks.is_running(plan, one), "looking makes no files");
        assert!(!folder.path().join("checks").exists());
        let held = locks.take(plan, one).unwrap().unwrap();
        assert!(locks.is_running(plan, one));
        assert!(locks.take(plan, one).unwrap().is_none());
        assert!(!locks.is_running(plan, other) && !locks.is_running(PlanId(2), one));
        drop(locks.take(plan, other).unwrap().unwrap());
        drop(held);
        assert!(!locks.is_running(plan, one));
        assert!(locks.take(plan, one).unwrap().is_some());
    }
}
