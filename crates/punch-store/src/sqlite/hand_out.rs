//! Batches, offers, mirrored todos, files of completed todos and announced calls in the database.

use std::collections::BTreeSet;

use punch_core::Uid;
use punch_core::drive::{OFFER_MS, TodoOffer};
use rusqlite::{Row, params};

use super::view::SqliteTransaction;
use crate::backend::{count, most};
use crate::{
    BATCHES_KEPT, COMPLETED_FILES_KEPT, CompletedFiles, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, OFFERS_KEPT,
    StoreError,
};

/// Batches, oldest first.
pub(super) fn batches(view: &SqliteTransaction<'_>) -> Result<Vec<HandOut>, StoreError> {
    let sql = "SELECT owner, at, todos FROM batch WHERE plan = ?1 ORDER BY at, owner";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?));
    let read = view.conn.prepare_cached(sql).and_then(|mut s| s.query_map([view.plan.0], row)?.collect());
    let rows: Vec<(String, i64, String)> = view.sql("read batches", read)?;
    let batch = |(owner, at, todos): (String, i64, String)| {
        let todos: BTreeSet<Uid> = view.parse("a batch", &todos)?;
        Ok(HandOut { owner, todos, at })
    };
    rows.into_iter().map(batch).collect()
}

/// Keeps a batch.
pub(super) fn put_batch(view: &SqliteTransaction<'_>, batch: &HandOut) -> Result<(), StoreError> {
    let what = "store a batch";
    let sql = "INSERT OR REPLACE INTO batch (plan, owner, at, todos) VALUES (?1, ?2, ?3, ?4)";
    let todos = view.to_json("a batch", &batch.todos)?;
    view.execute(what, sql, params![view.plan.0, batch.owner, batch.at, todos])?;
    let old = "DELETE FROM batch WHERE plan = ?1 AND owner IN (SELECT owner FROM batch WHERE plan = ?1 \
               ORDER BY at DESC, owner DESC LIMIT -1 OFFSET ?2)";
    view.execute(what, old, params![view.plan.0, count(BATCHES_KEPT)]).map(|_| ())
}

/// Forgets a batch.
pub(super) fn forget_batch(view: &SqliteTransaction<'_>, owner: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM batch WHERE plan = ?1 AND owner = ?2";
    view.execute("delete a batch", sql, params![view.plan.0, owner]).map(|_| ())
}

/// Offers, oldest first.
pub(super) fn offers(view: &SqliteTransaction<'_>) -> Result<Vec<TodoOffer>, StoreError> {
    let sql = "SELECT owner, todo, at FROM offer WHERE plan = ?1 ORDER BY at, owner";
    view.rows("read offers", sql, [view.plan.0])
}

/// Keeps an offer.
pub(super) fn put_offer(view: &SqliteTransaction<'_>, offer: &TodoOffer) -> Result<(), StoreError> {
    let what = "store an offer";
    let old = "DELETE FROM offer WHERE plan = ?1 AND (at <= ?2 OR at > ?3)";
    view.execute(what, old, params![view.plan.0, offer.at.saturating_sub(OFFER_MS), offer.at])?;
    let sql = "INSERT OR REPLACE INTO offer (plan, owner, todo, at) VALUES (?1, ?2, ?3, ?4)";
    view.execute(what, sql, params![view.plan.0, offer.owner, most(offer.uid.0), offer.at])?;
    let surplus = "DELETE FROM offer WHERE plan = ?1 AND owner IN (SELECT owner FROM offer WHERE plan = ?1 \
                   ORDER BY at DESC, owner DESC LIMIT -1 OFFSET ?2)";
    view.execute(what, surplus, params![view.plan.0, count(OFFERS_KEPT)]).map(|_| ())
}

/// Forgets an offer.
pub(super) fn forget_offer(view: &SqliteTransaction<'_>, owner: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM offer WHERE plan = ?1 AND owner = ?2";
    view.execute("delete an offer", sql, params![view.plan.0, owner]).map(|_| ())
}

