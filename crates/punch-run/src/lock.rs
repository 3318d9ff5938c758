//! Allows at most one runner of a plan per folder of runs, with a file lock that the system frees when its holder exits
//! or is killed. Between machines the lease in the store decides; this lock says that the holder of a lease is alive.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use punch_store::{PlanId, create_own_folder, update_own};

/// The lock of a plan, held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why the lock could not be taken.
#[derive(Debug)]
pub enum LockError {
    /// Another runner holds the lock.
    Taken {
        /// What the other runner wrote about itself into the lock file.
        by: String,
    },
    /// The lock file cannot be opened or locked.
    Failed(io::Error),
}

impl Lock {
    /// Takes the lock of a plan. `runs` is the folder for the files of runs.
    pub fn take(folder: &Path, plan: PlanId) -> Result<Self, LockError> {
        Self::take_file(folder, &format!("plan-{}.lock", plan.0))
    }

    /// Takes the lock of a file in a folder, which is created if missing.
    pub fn take_file(folder: &Path, name: &str) -> Result<Self, LockError> {
        create_own_folder(folder).map_err(LockError::Failed)?;
        let path = folder.join(name);
        let mut file = update_own(&path).map_err(LockError::Failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                let _ = (&mut file).take(100).read_to_string(&mut by);
                return Err(LockError::Taken { by: by.trim().to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(LockError::Failed(error)),
        }
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = write!(file, "process {}", std::process::id());
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_runner_of_the_same_plan_is_told_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path(), PlanId(1)).unwrap();
        let Err(LockError::Taken { by }) = Lock::take(folder.path(), PlanId(1)) else { panic!("taken twice") };
        assert_eq!(by, format!("process {}", std::process::id()));
        Lock::take(folder.path(), PlanId(2)).unwrap();
        drop(first);
        Lock::take(folder.path(), PlanId(1)).unwrap();
    }
}
