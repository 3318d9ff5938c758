//! Controls, seats and the lease of a runner in the database.

use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::{control_key, most};
use crate::{ControlRecord, ControlScope, RequestedState, RunGrant, RunLease, SeatRecord, StoreError};

const CONTROL: &str = "SELECT plan, run, seat, session, wanted, by, at FROM control";

/// One control.
pub(super) fn one(view: &SqliteTransaction<'_>, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError> {
    let sql = format!("{CONTROL} WHERE plan = ?1 AND run = ?2 AND seat = ?3 AND session = ?4");
    let (plan, run, seat, session) = control_key(scope);
    view.first("read a control", &sql, params![plan, run, seat, session])
}

/// The controls of a run and its seats.
pub(super) fn of_run(view: &SqliteTransaction<'_>, run: u64) -> Result<Vec<ControlRecord>, StoreError> {
    let sql = format!("{CONTROL} WHERE plan = ?1 AND run = ?2 ORDER BY seat");
    view.rows("read controls", &sql, params![view.plan.0, most(run)])
}

/// Keeps a control; what is to go has none.
pub(super) fn put(view: &SqliteTransaction<'_>, control: &ControlRecord) -> Result<(), StoreError> {
    let what = "store a control";
    let (plan, run, seat, session) = control_key(&control.scope);
    match control.wanted {
        RequestedState::Go => {
            let sql = "DELETE FROM control WHERE plan = ?1 AND run = ?2 AND seat = ?3 AND session = ?4";
            view.execute(what, sql, params![plan, run, seat, session])
        }
        RequestedState::Pause | RequestedState::Stop => {
            let sql = "INSERT OR REPLACE INTO control (plan, run, seat, session, wanted, by, at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            view.execute(what, sql, params![plan, run, seat, session, control.wanted.as_str(), control.by, control.at])
        }
    }
    .map(|_| ())
}

/// The seats of a run.
pub(super) fn seats(view: &SqliteTransaction<'_>, run: u64) -> Result<Vec<SeatRecord>, StoreError> {
    let sql = "SELECT run, n, at, body FROM seat WHERE plan = ?1 AND run = ?2 ORDER BY n";
    view.rows("read seats", sql, params![view.plan.0, most(run)])
}

/// Keeps a seat.
pub(super) fn put_seat(view: &SqliteTransaction<'_>, seat: &SeatRecord) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO seat (plan, run, n, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    view.execute("store a seat", sql, params![view.plan.0, most(seat.run), seat.n, seat.at, seat.body]).map(|_| ())
}

/// Forgets the seats and controls of a run.
pub(super) fn clear(view: &SqliteTransaction<'_>, run: u64) -> Result<(), StoreError> {
    for sql in ["DELETE FROM seat WHERE plan = ?1 AND run = ?2", "DELETE FROM control WHERE plan = ?1 AND run = ?2"] {
        view.execute("end a run", sql, params![view.plan.0, most(run)])?;
    }
    Ok(())
}

/// The latest lease on the plan.
pub(super) fn lease(view: &SqliteTransaction<'_>) -> Result<Option<RunLease>, StoreError> {
    let sql = "SELECT holder, epoch, until FROM runner WHERE plan = ?1";
    view.first("read the lease of the runner", sql, [view.plan.0])
}

/// Takes the plan for a runner.
pub(super) fn take(
    view: &SqliteTransaction<'_>,
    holder: &str,
    lease_ms: i64,
    now: i64,
) -> Result<RunGrant, StoreError> {
    let latest = lease(view)?;
    let epoch = latest.as_ref().map_or(0, |lease| lease.epoch) + 1;
    if let Some(held) = latest.filter(|lease| lease.is_live(lease_ms, now)) {
        return Ok(RunGrant::HeldBy(held));
    }
    let sql = "INSERT OR REPLACE INTO runner (plan, holder, epoch, until) VALUES (?1, ?2, ?3, ?4)";
    let row = params![view.plan.0, holder, most(epoch), now.saturating_add(lease_ms)];
    view.execute("reserve the plan for a runner", sql, row)?;
    Ok(RunGrant::Granted { epoch })
}

/// Prolongs a lease that was not released.
pub(super) fn renew(view: &SqliteTransaction<'_>, epoch: u64, lease_ms: i64, now: i64) -> Result<bool, StoreError> {
    let own = lease(view)?.is_some_and(|lease| lease.epoch == epoch && lease.until.is_some());
    if own {
        set_until(view, Some(now.saturating_add(lease_ms)))?;
    }
    Ok(own)
}

/// Ends a lease.
pub(super) fn release(view: &SqliteTransaction<'_>, epoch: u64) -> Result<bool, StoreError> {
    let own = lease(view)?.is_some_and(|lease| lease.epoch == epoch);
    if own {
        set_until(view, None)?;
    }
    Ok(own)
}

fn set_until(view: &SqliteTransaction<'_>, until: Option<i64>) -> Result<(), StoreError> {
    let sql = "UPDATE runner SET until = ?2 WHERE plan = ?1";
    view.execute("write the lease of the runner", sql, params![view.plan.0, until]).map(|_| ())
}
