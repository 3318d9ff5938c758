//! Controls, seats and the lease of a runner in the database.

use rusqlite::{OptionalExtension, Row, params};

use super::ledger::{most, number};
use super::view::SqliteTransaction;
use crate::{ControlRecord, ControlScope, PlanId, RequestedState, RunGrant, RunLease, SeatRecord, StoreError};

/// Stands for the run as a whole in the column `seat`.
const WHOLE_RUN: i64 = -1;

const CONTROL: &str = "SELECT plan, run, seat, session, wanted, by, at FROM control";

/// One control.
pub(super) fn one(view: &SqliteTransaction<'_>, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError> {
    let sql = format!("{CONTROL} WHERE plan = ?1 AND run = ?2 AND seat = ?3 AND session = ?4");
    let (plan, run, seat, session) = key(scope);
    let key = params![plan, run, seat, session];
    let read = view.conn.prepare_cached(&sql).and_then(|mut s| s.query_row(key, control).optional());
    view.sql("read a control", read)
}

/// The controls of a run and its seats.
pub(super) fn of_run(view: &SqliteTransaction<'_>, run: u64) -> Result<Vec<ControlRecord>, StoreError> {
    let sql = format!("{CONTROL} WHERE plan = ?1 AND run = ?2 ORDER BY seat");
    let key = params![view.plan.0, most(run)];
    let read = view.conn.prepare_cached(&sql).and_then(|mut s| s.query_map(key, control)?.collect());
    view.sql("read controls", read)
}

/// Keeps a control; what is to go has none.
pub(super) fn put(view: &SqliteTransaction<'_>, control: &ControlRecord) -> Result<(), StoreError> {
    let what = "keep a control";
    let (plan, run, seat, session) = key(&control.scope);
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
    let seat =
        |row: &Row<'_>| Ok(SeatRecord { run: number(row, 0)?, n: row.get(1)?, at: row.get(2)?, body: row.get(3)? });
    let key = params![view.plan.0, most(run)];
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_map(key, seat)?.collect());
    view.sql("read seats", read)
}

/// Keeps a seat.
pub(super) fn put_seat(view: &SqliteTransaction<'_>, seat: &SeatRecord) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO seat (plan, run, n, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    view.execute("keep a seat", sql, params![view.plan.0, most(seat.run), seat.n, seat.at, seat.body]).map(|_| ())
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
    let lease = |row: &Row<'_>| Ok(RunLease { holder: row.get(0)?, epoch: number(row, 1)?, until: row.get(2)? });
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_row([view.plan.0], lease).optional());
    view.sql("read the lease of the runner", read)
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
    view.execute("take the plan for a runner", sql, row)?;
    Ok(RunGrant::Granted { epoch })
}

/// Prolongs a lease that was not released.
pub(super) fn renew(view: &SqliteTransaction<'_>, epoch: u64, until: i64) -> Result<bool, StoreError> {
    let own = lease(view)?.is_some_and(|lease| lease.epoch == epoch && lease.until.is_some());
    if own {
        set_until(view, Some(until))?;
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

fn key(scope: &ControlScope) -> (i64, i64, i64, &str) {
    match scope {
        ControlScope::Run { plan, run } => (plan.0, most(*run), WHOLE_RUN, ""),
        ControlScope::Seat { plan, run, seat } => (plan.0, most(*run), i64::from(*seat), ""),
        ControlScope::Session(session) => (0, 0, 0, session),
        ControlScope::Sessions => (0, 0, WHOLE_RUN, ""),
    }
}

fn control(row: &Row<'_>) -> rusqlite::Result<ControlRecord> {
    let (plan, run, seat): (i64, u64, i64) = (row.get(0)?, number(row, 1)?, row.get(2)?);
    let plan_id = PlanId(plan);
    let scope = match (plan, u32::try_from(seat)) {
        (0, Ok(_)) => ControlScope::Session(row.get(3)?),
        (0, Err(_)) => ControlScope::Sessions,
        (_, Ok(seat)) => ControlScope::Seat { plan: plan_id, run, seat },
        (_, Err(_)) => ControlScope::Run { plan: plan_id, run },
    };
    // A word of a newer program: the careful reading is that work stops.
    let wanted = RequestedState::parse(row.get_ref(4)?.as_str()?).unwrap_or(RequestedState::Pause);
    Ok(ControlRecord { scope, wanted, by: row.get(5)?, at: row.get(6)? })
}
