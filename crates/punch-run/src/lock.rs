//! One runner for one plan: a lock that the system frees when its holder is gone, however it went.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use punch_store::PlanId;

/// The right to run a plan, for as long as it is held.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum LockError {
    /// Another runner has it.
    Taken {
        /// What it wrote about itself.
        by: String,
    },
    /// The file cannot be had.
    Failed(io::Error),
}

impl Lock {
    /// Takes the lock of a plan in the folder of runs.
    pub fn take(folder: &Path, plan: PlanId) -> Result<Self, LockError> {
        fs::create_dir_all(folder).map_err(LockError::Failed)?;
        let path = folder.join(format!("plan-{}.lock", plan.0));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(LockError::Failed)?;
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