/// The todos that were copied from an agent's own list.
pub(super) fn mirrored(view: &SqliteTransaction<'_>) -> Result<Vec<Uid>, StoreError> {
    let sql = "SELECT todos FROM mirrored WHERE plan = ?1";
    match view.first::<String>("read mirrored todos", sql, [view.plan.0])? {
        Some(todos) => view.parse("the list of mirrored todos", &todos),
        None => Ok(Vec::new()),
    }
}

/// Keeps which todos were copied.
pub(super) fn put_mirrored(view: &SqliteTransaction<'_>, todos: &[Uid]) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO mirrored (plan, todos) VALUES (?1, ?2)";
    let todos = view.to_json("the list of mirrored todos", &todos)?;
    view.execute("store mirrored todos", sql, params![view.plan.0, todos]).map(|_| ())
}

/// What the files of a todo held.
pub(super) fn completed_files(view: &SqliteTransaction<'_>, todo: Uid) -> Result<Option<CompletedFiles>, StoreError> {
    let sql = "SELECT todo, at, blobs FROM completed_files WHERE plan = ?1 AND todo = ?2";
    view.first("read files of a completed todo", sql, params![view.plan.0, most(todo.0)])
}

/// Keeps what the files of a todo held.
pub(super) fn put_completed_files(view: &SqliteTransaction<'_>, files: &CompletedFiles) -> Result<(), StoreError> {
    let what = "store files of a completed todo";
    let sql = "INSERT OR REPLACE INTO completed_files (plan, todo, at, blobs) VALUES (?1, ?2, ?3, ?4)";
    view.execute(what, sql, params![view.plan.0, most(files.todo.0), files.at, files.blobs])?;
    let old = "DELETE FROM completed_files WHERE seq <= (SELECT max(seq) FROM completed_files) - ?1";
    view.execute(what, old, [most(COMPLETED_FILES_KEPT)]).map(|_| ())
}

/// Forgets the files of todos that were removed, or completed before `until`.
pub(super) fn prune_completed_files(view: &SqliteTransaction<'_>, until: i64) -> Result<(), StoreError> {
    let sql = "DELETE FROM completed_files WHERE plan = ?1 AND (at <= ?2 OR todo IN \
               (SELECT uid FROM todo WHERE plan = ?1 AND removed IS NOT NULL))";
    view.execute("delete files of completed todos", sql, params![view.plan.0, until]).map(|_| ())
}

/// Announced calls, oldest first.
pub(super) fn expected_calls(view: &SqliteTransaction<'_>) -> Result<Vec<ExpectedCall>, StoreError> {
    let sql = "SELECT seq, host, subagent, plan, call, fingerprint, at FROM expected_call ORDER BY seq";
    view.rows("read announced calls", sql, [])
}

/// Keeps an announced call.
pub(super) fn put_expected_call(view: &SqliteTransaction<'_>, call: &ExpectedCall) -> Result<(), StoreError> {
    let what = "store an announced call";
    let sql = "INSERT INTO expected_call (host, subagent, plan, call, fingerprint, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (host, subagent) = (call.session.session_id(), call.session.subagent().unwrap_or_default());
    view.execute(what, sql, params![host, subagent, call.plan.0, call.call, call.fingerprint, call.at])?;
    let old = "DELETE FROM expected_call WHERE seq <= (SELECT max(seq) FROM expected_call) - ?1";
    view.execute(what, old, [most(EXPECTED_CALLS_KEPT)]).map(|_| ())
}

/// Forgets an announced call.
pub(super) fn forget_expected_call(view: &SqliteTransaction<'_>, call: &ExpectedCall) -> Result<(), StoreError> {
    // The number of a forgotten call may be given out again.
    let sql = "DELETE FROM expected_call WHERE seq = ?1 AND host = ?2 AND fingerprint = ?3 AND at = ?4";
    let key = params![most(call.seq), call.session.session_id(), call.fingerprint, call.at];
    view.execute("delete an announced call", sql, key).map(|_| ())
}
