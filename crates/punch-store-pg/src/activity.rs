//! Activity.

use punch_core::Uid;
use punch_store::backend::{ACTIVITY_SWEEP, FromColumns};
use punch_store::{ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, Activity, ActivitySpan, StoreError};

use crate::link::ask;
use crate::value::{Columns, count, most};
use crate::view::PgTransaction;

/// Activities after a number, oldest first.
pub fn since(view: &PgTransaction<'_>, since: u64, limit: usize) -> Result<Vec<Activity>, StoreError> {
    const SQL: &str = "SELECT seq, at, kind, source, todo, body FROM punch.activity WHERE plan = $1 AND seq > $2 \
                       ORDER BY seq LIMIT $3";
    view.rows(ask!("read activity", SQL, view.plan.0, most(since), count(limit)), Activity::read)
}

/// Activities about one todo, newest first. There are too few rows for an index to be worth its writes.
pub fn of(view: &PgTransaction<'_>, todo: Uid, limit: usize) -> Result<Vec<Activity>, StoreError> {
    const SQL: &str = "SELECT seq, at, kind, source, todo, body FROM punch.activity WHERE plan = $1 AND todo = $2 \
                       ORDER BY seq DESC LIMIT $3";
    view.rows(ask!("read activity", SQL, view.plan.0, most(todo.0), count(limit)), Activity::read)
}

/// The numbers at both ends.
pub fn span(view: &PgTransaction<'_>) -> Result<ActivitySpan, StoreError> {
    const SQL: &str = "SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM punch.activity WHERE plan = $1";
    let span = view.first(ask!("read activity", SQL, view.plan.0), |row| {
        Ok(ActivitySpan { oldest: row.number(0)?, newest: row.number(1)? })
    })?;
    Ok(span.unwrap_or_default())
}

/// Adds an activity and, now and then, clears old ones away. The plan is locked, so the next number is known after the
/// first: a write with many activities asks once.
pub fn append(view: &PgTransaction<'_>, activity: &Activity) -> Result<u64, StoreError> {
    const ADD: &str =
        "INSERT INTO punch.activity (plan, seq, at, kind, source, todo, body) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const SURPLUS: &str = "DELETE FROM punch.activity WHERE plan = $1 AND seq <= $2";
    /// Only what lies before the first that is young enough: a gap in the middle could not be noticed.
    const OLD: &str = "DELETE FROM punch.activity WHERE plan = $1 AND seq < \
                       (SELECT seq FROM punch.activity WHERE plan = $1 AND at > $2 ORDER BY seq LIMIT 1)";
    let what = "add activity";
    let last = match view.last_activity.get() {
        Some(last) => last,
        None => span(view)?.newest,
    };
    let seq = last + 1;
    view.last_activity.set(Some(seq));
    let todo = activity.todo.map(|uid| most(uid.0));
    let Activity { at, kind, source, body, .. } = activity;
    view.enqueue(ask!(what, ADD, view.plan.0, most(seq), *at, kind, source.as_deref(), todo, body));
    if seq.is_multiple_of(ACTIVITY_SWEEP) {
        view.enqueue(ask!(what, SURPLUS, view.plan.0, most(seq.saturating_sub(ACTIVITY_KEPT))));
        view.enqueue(ask!(what, OLD, view.plan.0, at.saturating_sub(ACTIVITY_LIFETIME_MS)));
    }
    Ok(seq)
}
