//! Questions of agents.

use punch_store::backend::FromColumns;
use punch_store::{
    QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, StoreError,
};

use crate::link::ask;
use crate::value::{Columns, count, most};
use crate::view::PgTransaction;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, asked_at, run, seat, session, todo, agent, content, options, state, settled_at, answer, by, via, reason, \
             taken_at FROM punch.question WHERE plan = $1 AND ",
            $rest
        )
    };
}

/// Questions, newest first.
pub fn list(view: &PgTransaction<'_>, which: QuestionFilter, limit: usize) -> Result<Vec<Question>, StoreError> {
    let sql = match which {
        QuestionFilter::Open => select!("state = 'open' ORDER BY id DESC LIMIT $2"),
        QuestionFilter::All => select!("true ORDER BY id DESC LIMIT $2"),
    };
    view.rows(ask!("read questions", sql, view.plan.0, count(limit)), Question::read)
}

/// One question.
pub fn one(view: &PgTransaction<'_>, id: u64) -> Result<Option<Question>, StoreError> {
    view.first(ask!("read a question", select!("id = $2"), view.plan.0, most(id)), Question::read)
}

/// Adds a question, and forgets settled ones that are far behind it.
pub fn append(view: &PgTransaction<'_>, question: &Question) -> Result<u64, StoreError> {
    const ADD: &str = "INSERT INTO punch.question (plan, id, asked_at, run, seat, session, todo, agent, content, options, state) \
                       SELECT $1, 1 + coalesce(max(id), 0), $2, $3, $4, $5, $6, $7, $8, $9, 'open' FROM punch.question \
                       WHERE plan = $1 RETURNING id";
    const OLD: &str = "DELETE FROM punch.question WHERE plan = $1 AND id <= $2 AND state <> 'open'";
    let what = "store a question";
    let added = ask!(
        what,
        ADD,
        view.plan.0,
        question.asked_at,
        question.run.map(most),
        question.seat.map(i64::from),
        question.session.as_deref(),
        question.todo.map(|uid| most(uid.0)),
        &question.agent,
        &question.text,
        &question.options,
    );
    let id = view.change(added, |row| row.number(0))?.unwrap_or(1);
    settled(view, id, &question.state);
    view.enqueue(ask!(what, OLD, view.plan.0, most(id.saturating_sub(QUESTIONS_KEPT))));
    Ok(id)
}

/// Answers or closes a question that is open.
pub fn settle(view: &PgTransaction<'_>, id: u64, state: &QuestionState) -> Result<QuestionOutcome, StoreError> {
    match one(view, id)?.map(|question| question.state) {
        None => Ok(QuestionOutcome::Unknown),
        Some(QuestionState::Open) => {
            settled(view, id, state);
            Ok(QuestionOutcome::Settled)
        }
        Some(before) => Ok(QuestionOutcome::AlreadySettled(before)),
    }
}

/// Takes the answer to a question, once.
pub fn take(view: &PgTransaction<'_>, id: u64, now: i64) -> Result<bool, StoreError> {
    const TAKE: &str = "UPDATE punch.question SET taken_at = $3 WHERE plan = $1 AND id = $2 AND state = 'answered' \
                        AND taken_at IS NULL RETURNING id";
    Ok(view.change(ask!("store an answer", TAKE, view.plan.0, most(id), now), |row| row.int(0))?.is_some())
}

fn settled(view: &PgTransaction<'_>, id: u64, state: &QuestionState) {
    const ANSWERED: &str = "UPDATE punch.question SET state = 'answered', settled_at = $3, answer = $4, by = $5, via = $6, \
                            reason = $7 WHERE plan = $1 AND id = $2 AND state = 'open'";
    const CLOSED: &str = "UPDATE punch.question SET state = 'closed', settled_at = $3, reason = $4 \
                          WHERE plan = $1 AND id = $2 AND state = 'open'";
    let (what, plan, id) = ("close a question", view.plan.0, most(id));
    match state {
        QuestionState::Open => {}
        QuestionState::Answered(QuestionAnswer { answer, by, via, reason, at, taken_at: _ }) => {
            view.enqueue(ask!(what, ANSWERED, plan, id, *at, answer, by, via, reason.as_deref()));
        }
        QuestionState::Closed { reason, at } => view.enqueue(ask!(what, CLOSED, plan, id, *at, reason)),
    }
}
