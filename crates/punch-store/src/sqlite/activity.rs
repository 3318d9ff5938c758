//! Activity in the database. Rows are added at the end of the table, so that a write touches one page of it.

use punch_core::Uid;
use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::{count, most};
use crate::record::ACTIVITY_SWEEP;
use crate::{ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, Activity, ActivitySpan, StoreError};

/// Activities after a number, oldest first.
pub(super) fn since(view: &SqliteTransaction<'_>, since: u64, limit: usize) -> Result<Vec<Activity>, StoreError> {
    let sql =
        "SELECT seq, at, kind, source, todo, body FROM activity WHERE plan = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    view.rows("read activity", sql, params![view.plan.0, most(since), count(limit)])
}

/// Activities about one todo, newest first. There are too few rows for an index to be worth its writes.
pub(super) fn of(view: &SqliteTransaction<'_>, todo: Uid, limit: usize) -> Result<Vec<Activity>, StoreError> {
    let sql = "SELECT seq, at, kind, source, todo, body FROM activity WHERE plan = ?1 AND todo = ?2 \
               ORDER BY seq DESC LIMIT ?3";
    view.rows("read activity", sql, params![view.plan.0, most(todo.0), count(limit)])
}

/// The numbers at both ends.
pub(super) fn span(view: &SqliteTransaction<'_>) -> Result<ActivitySpan, StoreError> {
    let end = |order: &str| -> Result<u64, StoreError> {
        let sql = format!("SELECT seq FROM activity WHERE plan = ?1 ORDER BY seq {order} LIMIT 1");
        Ok(view.first("read activity", &sql, [view.plan.0])?.unwrap_or(0))
    };
    Ok(ActivitySpan { oldest: end("ASC")?, newest: end("DESC")? })
}

/// Adds an activity and, now and then, clears old ones away.
pub(super) fn append(view: &SqliteTransaction<'_>, activity: &Activity) -> Result<u64, StoreError> {
    let what = "add activity";
    let sql = "INSERT INTO activity (plan, seq, at, kind, source, todo, body) VALUES (?1, 1 + ifnull((SELECT max(seq) FROM \
               activity WHERE plan = ?1), 0), ?2, ?3, ?4, ?5, ?6) RETURNING seq";
    let todo = activity.todo.map(|uid| most(uid.0));
    let row = params![view.plan.0, activity.at, activity.kind, activity.source, todo, activity.body];
    let seq = view.add(what, sql, row)?;
    if seq.is_multiple_of(ACTIVITY_SWEEP) {
        let surplus = most(seq.saturating_sub(ACTIVITY_KEPT));
        view.execute(what, "DELETE FROM activity WHERE plan = ?1 AND seq <= ?2", params![view.plan.0, surplus])?;
        // Only what lies before the first that is young enough: a gap in the middle could not be noticed.
        let old = "DELETE FROM activity WHERE plan = ?1 AND seq < \
                   (SELECT seq FROM activity WHERE plan = ?1 AND at > ?2 ORDER BY seq LIMIT 1)";
        let before = activity.at.saturating_sub(ACTIVITY_LIFETIME_MS);
        view.execute(what, old, params![view.plan.0, before])?;
    }
    Ok(seq)
}
