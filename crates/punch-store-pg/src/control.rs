//! Controls, seats and the lease of a runner.

use punch_store::backend::{FromColumns, control_key};
use punch_store::{ControlRecord, ControlScope, PlanId, RequestedState, RunGrant, RunLease, SeatRecord, StoreError};

use crate::link::{Statement, ask};
use crate::value::most;
use crate::view::PgTransaction;

/// One control.
pub fn one(view: &PgTransaction<'_>, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError> {
    const SQL: &str = "SELECT plan, run, seat, session, wanted, by, at FROM punch.control \
                       WHERE project = $1 AND plan = $2 AND run = $3 AND seat = $4 AND session = $5";
    let (plan, run, seat, session) = control_key(scope);
    view.first(ask!("read a control", SQL, view.store.project, plan, run, seat, session), ControlRecord::read)
}

/// The controls of a run and its seats.
pub fn of_run(view: &PgTransaction<'_>, run: u64) -> Result<Vec<ControlRecord>, StoreError> {
    const SQL: &str = "SELECT plan, run, seat, session, wanted, by, at FROM punch.control \
                       WHERE project = $1 AND plan = $2 AND run = $3 ORDER BY seat";
    view.rows(ask!("read controls", SQL, view.store.project, view.plan.0, most(run)), ControlRecord::read)
}

/// Keeps a control; what is to go has none.
pub fn put(view: &PgTransaction<'_>, control: &ControlRecord) -> Result<(), StoreError> {
    const FORGET: &str = "DELETE FROM punch.control \
                          WHERE project = $1 AND plan = $2 AND run = $3 AND seat = $4 AND session = $5";
    const PUT: &str = "INSERT INTO punch.control (project, plan, run, seat, session, wanted, by, at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                       ON CONFLICT (project, plan, run, seat, session) DO UPDATE SET wanted = $6, by = $7, at = $8";
    let (what, project) = ("store a control", view.store.project);
    let (plan, run, seat, session) = control_key(&control.scope);
    match control.wanted {
        RequestedState::Go => view.enqueue(ask!(what, FORGET, project, plan, run, seat, session)),
        RequestedState::Pause | RequestedState::Stop => {
            let (wanted, by) = (control.wanted.as_str(), &control.by);
            view.enqueue(ask!(what, PUT, project, plan, run, seat, session, wanted, by, control.at));
        }
    }
    Ok(())
}

/// The seats of a run.
pub fn seats(view: &PgTransaction<'_>, run: u64) -> Result<Vec<SeatRecord>, StoreError> {
    const SQL: &str = "SELECT run, n, at, body FROM punch.seat WHERE plan = $1 AND run = $2 ORDER BY n";
    view.rows(ask!("read seats", SQL, view.plan.0, most(run)), SeatRecord::read)
}

/// Keeps a seat.
pub fn put_seat(view: &PgTransaction<'_>, seat: &SeatRecord) -> Result<(), StoreError> {
    const PUT: &str = "INSERT INTO punch.seat (plan, run, n, at, body) VALUES ($1, $2, $3, $4, $5) \
                       ON CONFLICT (plan, run, n) DO UPDATE SET at = $4, body = $5";
    view.enqueue(ask!("store a seat", PUT, view.plan.0, most(seat.run), i64::from(seat.n), seat.at, &seat.body));
    Ok(())
}

/// Forgets the seats and controls of a run.
pub fn clear(view: &PgTransaction<'_>, run: u64) -> Result<(), StoreError> {
    const SEATS: &str = "DELETE FROM punch.seat WHERE plan = $1 AND run = $2";
    const CONTROLS: &str = "DELETE FROM punch.control WHERE project = $1 AND plan = $2 AND run = $3";
    view.enqueue(ask!("end a run", SEATS, view.plan.0, most(run)));
    view.enqueue(ask!("end a run", CONTROLS, view.store.project, view.plan.0, most(run)));
    Ok(())
}

/// The question for the latest lease on a plan.
pub fn ask_lease(plan: PlanId) -> Statement {
    ask!("read the lease of the runner", "SELECT holder, epoch, until FROM punch.runner WHERE plan = $1", plan.0)
}

/// The latest lease on the plan.
pub fn lease(view: &PgTransaction<'_>) -> Result<Option<RunLease>, StoreError> {
    view.first(ask_lease(view.plan), RunLease::read)
}

/// Takes the plan for a runner.
pub fn take(view: &PgTransaction<'_>, holder: &str, lease_ms: i64, now: i64) -> Result<RunGrant, StoreError> {
    const PUT: &str = "INSERT INTO punch.runner (plan, holder, epoch, until) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (plan) DO UPDATE SET holder = $2, epoch = $3, until = $4";
    let latest = lease(view)?;
    let epoch = latest.as_ref().map_or(0, |lease| lease.epoch) + 1;
    if let Some(held) = latest.filter(|lease| lease.is_live(lease_ms, now)) {
        return Ok(RunGrant::HeldBy(held));
    }
    let until = now.saturating_add(lease_ms);
    view.enqueue(ask!("reserve the plan for a runner", PUT, view.plan.0, holder, most(epoch), until));
    Ok(RunGrant::Granted { epoch })
}

/// Prolongs a lease that was not released.
pub fn renew(view: &PgTransaction<'_>, epoch: u64, lease_ms: i64, now: i64) -> Result<bool, StoreError> {
    let own = lease(view)?.is_some_and(|lease| lease.epoch == epoch && lease.until.is_some());
    if own {
        set_until(view, Some(now.saturating_add(lease_ms)));
    }
    Ok(own)
}

/// Ends a lease.
pub fn release(view: &PgTransaction<'_>, epoch: u64) -> Result<bool, StoreError> {
    let own = lease(view)?.is_some_and(|lease| lease.epoch == epoch);
    if own {
        set_until(view, None);
    }
    Ok(own)
}

fn set_until(view: &PgTransaction<'_>, until: Option<i64>) {
    const SQL: &str = "UPDATE punch.runner SET until = $2 WHERE plan = $1";
    view.enqueue(ask!("write the lease of the runner", SQL, view.plan.0, until));
}
