//! Wake-ups. Commits of this process tell the waiters directly; those of others are seen by asking one extra
//! connection for its `data_version` every 50 ms, and only while somebody waits.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::fail;
use super::link::{Access, Link};
use crate::hub::Hub;
use crate::{Changes, StoreError};

const PERIOD: Duration = Duration::from_millis(50);

/// Shared by a store and its waiters.
pub(super) struct Watch {
    path: PathBuf,
    hub: Hub,
    eye: Mutex<Option<Eye>>,
    waiters: Mutex<usize>,
}

/// The extra connection and what it saw last.
struct Eye {
    link: Link,
    version: i64,
}

impl Watch {
    pub fn new(path: PathBuf) -> Self {
        Self { path, hub: Hub::default(), eye: Mutex::new(None), waiters: Mutex::new(0) }
    }

    /// This process has committed.
    pub fn committed(&self) {
        // Looking now keeps the next look from reporting our own commit a second time. Anything that others have
        // committed in between is covered by this wake-up.
        if let Ok(mut eye) = self.eye.try_lock()
            && eye.is_some()
        {
            let _ = self.look(&mut eye);
        }
        self.hub.bump();
    }

    /// Looks for commits of others. If somebody else is looking, that is enough.
    fn poll(&self) -> Result<(), StoreError> {
        let mut eye = match self.eye.try_lock() {
            Ok(eye) => eye,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        if self.look(&mut eye)? {
            self.hub.bump();
        }
        Ok(())
    }

    /// True if the version moved since the last look. The first look counts as a move: nobody knows what was before.
    fn look(&self, eye: &mut MutexGuard<'_, Option<Eye>>) -> Result<bool, StoreError> {
        let failed = |e: rusqlite::Error| fail::sql(&self.path, "be watched", &e);
        let read = |link: &Link| link.conn.query_row("PRAGMA data_version", [], |row| row.get(0)).map_err(failed);
        if let Some(eye) = eye.as_mut() {
            let before = std::mem::replace(&mut eye.version, read(&eye.link)?);
            return Ok(before != eye.version);
        }
        let link = Link::open(&self.path, Access::Shared, PERIOD)?;
        let version = read(&link)?;
        **eye = Some(Eye { link, version });
        Ok(true)
    }

    fn count(&self) -> MutexGuard<'_, usize> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits.
pub(super) struct Waiter {
    watch: Arc<Watch>,
    seen: u64,
}

impl Waiter {
    pub fn new(watch: &Arc<Watch>) -> Self {
        *watch.count() += 1;
        // If this fails, the first wait tries again and reports it.
        let _ = watch.poll();
        Self { watch: Arc::clone(watch), seen: watch.hub.seen() }
    }
}

impl Changes for Waiter {
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let deadline = Instant::now() + timeout;
        loop {
            self.watch.poll()?;
            let left = deadline.saturating_duration_since(Instant::now());
            let seen = self.watch.hub.wait(self.seen, left.min(PERIOD));
            if seen != self.seen {
                self.seen = seen;
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiters = self.watch.count();
        *waiters -= 1;
        if *waiters == 0 {
            *self.watch.eye.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}
