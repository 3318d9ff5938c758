//! Runs and the ledger. The ledger is only added to; sums are made when they are asked for.

use punch_core::Uid;
use punch_store::backend::{FromColumns, add_up};
use punch_store::{AttemptUsage, LedgerEntry, PlanId, StoreError, StoredRun};

use crate::link::{Statement, ask};
use crate::value::{count, most};
use crate::view::PgTransaction;

/// Sums by todo and attempt.
pub fn usage(view: &PgTransaction<'_>, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError> {
    const SQL: &str = "SELECT uid, attempt, CASE WHEN estimated THEN 0 ELSE tokens_in END, \
                       CASE WHEN estimated THEN 0 ELSE tokens_out END, ms, at, again FROM punch.ledger \
                       WHERE plan = $1 AND ($2::int8 IS NULL OR uid = $2) ORDER BY uid, attempt, seq";
    let ask = ask!("read what todos took", SQL, view.plan.0, of.map(|uid| uid.0.cast_signed()));
    view.rows(ask, AttemptUsage::read).map(add_up)
}

/// The entries of a run.
pub fn entries(view: &PgTransaction<'_>, run: u64) -> Result<Vec<LedgerEntry>, StoreError> {
    const SQL: &str = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
                       FROM punch.ledger WHERE plan = $1 AND run = $2 ORDER BY seq";
    view.rows(ask!("read the ledger", SQL, view.plan.0, most(run)), LedgerEntry::read)
}

/// The entries about one todo.
pub fn of_todo(view: &PgTransaction<'_>, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError> {
    const SQL: &str = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
                       FROM punch.ledger WHERE plan = $1 AND uid = $2 ORDER BY seq";
    view.rows(ask!("read the ledger", SQL, view.plan.0, most(todo.0)), LedgerEntry::read)
}

/// Entries of any kind, after the first `skip`.
pub fn all(view: &PgTransaction<'_>, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError> {
    const SQL: &str = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
                       FROM punch.ledger WHERE plan = $1 ORDER BY seq LIMIT $3 OFFSET $2";
    view.rows(ask!("read the ledger", SQL, view.plan.0, count(skip), count(limit)), LedgerEntry::read)
}

/// Adds an entry.
pub fn append(view: &PgTransaction<'_>, spent: &LedgerEntry) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO punch.ledger (plan, seq, uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, \
                       turns, estimated, at, again) SELECT $1, 1 + coalesce(max(seq), 0), $2, $3, $4, $5, $6, $7, $8, $9, \
                       $10, $11, $12, $13, $14 FROM punch.ledger WHERE plan = $1";
    view.enqueue(ask!(
        "add to the ledger",
        SQL,
        view.plan.0,
        most(spent.uid.0),
        i64::from(spent.attempt),
        spent.run.map(most),
        &spent.agent,
        spent.subagent.as_deref(),
        most(spent.tokens_in),
        most(spent.tokens_out),
        spent.cost.map(most),
        most(spent.ms),
        i64::from(spent.turns),
        spent.estimated,
        spent.at,
        most(spent.again),
    ));
    Ok(())
}

/// Runs, newest first.
pub fn runs(view: &PgTransaction<'_>, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
    const SQL: &str = "SELECT id, started_at, ended_at, body FROM punch.run WHERE plan = $1 ORDER BY id DESC LIMIT $2";
    view.rows(ask!("read the runs", SQL, view.plan.0, count(limit)), StoredRun::read)
}

/// The question for one run.
pub fn ask_one(plan: PlanId, id: u64) -> Statement {
    const SQL: &str = "SELECT id, started_at, ended_at, body FROM punch.run WHERE plan = $1 AND id = $2";
    ask!("read a run", SQL, plan.0, most(id))
}

/// One run.
pub fn one(view: &PgTransaction<'_>, id: u64) -> Result<Option<StoredRun>, StoreError> {
    view.first(ask_one(view.plan, id), StoredRun::read)
}

/// Keeps a run.
pub fn put(view: &PgTransaction<'_>, run: &StoredRun) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO punch.run (plan, id, started_at, ended_at, body) VALUES ($1, $2, $3, $4, $5) \
                       ON CONFLICT (plan, id) DO UPDATE SET started_at = $3, ended_at = $4, body = $5";
    view.enqueue(ask!("store a run", SQL, view.plan.0, most(run.id), run.started_at, run.ended_at, &run.body));
    Ok(())
}
