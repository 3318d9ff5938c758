//! Wake-ups. Commits of this process tell the waiters directly; those of others are seen by asking one extra
//! connection for its `data_version`, and only while there are waiters. Where the system reports writes to SQLite's log, the
//! question is asked right after them; elsewhere every 50 ms (decision 0160).

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::connection::{FileAccess, StoreConnection, check_identity};
use super::fail;
use crate::file_events::FileEvents;
use crate::hub::Hub;
use crate::platform::FileIdentity;
use crate::{Changes, StoreError};

/// How often commits of others are looked for where nothing reports them.
const PERIOD: Duration = Duration::from_millis(50);
/// How often they are looked for although writes are reported: a file system that reports none must not hide them.
const REPORTED_PERIOD: Duration = Duration::from_millis(200);
/// A write is seen in the log before its commit counts: it is synced first. So it is looked for again and again, and after a
/// while less often.
const SOON: Duration = Duration::from_millis(2);
const SOON_FOR: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_millis(10);
const LATER_FOR: Duration = Duration::from_millis(200);

/// Shared by a store and its waiters.
pub(super) struct StoreWatch {
    path: PathBuf,
    identity: FileIdentity,
    access: FileAccess,
    hub: Hub,
    eye: Mutex<Option<Eye>>,
    /// Held by the waiter that waits for reports; the others are woken by it.
    log: Mutex<LogEvents>,
    waiters: Mutex<usize>,
}

/// Reports of writes to SQLite's log.
#[derive(Default)]
enum LogEvents {
    /// Nobody has waited yet.
    #[default]
    Unasked,
    /// The system does not report writes.
    Absent,
    Watched {
        events: FileEvents,
        /// When a write was reported whose commit was not seen yet.
        written: Option<Instant>,
    },
}

/// The extra connection, if the store can be shared at all, and what was seen last.
struct Eye {
    connection: Option<StoreConnection>,
    version: i64,
}

impl StoreWatch {
    pub fn new(path: PathBuf, identity: FileIdentity, access: FileAccess) -> Self {
        Self {
            path,
            identity,
            access,
            hub: Hub::default(),
            eye: Mutex::new(None),
            log: Mutex::default(),
            waiters: Mutex::new(0),
        }
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
        if self.access == FileAccess::Still {
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
            FileAccess::Shared => Some(StoreConnection::open(&self.path, FileAccess::Shared, PERIOD)?),
            FileAccess::Still => None,
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

    /// Waits until something may have been committed, at most `left`, or until the next look is due.
    fn pause(&self, seen: u64, left: Duration) {
        let Ok(mut log) = self.log.try_lock() else {
            self.hub.wait(seen, left.min(PERIOD));
            return;
        };
        if matches!(*log, LogEvents::Unasked) {
            let mut name = self.path.clone().into_os_string();
            name.push("-wal");
            let events = (self.access == FileAccess::Shared).then(|| FileEvents::of(name.as_ref())).flatten();
            *log = events.map_or(LogEvents::Absent, |events| LogEvents::Watched { events, written: None });
            // What was written before the watch began is looked for first.
            return;
        }
        let LogEvents::Watched { events, written } = &mut *log else {
            drop(log);
            self.hub.wait(seen, left.min(PERIOD));
            return;
        };
        match written.map(|at| at.elapsed()) {
            Some(since) if since < SOON_FOR => {
                self.hub.wait(seen, left.min(SOON));
            }
            Some(since) if since < LATER_FOR => {
                self.hub.wait(seen, left.min(LATER));
            }
            _ => *written = events.wait(left.min(REPORTED_PERIOD)).then(Instant::now),
        }
    }

    /// A commit was seen: the next report is about another one.
    fn seen_commit(&self) {
        if let Ok(mut log) = self.log.try_lock()
            && let LogEvents::Watched { written, .. } = &mut *log
        {
            *written = None;
        }
    }

    fn count(&self) -> MutexGuard<'_, usize> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits.
pub(super) struct StoreWaiter {
    watch: Arc<StoreWatch>,
    seen: u64,
}

impl StoreWaiter {
    pub fn new(watch: &Arc<StoreWatch>) -> Self {
        *watch.count() += 1;
        // If this fails, the first wait tries again and reports it.
        let _ = watch.poll();
        Self { watch: Arc::clone(watch), seen: watch.hub.seen() }
    }
}

impl Changes for StoreWaiter {
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let deadline = Instant::now() + timeout;
        loop {
            self.watch.poll()?;
            let seen = self.watch.hub.seen();
            if seen != self.seen {
                self.seen = seen;
                self.watch.seen_commit();
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            self.watch.pause(seen, left);
        }
    }
}

impl Drop for StoreWaiter {
    fn drop(&mut self) {
        let mut waiters = self.watch.count();
        *waiters -= 1;
        if *waiters == 0 {
            *self.watch.eye.lock().unwrap_or_else(PoisonError::into_inner) = None;
            *self.watch.log.lock().unwrap_or_else(PoisonError::into_inner) = LogEvents::Unasked;
        }
    }
}
