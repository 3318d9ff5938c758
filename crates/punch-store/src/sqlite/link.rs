//! One connection, set up as every connection must be, and the pool of idle ones. Before a connection is used again it
//! is checked that its path still leads to the same file: a write into a deleted file would be lost without a word.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{fail, open};
use crate::platform::{self, Identity};
use crate::{Durability, Reason, StoreError};

/// How many idle connections are kept.
const IDLE: usize = 4;

/// A log of at most so many bytes is left for the next process. Merging it into the file and deleting it costs four
/// more syncs than the commit itself, and whoever opens the store reads the log that is there: a small one is cheaper
/// to read now and then than to merge every time.
const SMALL_LOG: u64 = 256 * 1024;

/// A connection and what is known about its state.
pub(super) struct Link {
    pub conn: Connection,
    identity: Identity,
    durability: Durability,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// For reading and writing, or only for reading where the system allows no more.
    Shared,
    /// As a file that nobody changes: the only way to read a store in a folder that takes no lock files. Such a
    /// connection is used for one transaction, so it sees at worst a write that happens in these milliseconds.
    Still,
}

impl Link {
    /// Connects to an existing file. It is not looked at yet.
    pub fn open(path: &Path, access: Access, wait: Duration) -> Result<Self, StoreError> {
        let identity = platform::identity(path).map_err(|e| fail::io(path, "open it", &e))?;
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let conn = match access {
            Access::Shared => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE),
            Access::Still => {
                let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(still_uri(path), flags)
            }
        }
        .map_err(|e| fail::sql(path, "open it", &e))?;
        prepare(&conn, wait).map_err(|e| fail::sql(path, "open it", &e))?;
        // SQLite's own default is FULL; a test holds it to that.
        Ok(Self { conn, identity, durability: Durability::Full })
    }

    /// Makes the next commits as durable as asked.
    pub fn set_durability(&mut self, durability: Durability) -> rusqlite::Result<()> {
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

impl Drop for Link {
    /// The last connection merges the log when it closes, unless told not to.
    fn drop(&mut self) {
        let log = self.conn.path().map(|path| open::companions(Path::new(path))[0].metadata());
        if log.is_some_and(|log| log.is_ok_and(|log| log.len() <= SMALL_LOG)) {
            // Merging is safe too, only slower.
            let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
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
    // Without it a value bound to LIMIT makes SQLite prepare the statement a second time, to plan for that value. Every
    // statement here names its index already.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Connections of one store.
pub(super) struct Pool {
    pub path: PathBuf,
    pub wait: Duration,
    access: Access,
    identity: Identity,
    idle: Mutex<Vec<Link>>,
}

impl Pool {
    pub fn new(path: PathBuf, wait: Duration, access: Access, first: Link) -> Self {
        Self { path, wait, access, identity: first.identity, idle: Mutex::new(vec![first]) }
    }

    /// An idle connection, or a new one. Never one to a file that is not the store any more.
    pub fn take(&self) -> Result<Link, StoreError> {
        match platform::identity(&self.path) {
            Ok(now) if now == self.identity => {}
            Ok(_) => {
                let why = "another file has taken its place; open it again";
                return Err(fail::unavailable(&self.path, Reason::Missing, why));
            }
            Err(e) => return Err(fail::io(&self.path, "find it any more", &e)),
        }
        let idle = self.lock().pop();
        idle.map_or_else(|| Link::open(&self.path, self.access, self.wait), Ok)
    }

    /// Keeps a connection for the next caller.
    pub fn give(&self, link: Link) {
        let mut idle = self.lock();
        if idle.len() < IDLE && self.access == Access::Shared && link.conn.is_autocommit() {
            idle.push(link);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
