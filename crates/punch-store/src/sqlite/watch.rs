//! Wake-ups. Commits of this process tell the waiters directly; those of others are seen by asking one extra
//! connection for its `data_version` every 50 ms, and only while there are waiters.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::connection::{Access, StoreConnection, check_identity};
use super::fail;
use crate::hub::Hub;
use crate::platform::Identity;
use crate::{Changes, StoreError};

const PERIOD: Duration = Duration::from_millis(50);

/// Shared by a store and its waiters.
pub(super) struct Watch {
    path: PathBuf,
    identity: Identity,
    access: Access,
    hub: Hub,
    eye: Mutex<Option<Eye>>,
    waiters: Mutex<usize>,
}

/// The extra connection, if the store can be shared at all, and what was seen last.
struct Eye {
    connection: Option<StoreConnection>,
    version: i64,
}

impl Watch {
    pub fn new(path: PathBuf, identity: Identity, access: Access) -> Self {
        Self { path, identity, access, hub: Hub::default(), eye: Mutex::new(None), waiters: Mutex::new(0) }
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

    /// Commits seen so far, after a look at those of others; `None` while another thread is looking, or where the file
    /// does not tell.
    pub fn stamp(&self) -> Result<Option<u64>, StoreError> {
        if self.access == Access::Still {
            return Ok(None);
        }
        let Ok(mut eye) = self.eye.try_lock() else { return Ok(None) };
        if self.look(&mut eye)? {
            self.hub.bump();
        }
        Ok(Some(self.hub.seen()))
    }

    /// Looks for commits of others. If another thread is looking, that is enough.
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

    /// True if the version moved since the last look. The first look counts as a move: what was before is unknown.
    fn look(&self, eye: &mut MutexGuard<'_, Option<Eye>>) -> Result<bool, StoreError> {
        if let Some(eye) = eye.as_mut() {
            let before = std::mem::replace(&mut eye.version, self.version(eye.connection.as_ref())?);
            return Ok(before != eye.version);
        }
        let connection = match self.access {
            Access::Shared => Some(StoreConnection::open(&self.path, Access::Shared, PERIOD)?),
            Access::Still => None,
        };
        let version = self.version(connection.as_ref())?;
        **eye = Some(Eye { connection, version });
        Ok(true)
    }

    /// A number that moves with every commit of others. An error if the path no longer leads to the store: its file
    /// would never change again.
    fn version(&self, connection: Option<&StoreConnection>) -> Result<i64, StoreError> {
        check_identity(&self.path, self.identity)?;
        if let Some(connection) = connection {
            let asked = connection.conn.prepare_cached("PRAGMA data_version");
            let version = asked.and_then(|mut asked| asked.query_row([], |row| row.get(0)));
            return version.map_err(|e| fail::sql(&self.path, "be watched", &e));
        }
        // What cannot be shared can still be looked at from outside.
        let changed = fs::metadata(&self.path).and_then(|meta| meta.modified());
        let changed = changed.map_err(|e| fail::io(&self.path, "watch it", &e))?;
        let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
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
