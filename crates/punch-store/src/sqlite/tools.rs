//! For `doctor` and the `store` commands: inspects a store as a file, copies it, restores a copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::commits::CommitRecord;
use super::connection::{FileAccess, StoreConnection};
use super::lock::WriteTurn;
use super::usage_note::UsageNote;
use super::{SqliteStore, WAIT, backup, check, fail, open, schema};
use crate::{LostWrites, OpenMode, StoreAdmin, StoreError, StoreInfo, StoreObstacle, Upgrade};

impl StoreAdmin for SqliteStore {
    fn info(&self) -> Result<StoreInfo, StoreError> {
        let path = self.path();
        let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
        let [wal, _] = open::companions(path);
        self.look(|conn| {
            let schema = schema::stored_version(conn, path)?;
            let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
            let read = || -> rusqlite::Result<StoreInfo> {
                let (store, created_at) =
                    conn.query_row("SELECT store, created_at FROM meta", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(StoreInfo {
                    store,
                    created_at,
                    schema,
                    engine: format!("SQLite {}", rusqlite::version()),
                    bytes: size(path),
                    wal_bytes: size(&wal),
                    free_bytes: number("PRAGMA freelist_count")? * number("PRAGMA page_size")?,
                    plans: number("SELECT count(*) FROM plan")?,
                    todos: number("SELECT count(*) FROM todo")?,
                    events: number("SELECT count(*) FROM event")?,
                    sessions: number("SELECT count(*) FROM session")?,
                })
            };
            read().map_err(|e| fail::sql(path, "be read", &e))
        })
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        check::check(self)
    }

    fn rebuild(&self) -> Result<(), StoreError> {
        check::rebuild(self)
    }

    fn backup_to(&self, to: &Path) -> Result<(), StoreError> {
        let connection = self.pool.take()?;
        let done = backup::copy(&connection.conn, self.path(), to);
        self.pool.give(connection);
        done
    }

    fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.as_ref()
    }

    fn lost(&self) -> Option<&LostWrites> {
        self.lost.as_ref()
    }

    fn accept_loss(&mut self) -> Result<Option<LostWrites>, StoreError> {
        let lost = self.lost.take();
        if lost.is_some() {
            let record = CommitRecord::beside(self.path()).map_or(0, |record| record.latest());
            self.count_from(record)?;
        }
        self.pool.lost = false;
        Ok(lost)
    }

    fn until_exit(&mut self) {
        self.pool.until_exit = true;
    }
}

/// The random name of the store in a file, which its copies share. Writes nothing, whatever the schema's age.
pub fn name_of(path: &Path) -> Result<String, StoreError> {
    revisions_in(path).map(|(store, _)| store)
}

/// The random name of the store in a file, and the revision of each plan in it. Writes nothing, whatever the schema's
/// age.
pub fn revisions_in(path: &Path) -> Result<(String, Vec<(String, u64)>), StoreError> {
    let access = if open::companions(path)[0].exists() { FileAccess::Shared } else { FileAccess::Still };
    let connection = StoreConnection::open(path, access, WAIT)?;
    schema::examine(&connection.conn, path)?;
    let read = || -> rusqlite::Result<_> {
        let store = connection.conn.query_row("SELECT store FROM meta", [], |row| row.get(0))?;
        let mut plans = connection.conn.prepare("SELECT name, revision FROM plan ORDER BY id")?;
        let plans = plans.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        Ok((store, plans.collect::<Result<_, _>>()?))
    };
    read().map_err(|e| fail::sql(path, "be read", &e))
}

/// Brings a copy back: its content becomes that of the store at `path`, in one step that other processes see like any
/// other write. The copy must be sound; it is only read, and may have an older schema. What
/// cannot be written, a damaged store or another user's file, is moved aside, never deleted; the answer is where to.
pub fn restore(from: &Path, path: &Path) -> Result<Option<PathBuf>, StoreError> {
    let source = sound(from)?;
    if !path.exists() {
        SqliteStore::open(path, OpenMode::Create)?;
    }
    let path = &fs::canonicalize(path).map_err(|e| fail::io(path, "find it", &e))?;
    let commits = CommitRecord::beside(path).map_or(0, |record| record.latest());
    let turn = WriteTurn::take(path, Instant::now() + WAIT)?;
    let _ = CommitRecord::forget(&turn.file);
    match overwrite(&source.conn, path) {
        Ok(()) => {
            drop(turn);
            count_from(path, commits);
            return Ok(None);
        }
        Err(
            StoreError::Damaged { .. }
            | StoreError::TooNew { .. }
            | StoreError::Unavailable { reason: StoreObstacle::Foreign, .. },
        ) => {}
        Err(error) => return Err(error),
    }
    let aside = move_aside(path).map_err(|e| fail::io(path, "move what is there aside", &e))?;
    drop(turn);
    SqliteStore::open(path, OpenMode::Create)?;
    let turn = WriteTurn::take(path, Instant::now() + WAIT)?;
    overwrite(&source.conn, path)?;
    drop(turn);
    count_from(path, commits);
    Ok(Some(aside))
}

/// Starts a new record of commits after a restore. If that fails, the next write does it.
fn count_from(path: &Path, commits: u64) {
    let _ = SqliteStore::open(path, OpenMode::Existing).and_then(|store| store.count_from(commits));
}

/// A connection to a copy that is one of ours and whole.
fn sound(from: &Path) -> Result<StoreConnection, StoreError> {
    let from = &fs::canonicalize(from).map_err(|e| fail::io(from, "find the copy", &e))?;
    let access = if open::companions(from)[0].exists() { FileAccess::Shared } else { FileAccess::Still };
    let connection = StoreConnection::open(from, access, WAIT)?;
    schema::examine(&connection.conn, from)?;
    let first = connection.conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match first.map_err(|e| fail::sql(from, "be checked", &e))?.as_str() {
        "ok" => Ok(connection),
        problem => Err(fail::damaged(from, problem)),
    }
}

fn overwrite(source: &Connection, path: &Path) -> Result<(), StoreError> {
    if let Some(usage_note) = UsageNote::enter(path) {
        usage_note.invalidate();
    }
    let mut connection = StoreConnection::open(path, FileAccess::Shared, WAIT)?;
    // A file that SQLite cannot read would be ruins under the copy, and one that is not ours is not ours to overwrite.
    schema::examine(&connection.conn, path)?;
    let mut run = || {
        Backup::new(source, &mut connection.conn)?.run_to_completion(4096, Duration::from_millis(1), None)?;
        open::use_wal(&connection.conn)
    };
    run().map_err(|e| fail::sql(path, "restore the copy", &e))
}

fn move_aside(path: &Path) -> std::io::Result<PathBuf> {
    let mut aside = path.with_added_extension("damaged");
    for n in 2.. {
        if !aside.exists() {
            break;
        }
        aside = path.with_added_extension(format!("damaged-{n}"));
    }
    fs::rename(path, &aside)?;
    for (file, ending) in open::companions(path).iter().zip(["wal", "shm"]) {
        if file.exists() {
            fs::rename(file, aside.with_added_extension(ending))?;
        }
    }
    open::sync_folder(path)?;
    Ok(aside)
}
