//! Read markers.

use punch_store::backend::FromColumns;
use punch_store::{READERS_KEPT, ReadMarker, StoreError};

use crate::link::ask;
use crate::value::{count, most};
use crate::view::PgTransaction;

/// The marker of a reader.
pub fn one(view: &PgTransaction<'_>, reader: &str) -> Result<Option<ReadMarker>, StoreError> {
    const SQL: &str = "SELECT name, revision, at FROM punch.reader WHERE plan = $1 AND name = $2";
    view.first(ask!("read a read marker", SQL, view.plan.0, reader), ReadMarker::read)
}

/// The markers of all readers.
pub fn all(view: &PgTransaction<'_>) -> Result<Vec<ReadMarker>, StoreError> {
    const SQL: &str = "SELECT name, revision, at FROM punch.reader WHERE plan = $1 ORDER BY name";
    view.rows(ask!("read read markers", SQL, view.plan.0), ReadMarker::read)
}

/// Keeps a marker, and forgets the readers that did not look for the longest time.
pub fn put(view: &PgTransaction<'_>, marker: &ReadMarker) -> Result<(), StoreError> {
    const PUT: &str = "INSERT INTO punch.reader (plan, name, revision, at) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (plan, name) DO UPDATE SET revision = $3, at = $4";
    const OLD: &str = "DELETE FROM punch.reader WHERE plan = $1 AND name <> $2 AND name IN (SELECT name FROM punch.reader \
                       WHERE plan = $1 AND name <> $2 ORDER BY at DESC, name DESC OFFSET $3)";
    let what = "store a read marker";
    view.enqueue(ask!(what, PUT, view.plan.0, &marker.reader, most(marker.revision), marker.at));
    view.enqueue(ask!(what, OLD, view.plan.0, &marker.reader, count(READERS_KEPT - 1)));
    Ok(())
}
