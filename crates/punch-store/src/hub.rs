//! Notifies the waiters of this process that something was committed.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts commits; waiters compare what they have seen.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    commits: Mutex<u64>,
    woken: Condvar,
}

impl Hub {
    /// The count now.
    pub fn seen(&self) -> u64 {
        *self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a commit and wakes everybody.
    pub fn bump(&self) {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        *commits += 1;
        self.woken.notify_all();
    }

    /// Waits until the count differs from `seen`; the count at the end.
    pub fn wait(&self, seen: u64, timeout: Duration) -> u64 {
        let commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let (commits, _) = self
            .woken
            .wait_timeout_while(commits, timeout, |commits| *commits == seen)
            .unwrap_or_else(PoisonError::into_inner);
        *commits
    }
}
