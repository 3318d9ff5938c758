//! Batches, offers, mirrored todos, files of completed todos and announced calls.

use punch_core::Uid;
use punch_core::drive::{OFFER_MS, TodoOffer};
use punch_store::backend::FromColumns;
use punch_store::{
    BATCHES_KEPT, COMPLETED_FILES_KEPT, CompletedFiles, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, OFFERS_KEPT,
    PlanId, StoreError,
};

use crate::link::{Statement, ask};
use crate::value::{Columns, count, most};
use crate::view::PgTransaction;

/// Batches, oldest first.
pub fn batches(view: &PgTransaction<'_>) -> Result<Vec<HandOut>, StoreError> {
    const SQL: &str = "SELECT owner, at, todos FROM punch.batch WHERE plan = $1 ORDER BY at, owner";
    let rows =
        view.rows(ask!("read batches", SQL, view.plan.0), |row| Ok((row.text(0)?, row.int(1)?, row.text(2)?)))?;
    let batch =
        |(owner, at, todos): (String, i64, String)| Ok(HandOut { owner, todos: view.parse("a batch", &todos)?, at });
    rows.into_iter().map(batch).collect()
}

/// Keeps a batch.
pub fn put_batch(view: &PgTransaction<'_>, batch: &HandOut) -> Result<(), StoreError> {
    const PUT: &str = "INSERT INTO punch.batch (plan, owner, at, todos) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (plan, owner) DO UPDATE SET at = $3, todos = $4";
    const OLD: &str = "DELETE FROM punch.batch WHERE plan = $1 AND owner IN (SELECT owner FROM punch.batch WHERE plan = $1 \
                       ORDER BY at DESC, owner DESC OFFSET $2)";
    let what = "store a batch";
    let todos = view.to_json("a batch", &batch.todos)?;
    view.enqueue(ask!(what, PUT, view.plan.0, &batch.owner, batch.at, todos));
    view.enqueue(ask!(what, OLD, view.plan.0, count(BATCHES_KEPT)));
    Ok(())
}

/// Forgets a batch.
pub fn forget_batch(view: &PgTransaction<'_>, owner: &str) -> Result<(), StoreError> {
    view.enqueue(ask!("delete a batch", "DELETE FROM punch.batch WHERE plan = $1 AND owner = $2", view.plan.0, owner));
    Ok(())
}

/// The question for offers.
pub fn ask_offers(plan: PlanId) -> Statement {
    ask!("read offers", "SELECT owner, todo, at FROM punch.offer WHERE plan = $1 ORDER BY at, owner", plan.0)
}

/// Offers, oldest first.
pub fn offers(view: &PgTransaction<'_>) -> Result<Vec<TodoOffer>, StoreError> {
    view.rows(ask_offers(view.plan), TodoOffer::read)
}

/// Keeps an offer.
pub fn put_offer(view: &PgTransaction<'_>, offer: &TodoOffer) -> Result<(), StoreError> {
    const OLD: &str = "DELETE FROM punch.offer WHERE plan = $1 AND (at <= $2 OR at > $3)";
    const PUT: &str = "INSERT INTO punch.offer (plan, owner, todo, at) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (plan, owner) DO UPDATE SET todo = $3, at = $4";
    const SURPLUS: &str = "DELETE FROM punch.offer WHERE plan = $1 AND owner IN (SELECT owner FROM punch.offer \
                           WHERE plan = $1 ORDER BY at DESC, owner DESC OFFSET $2)";
    let what = "store an offer";
    view.enqueue(ask!(what, OLD, view.plan.0, offer.at.saturating_sub(OFFER_MS), offer.at));
    view.enqueue(ask!(what, PUT, view.plan.0, &offer.owner, most(offer.uid.0), offer.at));
    view.enqueue(ask!(what, SURPLUS, view.plan.0, count(OFFERS_KEPT)));
    Ok(())
}

/// Forgets an offer.
pub fn forget_offer(view: &PgTransaction<'_>, owner: &str) -> Result<(), StoreError> {
    view.enqueue(ask!("delete an offer", "DELETE FROM punch.offer WHERE plan = $1 AND owner = $2", view.plan.0, owner));
    Ok(())
}

/// The todos that were copied from an agent's own list.
pub fn mirrored(view: &PgTransaction<'_>) -> Result<Vec<Uid>, StoreError> {
    const SQL: &str = "SELECT todos FROM punch.mirrored WHERE plan = $1";
    match view.first(ask!("read mirrored todos", SQL, view.plan.0), |row| row.text(0))? {
        Some(todos) => view.parse("the list of mirrored todos", &todos),
        None => Ok(Vec::new()),
    }
}

