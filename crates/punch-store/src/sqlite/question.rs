//! Questions of agents in the database.

use rusqlite::params;

use super::view::SqliteTransaction;
use crate::backend::{count, most};
use crate::{QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, StoreError};

const COLUMNS: &str = "SELECT id, asked_at, run, seat, session, todo, agent, text, options, state, settled_at, answer, by, \
                       via, reason, taken_at FROM question";

/// Questions, newest first.
pub(super) fn list(
    view: &SqliteTransaction<'_>,
    which: QuestionFilter,
    limit: usize,
) -> Result<Vec<Question>, StoreError> {
    let condition = match which {
        QuestionFilter::Open => "INDEXED BY question_open WHERE state = 'open' AND",
        QuestionFilter::All => "WHERE",
    };
    let sql = format!("{COLUMNS} {condition} plan = ?1 ORDER BY id DESC LIMIT ?2");
    view.rows("read questions", &sql, params![view.plan.0, count(limit)])
}

/// One question.
pub(super) fn one(view: &SqliteTransaction<'_>, id: u64) -> Result<Option<Question>, StoreError> {
    let sql = format!("{COLUMNS} WHERE plan = ?1 AND id = ?2");
    view.first("read a question", &sql, params![view.plan.0, most(id)])
}

/// Adds a question, and forgets settled ones that are far behind it.
pub(super) fn append(view: &SqliteTransaction<'_>, question: &Question) -> Result<u64, StoreError> {
    let what = "store a question";
    let sql = "INSERT INTO question (plan, id, asked_at, run, seat, session, todo, agent, text, options, state) VALUES \
               (?1, 1 + ifnull((SELECT max(id) FROM question WHERE plan = ?1), 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
               'open') RETURNING id";
    let row = params![
        view.plan.0,
        question.asked_at,
        question.run.map(most),
        question.seat,
        question.session,
        question.todo.map(|uid| most(uid.0)),
        question.agent,
        question.text,
        question.options,
    ];
    let id = view.add(what, sql, row)?;
    settled(view, id, &question.state)?;
    let old = "DELETE FROM question WHERE plan = ?1 AND id <= ?2 AND state <> 'open'";
    view.execute(what, old, params![view.plan.0, most(id.saturating_sub(QUESTIONS_KEPT))])?;
    Ok(id)
}

/// Answers or closes a question that is open.
pub(super) fn settle(
    view: &SqliteTransaction<'_>,
    id: u64,
    state: &QuestionState,
) -> Result<QuestionOutcome, StoreError> {
    match one(view, id)?.map(|question| question.state) {
        None => Ok(QuestionOutcome::Unknown),
        Some(QuestionState::Open) => {
            settled(view, id, state)?;
            Ok(QuestionOutcome::Settled)
        }
        Some(before) => Ok(QuestionOutcome::AlreadySettled(before)),
    }
}

/// Takes the answer to a question, once.
pub(super) fn take(view: &SqliteTransaction<'_>, id: u64, now: i64) -> Result<bool, StoreError> {
    let sql =
        "UPDATE question SET taken_at = ?3 WHERE plan = ?1 AND id = ?2 AND state = 'answered' AND taken_at IS NULL";
    Ok(view.execute("store an answer", sql, params![view.plan.0, most(id), now])? > 0)
}

fn settled(view: &SqliteTransaction<'_>, id: u64, state: &QuestionState) -> Result<(), StoreError> {
    let what = "close a question";
    let answered = "UPDATE question SET state = 'answered', settled_at = ?3, answer = ?4, by = ?5, via = ?6, reason = ?7 \
                    WHERE plan = ?1 AND id = ?2 AND state = 'open'";
    let closed = "UPDATE question SET state = 'closed', settled_at = ?3, reason = ?4 \
                  WHERE plan = ?1 AND id = ?2 AND state = 'open'";
    match state {
        QuestionState::Open => Ok(()),
        QuestionState::Answered(QuestionAnswer { answer, by, via, reason, at, taken_at: _ }) => {
            view.execute(what, answered, params![view.plan.0, most(id), at, answer, by, via, reason]).map(|_| ())
        }
        QuestionState::Closed { reason, at } => {
            view.execute(what, closed, params![view.plan.0, most(id), at, reason]).map(|_| ())
        }
    }
}
