//! One connection, set up as every connection must be, and the pool of idle ones. Before a connection is used again it
//! is checked that its path still leads to the same file: a write into a deleted file would be lost without a word.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fail;
use super::open::{OpenedFile, companions};
use super::usage_note::{UsageNote, log_bytes};
use crate::platform::{self, FileIdentity};
use crate::{Durability, StoreError, StoreObstacle};

/// How large the write-ahead log stays.
const LOG_BYTES: i64 = 4 << 20;

/// Pages that a writer keeps at hand, in KiB; a third of what SQLite would. Servers live long and are many.
const CACHE_KIB: i64 = 640;

/// A log that is no larger stays when the last process leaves. Every process that comes reads it, and most only read: a
/// longer log costs them what merging it later saves. From 112 to 256 KiB no difference can be measured.
pub(super) const LOG_LEFT: u64 = 192 << 10;

/// How every log begins.
const LOG_MAGIC: [u8; 2] = [0x37, 0x7f];

/// How many idle connections are kept.
const IDLE: usize = 4;

/// A connection and what is known about its state.
pub(super) struct StoreConnection {
    pub conn: Connection,
    identity: FileIdentity,
    durability: Durability,
    writes: u8,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileAccess {
    /// For reading and writing, or only for reading where the system allows no more.
    Shared,
    /// As a file that does not change: the only way to read a store in a folder that takes no lock files. Such a
    /// connection is used for one transaction, so it sees at worst a write that happens in these milliseconds.
    Still,
}

impl StoreConnection {
    /// Connects to an existing file. It is not looked at yet.
    pub fn open(path: &Path, access: FileAccess, wait: Duration) -> Result<Self, StoreError> {
        let identity = platform::identity(path).map_err(|e| fail::io(path, "open it", &e))?;
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let conn = match access {
            FileAccess::Shared => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE),
            FileAccess::Still => {
                let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(still_uri(path), flags)
            }
        }
        .map_err(|e| fail::sql(path, "open it", &e))?;
        prepare(&conn, wait).map_err(|e| fail::sql(path, "open it", &e))?;
        // A process that finds that the file is not a store must not merge a log into it.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(|e| fail::sql(path, "open it", &e))?;
        // SQLite's own default is FULL; a test holds it to that.
        Ok(Self { conn, identity, durability: Durability::Full, writes: 0 })
    }

    /// Makes ready for a write that is as durable as asked and waits no longer than `wait` for others.
    pub fn begin_write(&mut self, durability: Durability, wait: Duration) -> rusqlite::Result<()> {
        self.conn.busy_timeout(wait)?;
        // Who writes once is gone before either matters, and would pay for both.
        if self.writes == 1 {
            // A log that grew with a large import shrinks again after the next checkpoint.
            self.conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
            self.conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
        }
        self.writes = self.writes.saturating_add(1);
        if self.durability != durability {
            let mode = match durability {
                Durability::Full => "FULL",
                Durability::Relaxed => "NORMAL",
            };
            self.conn.pragma_update(None, "synchronous", mode)?;
            self.durability = durability;
        }
        Ok(())
    }
}

/// Whether the log is as long as SQLite believes, and has its beginning. SQLite does not look again: it would merge the
/// holes of a log that was cut under a running process into the file, as pages of zeros.
fn log_is_whole(conn: &Connection, path: &Path) -> bool {
    let frames: rusqlite::Result<i64> = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1));
    let page: rusqlite::Result<i64> = conn.query_row("PRAGMA page_size", [], |row| row.get(0));
    let (Ok(frames), Ok(page)) = (frames, page) else { return false };
    let mut start = [0; 2];
    let begins = File::open(&companions(path)[0]).and_then(|mut log| log.read_exact(&mut start));
    let expected = u64::try_from(frames).map_or(0, |frames| 32 + frames * (24 + page.unsigned_abs()));
    begins.is_ok() && start == LOG_MAGIC && log_bytes(path) >= expected
}

fn still_uri(path: &Path) -> String {
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{escaped}?immutable=1")
}

