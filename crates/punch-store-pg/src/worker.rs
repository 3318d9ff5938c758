//! Workers.

use punch_store::backend::FromColumns;
use punch_store::{StoreError, WORKER_LIFETIME_MS, WorkerRecord};

use crate::link::ask;
use crate::value::{Columns, most};
use crate::view::PgTransaction;

/// Every worker, by name.
pub fn all(view: &PgTransaction<'_>) -> Result<Vec<WorkerRecord>, StoreError> {
    const SQL: &str = "SELECT name, epoch, seen_at, until, body FROM punch.worker WHERE project = $1 ORDER BY name";
    view.rows(ask!("read workers", SQL, view.store.project), WorkerRecord::read)
}

/// Keeps a worker unless a later process has its name. One statement decides: processes with one name may write through
/// different plans, whose locks do not keep them apart.
pub fn put(view: &PgTransaction<'_>, worker: &WorkerRecord) -> Result<bool, StoreError> {
    const PUT: &str = "INSERT INTO punch.worker AS known (project, name, epoch, seen_at, until, body) \
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, name) DO UPDATE \
                       SET epoch = $3, seen_at = $4, until = $5, body = $6 WHERE known.epoch <= $3 RETURNING epoch";
    const OLD: &str = "DELETE FROM punch.worker WHERE project = $1 AND seen_at < $2 AND name <> $3";
    let (what, project) = ("store a worker", view.store.project);
    let WorkerRecord { name, epoch, seen_at, until, body } = worker;
    let kept = view.first(ask!(what, PUT, project, name, most(*epoch), *seen_at, *until, body), |row| row.int(0))?;
    view.enqueue(ask!(what, OLD, project, seen_at.saturating_sub(WORKER_LIFETIME_MS), name));
    Ok(kept.is_some())
}
