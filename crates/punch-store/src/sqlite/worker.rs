//! Workers in the database.

use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::most;
use crate::{StoreError, WORKER_LIFETIME_MS, WorkerRecord};

/// Every worker, by name.
pub(super) fn all(view: &SqliteTransaction<'_>) -> Result<Vec<WorkerRecord>, StoreError> {
    let sql = "SELECT name, epoch, seen_at, until, body FROM worker ORDER BY name";
    view.rows("read workers", sql, [])
}

/// Keeps a worker unless a later process has its name.
pub(super) fn put(view: &SqliteTransaction<'_>, worker: &WorkerRecord) -> Result<bool, StoreError> {
    let (what, WorkerRecord { name, epoch, seen_at, until, body }) = ("store a worker", worker);
    let sql = "INSERT INTO worker (name, epoch, seen_at, until, body) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (name) DO UPDATE SET epoch = ?2, seen_at = ?3, until = ?4, body = ?5 WHERE epoch <= ?2";
    let kept = view.execute(what, sql, params![name, most(*epoch), seen_at, until, body])? > 0;
    let old = seen_at.saturating_sub(WORKER_LIFETIME_MS);
    view.execute(what, "DELETE FROM worker WHERE seen_at < ?1 AND name <> ?2", params![old, name])?;
    Ok(kept)
}