/// What a store from somewhere else could try is off: code in its schema, writable schema tables, dangling references.
pub(super) fn prepare(conn: &Connection, wait: Duration) -> rusqlite::Result<()> {
    conn.busy_timeout(wait)?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Without it, binding a value makes SQLite plan a cached statement anew.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Fails if a path no longer leads to the file that it led to.
pub(super) fn check_identity(path: &Path, identity: FileIdentity) -> Result<(), StoreError> {
    match platform::identity(path) {
        Ok(now) if now == identity => Ok(()),
        Ok(_) => {
            let why = "another file has taken its place; open it again";
            Err(fail::unavailable(path, StoreObstacle::Missing, why))
        }
        Err(e) => Err(fail::io(path, "find it anymore", &e)),
    }
}

/// Connections of one store.
pub(super) struct Pool {
    pub path: PathBuf,
    pub wait: Duration,
    pub access: FileAccess,
    pub identity: FileIdentity,
    idle: Mutex<Vec<StoreConnection>>,
    /// Outlives the connections.
    pub usage_note: Option<UsageNote>,
    /// The log holds less than was committed. It is then left as it is: someone may want to look at it.
    pub lost: bool,
    /// The process ends with it.
    pub until_exit: bool,
}

impl Drop for Pool {
    /// The last one to leave merges a log that has grown. A small one stays: merging it costs three times what the write
    /// cost, and the next process reads it in a moment.
    fn drop(&mut self) {
        match (log_bytes(&self.path), &self.usage_note) {
            _ if self.lost => {}
            (0, _) | (1..=LOG_LEFT, None) => {}
            (1..=LOG_LEFT, Some(usage_note)) => usage_note.record_on_exit(),
            (_, Some(usage_note)) if usage_note.is_alone() => self.merge(),
            // Others are here, and the last of them merges.
            (_, Some(_)) => {}
            (_, None) => {
                // SQLite finds out who is last.
                for connection in self.lock().iter() {
                    let _ = connection.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
                }
                return;
            }
        }
        if self.until_exit {
            // Files, locks and memory go back to the system in a moment; piece by piece that takes longer.
            std::mem::forget(std::mem::take(&mut *self.lock()));
        }
    }
}

impl Pool {
    pub fn new(opened: OpenedFile, wait: Duration) -> Self {
        let OpenedFile { path, connection, access, usage_note, lost, .. } = opened;
        Self {
            path,
            wait,
            access,
            identity: connection.identity,
            idle: Mutex::new(vec![connection]),
            usage_note,
            lost: lost.is_some(),
            until_exit: false,
        }
    }

    /// The number of the store's file in its file system.
    pub const fn number(&self) -> u64 {
        self.identity.number()
    }

    /// Invalidates the note about the file; call it before the file changes.
    pub fn invalidate(&self) {
        if let Some(usage_note) = &self.usage_note {
            usage_note.invalidate();
        }
    }

    /// Brings the log into the file, unless another process has opened it meanwhile. The log stays as an empty file,
    /// which the next writer then has not to make (decision 0018).
    fn merge(&self) {
        self.invalidate();
        if let Some(connection) = self.lock().first() {
            let _ = connection.conn.busy_timeout(Duration::ZERO);
            if !log_is_whole(&connection.conn, &self.path) {
                return;
            }
            let _ = connection.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }

    /// Fails if the file is not the store any more.
    pub fn check(&self) -> Result<(), StoreError> {
        check_identity(&self.path, self.identity)
    }

    /// An idle connection, or a new one. Never one to a file that is not the store any more.
    pub fn take(&self) -> Result<StoreConnection, StoreError> {
        self.check()?;
        let idle = self.lock().pop();
        idle.map_or_else(|| StoreConnection::open(&self.path, self.access, self.wait), Ok)
    }

    /// Keeps a connection for the next caller.
    pub fn give(&self, connection: StoreConnection) {
        let _ = connection.conn.busy_timeout(self.wait);
        let mut idle = self.lock();
        if idle.len() < IDLE && self.access == FileAccess::Shared && connection.conn.is_autocommit() {
            idle.push(connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StoreConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{OpenMode, SqliteStore};

    #[test]
    fn every_connection_is_durable_and_defended() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db"), OpenMode::Create).unwrap();
        let mut connection = store.pool.take().unwrap();
        let pragma = |connection: &StoreConnection, name: &str| -> i64 {
            connection.conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!(pragma(&connection, "synchronous"), 2, "FULL");
        assert_eq!(pragma(&connection, "foreign_keys"), 1);
        assert_eq!(pragma(&connection, "trusted_schema"), 0);
        let journal: String = connection.conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
        let defended = connection.conn.execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema");
        assert!(defended.is_err());
        connection.begin_write(Durability::Relaxed, Duration::ZERO).unwrap();
        assert_eq!(pragma(&connection, "synchronous"), 1, "NORMAL");
        connection.begin_write(Durability::Full, Duration::ZERO).unwrap();
        assert_eq!(pragma(&connection, "synchronous"), 2, "FULL");
    }

    #[test]
    fn a_full_database_is_named_so() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (x); PRAGMA max_page_count = 2").unwrap();
        let error = conn.execute("INSERT INTO t VALUES (zeroblob(100000))", []).unwrap_err();
        assert_eq!(fail::sql(Path::new("store.db"), "be written", &error).code(), "store_full");
    }
}