/// Keeps which todos were copied.
pub fn put_mirrored(view: &PgTransaction<'_>, todos: &[Uid]) -> Result<(), StoreError> {
    const PUT: &str =
        "INSERT INTO punch.mirrored (plan, todos) VALUES ($1, $2) ON CONFLICT (plan) DO UPDATE SET todos = $2";
    let todos = view.to_json("the list of mirrored todos", &todos)?;
    view.enqueue(ask!("store mirrored todos", PUT, view.plan.0, todos));
    Ok(())
}

/// What the files of a todo held.
pub fn completed_files(view: &PgTransaction<'_>, todo: Uid) -> Result<Option<CompletedFiles>, StoreError> {
    const SQL: &str = "SELECT todo, at, blobs FROM punch.completed_files WHERE plan = $1 AND todo = $2";
    view.first(ask!("read files of a completed todo", SQL, view.plan.0, most(todo.0)), CompletedFiles::read)
}

/// Keeps what the files of a todo held.
pub fn put_completed_files(view: &PgTransaction<'_>, files: &CompletedFiles) -> Result<(), StoreError> {
    const FORGET: &str = "DELETE FROM punch.completed_files WHERE plan = $1 AND todo = $2";
    const PUT: &str = "INSERT INTO punch.completed_files (project, plan, todo, at, blobs) VALUES ($1, $2, $3, $4, $5)";
    // Numbers are given to all projects together, so that some are kept for less time; what is forgotten git can still say.
    const OLD: &str = "DELETE FROM punch.completed_files WHERE ctid = ANY (ARRAY (SELECT ctid FROM punch.completed_files \
                       WHERE project = $1 AND seq <= (SELECT max(seq) FROM punch.completed_files WHERE project = $1) - $2 \
                       LIMIT 500 FOR UPDATE SKIP LOCKED))";
    let (what, project, plan, todo) =
        ("store files of a completed todo", view.store.project, view.plan.0, most(files.todo.0));
    view.enqueue(ask!(what, FORGET, plan, todo));
    view.enqueue(ask!(what, PUT, project, plan, todo, files.at, &files.blobs));
    view.enqueue(ask!(what, OLD, project, most(COMPLETED_FILES_KEPT)));
    Ok(())
}

/// Forgets the files of todos that were removed, or completed before `until`.
pub fn prune_completed_files(view: &PgTransaction<'_>, until: i64) {
    const SQL: &str = "DELETE FROM punch.completed_files WHERE plan = $1 AND (at <= $2 OR todo IN \
                       (SELECT uid FROM punch.todo WHERE plan = $1 AND removed IS NOT NULL))";
    view.enqueue(ask!("delete files of completed todos", SQL, view.plan.0, until));
}

/// Announced calls, oldest first.
pub fn expected_calls(view: &PgTransaction<'_>) -> Result<Vec<ExpectedCall>, StoreError> {
    const SQL: &str = "SELECT seq, host, subagent, plan, call, fingerprint, at FROM punch.expected_call \
                       WHERE project = $1 ORDER BY seq";
    view.rows(ask!("read announced calls", SQL, view.store.project), ExpectedCall::read)
}

/// Keeps an announced call.
pub fn put_expected_call(view: &PgTransaction<'_>, call: &ExpectedCall) -> Result<(), StoreError> {
    const PUT: &str = "INSERT INTO punch.expected_call (project, host, subagent, plan, call, fingerprint, at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const OLD: &str = "DELETE FROM punch.expected_call WHERE seq = ANY (ARRAY (SELECT seq FROM punch.expected_call \
                       WHERE project = $1 ORDER BY seq DESC OFFSET $2 FOR UPDATE SKIP LOCKED))";
    let (what, project) = ("store an announced call", view.store.project);
    let (host, subagent) = (call.session.session_id(), call.session.subagent().unwrap_or_default());
    let ExpectedCall { plan, call: id, fingerprint, at, .. } = call;
    view.enqueue(ask!(what, PUT, project, host, subagent, plan.0, id.as_deref(), fingerprint, *at));
    view.enqueue(ask!(what, OLD, project, most(EXPECTED_CALLS_KEPT)));
    Ok(())
}

/// Forgets an announced call.
pub fn forget_expected_call(view: &PgTransaction<'_>, call: &ExpectedCall) -> Result<(), StoreError> {
    const SQL: &str = "DELETE FROM punch.expected_call WHERE project = $1 AND seq = $2 AND host = $3 AND fingerprint = $4 \
                       AND at = $5";
    let (host, seq) = (call.session.session_id(), most(call.seq));
    view.enqueue(ask!("delete an announced call", SQL, view.store.project, seq, host, &call.fingerprint, call.at));
    Ok(())
}
