//! Copies of a store: one consistent moment, complete before it gets its name, readable by this user only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::{fail, open};
use crate::{SchemaVersion, StoreError, StoreObstacle, platform};

/// Writes a copy to `to`, replacing what is there. Writers are not held up.
pub(super) fn copy(conn: &Connection, path: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |e: &std::io::Error| match fail::io(to, "write a copy of the store", e) {
        // It is the folder of the copy that is missing, not a store.
        StoreError::Unavailable { store, reason: StoreObstacle::Missing, why } => {
            StoreError::Unavailable { store, reason: StoreObstacle::System, why }
        }
        other => other,
    };
    // Two processes may copy to one place: each completes its own.
    let part = to.with_added_extension(format!("{}.part", std::process::id()));
    open::remove_with_companions(&part).map_err(|e| failed(&e))?;
    let file = platform::create_private(&part).map_err(|e| failed(&e))?;
    let name = part
        .to_str()
        .ok_or_else(|| fail::unavailable(to, StoreObstacle::System, "a copy needs a path that is valid UTF-8"))?;
    let done = conn.execute("VACUUM INTO ?1", [name]).map_err(|e| fail::sql(path, "be copied", &e));
    if let Err(error) = done {
        let _ = open::remove_with_companions(&part);
        return Err(error);
    }
    file.sync_all().and_then(|()| fs::rename(&part, to)).and_then(|()| open::sync_folder(to)).map_err(|e| failed(&e))
}

/// Puts a copy into `backups/` beside the store and answers its path.
pub(super) fn before_migration(conn: &Connection, path: &Path, from: SchemaVersion) -> Result<PathBuf, StoreError> {
    let folder = path.with_file_name("backups");
    crate::create_own_folder(&folder).map_err(|e| fail::io(&folder, "create the folder for copies", &e))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let mut to = folder.join(format!("{stem}-schema-{from}-{at}.db"));
    for n in 2.. {
        if !to.exists() {
            break;
        }
        to = folder.join(format!("{stem}-schema-{from}-{at}-{n}.db"));
    }
    copy(conn, path, &to)?;
    Ok(to)
}
