//! Opens and creates a store file. Everything suspicious is refused before SQLite sees the file; opening an existing
//! current store reads its header and its schema and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::commits::CommitRecord;
use super::connection::{self, FileAccess, StoreConnection};
use super::lock::WriteTurn;
use super::schema::{self, MIGRATIONS, SchemaAge};
use super::usage_note::{UsageNote, log_bytes};
use super::{commits, fail};
use crate::{LostWrites, OpenMode, StoreError, StoreObstacle, Upgrade, platform};

/// Before 3.51.3 a WAL file could be reset under a reader's feet.
const OLDEST_LIBRARY: i32 = 3_051_003;

/// A store that was found fit for use.
pub(super) struct OpenedFile {
    pub path: PathBuf,
    pub connection: StoreConnection,
    pub access: FileAccess,
    /// Why it can only be read, if so: the answer to every write.
    pub obstacle: Option<StoreError>,
    /// The file has a newer minor schema.
    pub newer: bool,
    pub usage_note: Option<UsageNote>,
    /// The log beside it may not be its own.
    pub log_mismatch: bool,
    /// Writes that were committed and are gone.
    pub lost: Option<LostWrites>,
    /// What had to be done about an older schema.
    pub upgrade: Option<Upgrade>,
}

/// Opens the store at `path`, or makes one if the mode says so and there is none.
pub(super) fn open(path: &Path, mode: OpenMode, wait: Duration) -> Result<OpenedFile, StoreError> {
    library_is_new_enough(path, rusqlite::version_number())?;
    let deadline = Instant::now() + wait;
    let path = settle(path, mode)?;
    if !exists(&path)? {
        match mode {
            OpenMode::Existing => return Err(fail::unavailable(&path, StoreObstacle::Missing, "it does not exist")),
            OpenMode::Create => create(&path, deadline)?,
        }
    }
    let usage_note = UsageNote::enter(&path);
    let record = CommitRecord::beside(&path);
    let log_mismatch = usage_note.as_ref().is_some_and(UsageNote::log_mismatch);
    let StoreProbe { mut connection, standing, access, obstacle } = look(&path, wait)?;
    if log_mismatch {
        let found: rusqlite::Result<String> =
            connection.conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
        match found.map_err(|e| fail::sql(&path, "be checked", &e))?.as_str() {
            "ok" => {}
            found => return Err(fail::exchanged(&path, found)),
        }
    }
    let mut upgrade = None;
    let standing = match standing {
        SchemaAge::Older(_) => {
            obstacle.clone().map_or_else(|| writable(&connection.conn, &path), Err)?;
            usage_note.iter().for_each(UsageNote::invalidate);
            upgrade = schema::migrate(&mut connection.conn, &path, MIGRATIONS, deadline)?;
            schema::examine(&connection.conn, &path)?
        }
        standing => standing,
    };
    let lost = commits::lost(&connection.conn, &path, record);
    Ok(OpenedFile {
        path,
        connection,
        access,
        obstacle,
        newer: standing == SchemaAge::Newer,
        usage_note,
        log_mismatch,
        lost,
        upgrade,
    })
}

/// What a first look at a file gave.
struct StoreProbe {
    connection: StoreConnection,
    standing: SchemaAge,
    access: FileAccess,
    obstacle: Option<StoreError>,
}

/// Connects and finds out what the file is. In a folder that cannot be written, or on a full disk, SQLite may be unable
/// to share it; then it can still be read.
fn look(path: &Path, wait: Duration) -> Result<StoreProbe, StoreError> {
    // An empty log, which a failed attempt may have made, is as good as none.
    let log_is_empty = || log_bytes(path) == 0;
    let still = |obstacle: StoreError| {
        let connection = StoreConnection::open(path, FileAccess::Still, wait)?;
        let standing = schema::examine(&connection.conn, path)?;
        Ok(StoreProbe { connection, standing, access: FileAccess::Still, obstacle: Some(obstacle) })
    };
    // SQLite would make a log with the same permissions, which would stay unwritable when the store no longer is.
    if platform::writable(path).is_err() && log_is_empty() {
        return still(fail::unavailable(path, StoreObstacle::ReadOnly, "it is read-only"));
    }
    let connection = StoreConnection::open(path, FileAccess::Shared, wait)?;
    match schema::examine(&connection.conn, path) {
        Ok(standing) => Ok(StoreProbe { connection, standing, access: FileAccess::Shared, obstacle: None }),
        Err(error @ StoreError::Unavailable { reason: StoreObstacle::Full, .. }) if log_is_empty() => still(error),
        Err(StoreError::Unavailable { reason: StoreObstacle::System | StoreObstacle::ReadOnly, .. })
            if log_is_empty() =>
        {
            still(fail::unavailable(path, StoreObstacle::ReadOnly, "its folder is not writable"))
        }
        Err(error) => Err(error),
    }
}

