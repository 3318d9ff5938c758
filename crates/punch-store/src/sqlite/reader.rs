//! Read markers in the database.

use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::{count, most};
use crate::{READERS_KEPT, ReadMarker, StoreError};

/// The marker of a reader.
pub(super) fn one(view: &SqliteTransaction<'_>, reader: &str) -> Result<Option<ReadMarker>, StoreError> {
    let sql = "SELECT name, revision, at FROM reader WHERE plan = ?1 AND name = ?2";
    view.first("read a read marker", sql, params![view.plan.0, reader])
}

/// The markers of all readers.
pub(super) fn all(view: &SqliteTransaction<'_>) -> Result<Vec<ReadMarker>, StoreError> {
    let sql = "SELECT name, revision, at FROM reader WHERE plan = ?1 ORDER BY name";
    view.rows("read read markers", sql, [view.plan.0])
}

/// Keeps a marker, and forgets the readers that did not look for the longest time.
pub(super) fn put(view: &SqliteTransaction<'_>, marker: &ReadMarker) -> Result<(), StoreError> {
    let what = "store a read marker";
    let sql = "INSERT OR REPLACE INTO reader (plan, name, revision, at) VALUES (?1, ?2, ?3, ?4)";
    view.execute(what, sql, params![view.plan.0, marker.reader, most(marker.revision), marker.at])?;
    let old = "DELETE FROM reader WHERE plan = ?1 AND name <> ?2 AND name IN (SELECT name FROM reader WHERE plan = ?1 \
               AND name <> ?2 ORDER BY at DESC, name DESC LIMIT -1 OFFSET ?3)";
    view.execute(what, old, params![view.plan.0, marker.reader, count(READERS_KEPT - 1)]).map(|_| ())
}
