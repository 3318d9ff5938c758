//! Whose turn it is to write. SQLite alone lets waiting writers poll with growing pauses, and an unlucky one waits for
//! seconds; an advisory lock on a side file queues them in the kernel. It is for fairness only: correctness comes from
//! SQLite's own locks, so a missing, leftover or unsupported lock file does no harm.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::fail;
use crate::{StoreError, StoreObstacle};

/// Held until dropped.
#[derive(Debug)]
pub(super) struct WriteTurn {
    /// `store.lock`, which also holds the record of commits.
    pub file: File,
}

impl WriteTurn {
    /// Waits for the turn, at most until the deadline.
    pub fn take(store: &Path, deadline: Instant) -> Result<Self, StoreError> {
        let path = store.with_extension("lock");
        let file = crate::update_own(&path).map_err(|e| fail::io(store, "open its lock file", &e))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Self::queue(store, file, deadline),
            // A file system without locks: SQLite's own will do.
            Err(TryLockError::Error(_)) => Ok(Self { file }),
        }
    }

    /// There is no lock call with a deadline, so a thread makes the call without one. If it comes too late, both
    /// handles are closed by then and the lock is gone with them.
    fn queue(store: &Path, file: File, deadline: Instant) -> Result<Self, StoreError> {
        let waiting = file.try_clone().map_err(|e| fail::io(store, "wait for its lock file", &e))?;
        let (done, woken) = mpsc::channel();
        thread::Builder::new()
            .name("store-turn".into())
            .spawn(move || {
                let _ = waiting.lock();
                drop(waiting);
                let _ = done.send(());
            })
            .map_err(|e| fail::io(store, "wait for its lock file", &e))?;
        let left = deadline.saturating_duration_since(Instant::now());
        match woken.recv_timeout(left) {
            Ok(()) => Ok(Self { file }),
            Err(_) => Err(fail::unavailable(store, StoreObstacle::Busy, busy(left))),
        }
    }
}

fn busy(waited: Duration) -> String {
    format!("another process has been writing for {:.1} s", waited.as_secs_f64())
}