fn library_is_new_enough(path: &Path, found: i32) -> Result<(), StoreError> {
    if found >= OLDEST_LIBRARY {
        return Ok(());
    }
    let why =
        format!("the SQLite library is version {found}, which can lose writes; {OLDEST_LIBRARY} or newer is needed");
    Err(fail::failed(path, why))
}

/// The real path: links in front of the folder are allowed, the store itself must not be one.
fn settle(path: &Path, mode: OpenMode) -> Result<PathBuf, StoreError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(fail::unavailable(path, StoreObstacle::System, "the path names no file"));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if mode == OpenMode::Create {
        platform::create_private_folders(folder).map_err(|e| fail::io(path, "create its folder", &e))?;
    }
    let folder = fs::canonicalize(folder).map_err(|e| fail::io(path, "find its folder", &e))?;
    Ok(folder.join(name))
}

/// Whether there is a file that we may open at all.
fn exists(path: &Path) -> Result<bool, StoreError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(fail::io(path, "look at it", &e)),
    };
    if meta.is_symlink() {
        return Err(fail::unavailable(path, StoreObstacle::Symlink, "it is a symbolic link"));
    }
    if !meta.is_file() {
        return Err(fail::unavailable(path, StoreObstacle::Foreign, "it is not a file"));
    }
    if !platform::is_own(&meta) {
        return Err(fail::unavailable(path, StoreObstacle::Owner, "it belongs to another user"));
    }
    if meta.len() == 0 {
        return Err(fail::damaged(path, "the file is empty"));
    }
    Ok(true)
}

/// Makes the file beside its place and moves it there when it is complete, so that no process ever sees half a store.
fn create(path: &Path, deadline: Instant) -> Result<(), StoreError> {
    let turn = WriteTurn::take(path, deadline)?;
    if exists(path)? {
        return Ok(());
    }
    let fresh = path.with_extension("new");
    remove_with_companions(&fresh).map_err(|e| fail::io(&fresh, "remove an unfinished one", &e))?;
    let file = platform::create_private(&fresh).map_err(|e| fail::io(path, "create it", &e))?;
    {
        let mut conn = Connection::open(&fresh).map_err(|e| fail::sql(path, "create it", &e))?;
        connection::prepare(&conn, Duration::ZERO).map_err(|e| fail::sql(path, "create it", &e))?;
        use_wal(&conn).map_err(|e| fail::sql(path, "create it", &e))?;
        schema::create(&mut conn, path)?;
    }
    // The log of a store that is gone would be taken for the log of this one.
    remove_companions(path).map_err(|e| fail::io(path, "remove what an earlier one left", &e))?;
    // So would its record, if the new file got the number of the old one.
    let _ = CommitRecord::forget(&turn.file);
    let placed = file.sync_all().and_then(|()| fs::rename(&fresh, path));
    placed.and_then(|()| sync_folder(path)).map_err(|e| fail::io(path, "put it into place", &e))
}

/// Write-ahead logging stays on in the file.
pub(super) fn use_wal(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
}

/// Fails if the connection can only read.
pub(super) fn writable(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    match conn.is_readonly("main") {
        Ok(false) => Ok(()),
        Ok(true) => Err(fail::unavailable(path, StoreObstacle::ReadOnly, "it is read-only")),
        Err(e) => Err(fail::sql(path, "open it", &e)),
    }
}

/// Makes a change of the folder survive power loss.
pub(super) fn sync_folder(path: &Path) -> std::io::Result<()> {
    platform::sync_folder(platform::folder_of(path))
}

/// The names SQLite gives to the files beside a database.
pub(super) fn companions(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    })
}

pub(super) fn remove_with_companions(path: &Path) -> std::io::Result<()> {
    remove_companions(path)?;
    remove(path)
}

fn remove_companions(path: &Path) -> std::io::Result<()> {
    companions(path).iter().try_for_each(|file| remove(file))
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_library_is_refused() {
        let refused = library_is_new_enough(Path::new("store.db"), 3_051_002).unwrap_err();
        assert_eq!(refused.code(), "store_failed");
        assert!(refused.message().contains("3051002"), "{refused}");
        library_is_new_enough(Path::new("store.db"), rusqlite::version_number()).unwrap();
    }
}
