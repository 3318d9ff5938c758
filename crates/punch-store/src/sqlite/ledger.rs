//! Runs and the ledger in the database. The ledger is only added to; sums are made when they are asked for.

use punch_core::Uid;
use rusqlite::{OptionalExtension, Row, params};

use super::read::count;
use super::view::SqliteTransaction;
use crate::{AttemptUsage, LedgerEntry, StoreError, StoredRun};

const RUN: &str = "SELECT id, started_at, ended_at, body FROM run WHERE plan = ?1";

/// Sums by todo and attempt.
pub(super) fn usage(view: &SqliteTransaction<'_>, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError> {
    // Added up here: a sum that overflows is an error in SQLite.
    let sql = "SELECT uid, attempt, iif(estimated, 0, tokens_in), iif(estimated, 0, tokens_out), ms, at, again FROM \
               ledger INDEXED BY ledger_todo WHERE plan = ?1 AND (?2 IS NULL OR uid = ?2) ORDER BY uid, attempt";
    let read = || -> rusqlite::Result<Vec<AttemptUsage>> {
        let mut statement = view.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![view.plan.0, of.map(|uid| uid.0.cast_signed())])?;
        let mut out: Vec<AttemptUsage> = Vec::new();
        while let Some(row) = rows.next()? {
            let (uid, attempt) = (Uid(number(row, 0)?), small(row, 1)?);
            let tokens = number(row, 2)?.saturating_add(number(row, 3)?).saturating_sub(number(row, 6)?);
            let tokens = sum(tokens, 0);
            let (ms, at) = (number(row, 4)?, row.get(5)?);
            match out.last_mut().filter(|last| (last.uid, last.attempt) == (uid, attempt)) {
                Some(last) => {
                    (last.tokens, last.ms) = (sum(last.tokens, tokens), sum(last.ms, ms));
                    last.at = last.at.max(at);
                }
                None => out.push(AttemptUsage { uid, attempt, tokens, ms, at }),
            }
        }
        Ok(out)
    };
    view.sql("read what todos took", read())
}

/// The entries of a run.
pub(super) fn entries(view: &SqliteTransaction<'_>, run: u64) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger INDEXED BY ledger_run WHERE plan = ?1 AND run = ?2 ORDER BY seq";
    let params = params![view.plan.0, run.cast_signed()];
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_map(params, spent)?.collect());
    view.sql("read the ledger", read)
}

/// The entries about one todo.
pub(super) fn of_todo(view: &SqliteTransaction<'_>, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger INDEXED BY ledger_todo WHERE plan = ?1 AND uid = ?2 ORDER BY seq";
    let params = params![view.plan.0, most(todo.0)];
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_map(params, spent)?.collect());
    view.sql("read the ledger", read)
}

/// Entries of any kind, after the first `skip`.
pub(super) fn all(view: &SqliteTransaction<'_>, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError> {
    let sql = "SELECT uid, attempt, run, agent, subagent, tokens_in, tokens_out, cost, ms, turns, estimated, at, again \
               FROM ledger WHERE plan = ?1 ORDER BY seq LIMIT ?3 OFFSET ?2";
    let params = params![view.plan.0, count(skip), count(limit)];
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_map(params, spent)?.collect());
    view.sql("read the ledger", read)
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
    let params = params![view.plan.0, i64::try_from(limit).unwrap_or(i64::MAX)];
    let read = view.conn.prepare_cached(&sql).and_then(|mut s| s.query_map(params, run)?.collect());
    view.sql("read the runs", read)
}

/// One run.
pub(super) fn one(view: &SqliteTransaction<'_>, id: u64) -> Result<Option<StoredRun>, StoreError> {
    let sql = format!("{RUN} AND id = ?2");
    let params = params![view.plan.0, most(id)];
    let read = view.conn.prepare_cached(&sql).and_then(|mut s| s.query_row(params, run).optional());
    view.sql("read a run", read)
}

/// Keeps a run.
pub(super) fn put(view: &SqliteTransaction<'_>, run: &StoredRun) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO run (plan, id, started_at, ended_at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![view.plan.0, most(run.id), run.started_at, run.ended_at, run.body];
    view.execute("keep a run", sql, row).map(|_| ())
}

/// What the database can hold.
pub(super) fn most(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn sum(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(i64::MAX.unsigned_abs())
}

pub(super) fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0))
}

fn small(row: &Row<'_>, at: usize) -> rusqlite::Result<u32> {
    number(row, at).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

fn run(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    Ok(StoredRun { id: number(row, 0)?, started_at: row.get(1)?, ended_at: row.get(2)?, body: row.get(3)? })
}

fn spent(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    let maybe = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.map(|n| u64::try_from(n).unwrap_or(0)));
    Ok(LedgerEntry {
        uid: Uid(number(row, 0)?),
        attempt: small(row, 1)?,
        run: maybe(2)?,
        agent: row.get(3)?,
        subagent: row.get(4)?,
        tokens_in: number(row, 5)?,
        tokens_out: number(row, 6)?,
        cost: maybe(7)?,
        ms: number(row, 8)?,
        turns: small(row, 9)?,
        estimated: row.get(10)?,
        at: row.get(11)?,
        again: number(row, 12)?,
    })
}
