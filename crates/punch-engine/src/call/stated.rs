//! What a caller says that a todo took (`actualTokens`). It is the sum of the attempt, so saying it again adds nothing,
//! and it counts only where nobody measures: what hooks or a runner enter is better than what a model believes.

use punch_core::dialect::extended::{self, Wish};
use punch_core::{Plan, Status, Todo, Uid};
use punch_store::{Spent, StoreError, Tx};
use serde_json::Value;

use super::Caller;
use crate::SessionState;
use crate::host::share;

/// A todo, its attempt, and tokens.
type Stated = (Uid, u32, u64);

/// What the ops `done` and `fail` of a native call say. Several todos of one op share evenly.
pub(super) fn native(plan: &Plan, arguments: &Value) -> Vec<Stated> {
    let mut out = Vec::new();
    for op in arguments["ops"].as_array().into_iter().flatten() {
        let failed = match op["op"].as_str() {
            Some("done") => false,
            Some("fail") => true,
            _ => continue,
        };
        let Some(tokens) = op["actualTokens"].as_u64() else { continue };
        let ids: Vec<&str> = match op["ids"].as_array() {
            Some(ids) => ids.iter().filter_map(Value::as_str).collect(),
            None => op["id"].as_str().into_iter().collect(),
        };
        let todos = ids.iter().enumerate().filter_map(|(n, id)| Some((n, plan.by_id(id)?)));
        out.extend(todos.map(|(n, todo)| (todo.uid, attempt(todo, failed), share(tokens, n, ids.len()))));
    }
    out
}

/// What the todos of an extended call say.
pub(super) fn extended(plan: &Plan, call: &extended::Call) -> Vec<Stated> {
    let one = |given: &extended::Given| {
        let (todo, tokens) = (plan.by_id(&given.id)?, given.actual?);
        Some((todo.uid, attempt(todo, given.status == Some(Wish::Stored(Status::Failed))), tokens))
    };
    call.todos.iter().filter_map(one).collect()
}

/// Enters what was said, as far as it is more than what is known.
pub(super) fn enter(
    tx: &mut dyn Tx,
    caller: &Caller<'_>,
    state: &SessionState,
    stated: &[Stated],
    now: i64,
) -> Result<(), StoreError> {
    if caller.actor.worker_id().is_some() {
        return Ok(());
    }
    for (uid, attempt, tokens) in stated.iter().copied().filter(|(uid, ..)| !state.meter.measures(*uid)) {
        let known = tx.usage(Some(uid))?.into_iter().find(|usage| usage.attempt == attempt);
        let more = tokens.saturating_sub(known.map_or(0, |usage| usage.tokens));
        if more > 0 {
            tx.spend(&Spent {
                uid,
                attempt,
                run: None,
                agent: caller.actor.by().to_owned(),
                subagent: caller.session.subagent().map(str::to_owned),
                tokens_in: more,
                tokens_out: 0,
                again: 0,
                cost: None,
                ms: 0,
                turns: 0,
                estimated: false,
                at: now,
            })?;
        }
    }
    Ok(())
}

/// The attempt that has just ended, or is under way: one that failed is counted already.
fn attempt(todo: &Todo, failed: bool) -> u32 {
    if failed || todo.status == Status::Failed { todo.attempts.max(1) } else { todo.attempts + 1 }
}
