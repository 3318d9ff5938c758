//! Checks that outlive the process that starts them. At most one runs for each todo on this machine: whoever runs it holds
//! a file lock, which the system frees when the process exits or is killed. So a check that was killed leaves nothing behind
//! and counts as not run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::Uid;
use punch_store::{PlanId, create_own_folder, update_own};

/// The file whose lock protects the folder.
const GUARD: &str = "folder.lock";

/// How long a process waits for others that look at the folder. One that takes longer is stuck, and no hook waits for it.
const LONGEST_LOOK: Duration = Duration::from_secs(2);

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

/// Held while a check runs. Dropping it frees the lock and removes its file.
#[derive(Debug)]
pub struct CheckLock {
    file: File,
    locks: CheckLocks,
}

impl Drop for CheckLock {
    fn drop(&mut self) {
        // A file that is not removed now is removed when the next check ends.
        let _ = self.file.unlock();
        let _ = self.locks.sweep();
    }
}

impl CheckLocks {
    /// The locks for the plans of a store, given the path of its database.
    pub fn beside(store: &Path) -> Self {
        Self { folder: store.parent().unwrap_or(Path::new(".")).join("checks") }
    }

    /// Takes the lock of a todo; `None` if its check is running.
    pub fn take(&self, plan: PlanId, todo: Uid) -> io::Result<Option<CheckLock>> {
        create_own_folder(&self.folder)?;
        let _guard = self.guard()?;
        let file = update_own(&self.path(plan, todo))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(CheckLock { file, locks: self.clone() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Returns true while the check of a todo is running on this machine.
    pub fn is_running(&self, plan: PlanId, todo: Uid) -> bool {
        let path = self.path(plan, todo);
        let Ok(_guard) = self.guard() else { return false };
        is_locked(&path)
    }

    /// Held while locks are taken, looked at or removed, each of which takes no time: without it, a process could take a
    /// lock whose file is being removed, or take a look for a check.
    fn guard(&self) -> io::Result<File> {
        let guard = update_own(&self.folder.join(GUARD))?;
        let until = Instant::now() + LONGEST_LOOK;
        loop {
            match guard.try_lock() {
                Ok(()) => return Ok(guard),
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOOK / 10),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Removes the files of locks that nobody holds: of a check that has ended, and of those that were killed.
    fn sweep(&self) -> io::Result<()> {
        let _guard = self.guard()?;
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_lock = name != GUARD && path.extension().is_some_and(|end| end == "lock");
            if is_lock && !is_locked(&path) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
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

/// Returns true if someone holds the lock of a file. Some file systems lock only files that are open for writing.
fn is_locked(path: &Path) -> bool {
    let locked = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    path.is_file() && update_own(path).is_ok_and(locked)
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

    #[test]
    fn no_files_of_checks_that_are_over_stay_behind() {
        let folder = tempfile::tempdir().unwrap();
        let locks = CheckLocks::beside(&folder.path().join("store.db"));
        let files = || {
            let names = fs::read_dir(folder.path().join("checks")).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        let (one, other) = (locks.take(PlanId(1), Uid(1)).unwrap(), locks.take(PlanId(1), Uid(2)).unwrap());
        // A process that is killed frees its lock and leaves the file.
        fs::write(folder.path().join("checks/1-9.lock"), "").unwrap();
        drop(one);
        assert_eq!(files(), ["1-2.lock", GUARD]);
        assert!(locks.is_running(PlanId(1), Uid(2)));
        drop(other);
        assert_eq!(files(), [GUARD]);
    }

    #[test]
    fn of_many_at_the_same_time_one_takes_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let locks = CheckLocks::beside(&folder.path().join("store.db"));
        let inside = std::sync::atomic::AtomicU32::new(0);
        let most = std::sync::atomic::AtomicU32::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(lock) = locks.take(PlanId(1), Uid(1)).unwrap() else { continue };
                        most.fetch_max(inside.fetch_add(1, order) + 1, order);
                        inside.fetch_sub(1, order);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(most.load(order), 1);
    }
}
