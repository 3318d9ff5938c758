//! Runs and the ledger in the database. The ledger is only added to; sums are made when they are asked for.

use punch_core::Uid;
use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::{add_up, count, most};
use crate::{AttemptUsage, LedgerEntry, StoreError, StoredRun};

const RUN: &str = "SELECT id, started_at, ended_at, body FROM run WHERE plan = ?1";

/// Sums by todo and attempt.
pub(super) fn usage(view: &SqliteTransaction<'_>, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError> {
    let sql = "SELECT uid, attempt, iif(estimated, 0, tokens_in), iif(estimated, 0, tokens_out), ms, at, again FROM \
               ledger INDEXED BY ledger_todo WHERE plan = ?1 AND (?2 IS NULL OR uid = ?2) ORDER BY uid, attempt";
    let key = params![view.plan.0, of.map(|uid| uid.0.cast_signed())];
    view.rows("read what todos took", sql, key).map(add_up)
}

/// The entries of a run.
pub(super) fn entries(view: &SqliteTransaction<'_>, run: u64) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger INDEXED BY ledger_run WHERE plan = ?1 AND run = ?2 ORDER BY seq";
    view.rows("read the ledger", sql, params![view.plan.0, most(run)])
}

/// The entries about one todo.
pub(super) fn of_todo(view: &SqliteTransaction<'_>, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger INDEXED BY ledger_todo WHERE plan = ?1 AND uid = ?2 ORDER BY seq";
    view.rows("read the ledger", sql, params![view.plan.0, most(todo.0)])
}

/// Entries of any kind, after the first `skip`.
pub(super) fn all(view: &SqliteTransaction<'_>, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger WHERE plan = ?1 ORDER BY seq LIMIT ?3 OFFSET ?2";
    view.rows("read the ledger", sql, params![view.plan.0, count(skip), count(limit)])
}

/// Adds an entry.
pub(super) fn append(view: &SqliteTransaction<'_>, spent: &LedgerEntry) -> Result<(), StoreError> {
    let sql = "INSERT INTO ledger (plan, seq, uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, \
               estimated, at, again) VALUES (?1, 1 + ifnull((SELECT max(seq) FROM ledger WHERE plan = ?1), 0), ?2, ?3, ?4, \
               ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let row = params![
        view.plan.0,
        most(spent.uid.0),
        spent.attempt,
        spent.run.map(most),
        spent.agent,
        spent.subagent,
        most(spent.tokens_in),
        most(spent.tokens_out),
        spent.cost.map(most),
        most(spent.ms),
        spent.turns,
        spent.estimated,
        spent.at,
        most(spent.again)
    ];
    view.execute("add to the ledger", sql, row).map(|_| ())
}

/// Runs, newest first.
pub(super) fn runs(view: &SqliteTransaction<'_>, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
    let sql = format!("{RUN} ORDER BY id DESC LIMIT ?2");
    view.rows("read the runs", &sql, params![view.plan.0, count(limit)])
}

/// One run.
pub(super) fn one(view: &SqliteTransaction<'_>, id: u64) -> Result<Option<StoredRun>, StoreError> {
    let sql = format!("{RUN} AND id = ?2");
    view.first("read a run", &sql, params![view.plan.0, most(id)])
}

/// Keeps a run.
pub(super) fn put(view: &SqliteTransaction<'_>, run: &StoredRun) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO run (plan, id, started_at, ended_at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![view.plan.0, most(run.id), run.started_at, run.ended_at, run.body];
    view.execute("store a run", sql, row).map(|_| ())
}
