//! The tokens that a todo took, as its agent reports them (`actualTokens`). A report is the total of the attempt, so
//! repeating it adds nothing. It counts only if hooks or a runner do not measure, because a measurement is better than
//! what a model believes.

use punch_core::dialect::extended::{self, ExtendedStatus};
use punch_core::dialect::native;
use punch_core::{Actor, Plan, Status, Todo, Uid};
use punch_store::{LedgerEntry, PlanId, SessionKey, StoreError, Tx};

use super::ToolCaller;
use crate::host::share;
use crate::{EngineError, PlanChange, SessionState, WriteRequest, session};

/// The tokens that one attempt at a todo took, as its agent reports them.
pub(super) struct ReportedUsage {
    uid: Uid,
    attempt: u32,
    tokens: u64,
}

/// Returns what the ops `done` and `fail` of a native call report. Several todos of one op share evenly.
pub(super) fn native(plan: &Plan, usage: &[native::ReportedTokens]) -> Vec<ReportedUsage> {
    let mut out = Vec::new();
    for native::ReportedTokens { ids, failed, tokens } in usage {
        let todos = ids.iter().enumerate().filter_map(|(n, id)| Some((n, plan.by_id(id)?)));
        out.extend(todos.map(|(n, todo)| ReportedUsage {
            uid: todo.uid,
            attempt: attempt(todo, *failed),
            tokens: share(*tokens, n, ids.len()),
        }));
    }
    out
}

/// Returns what the todos of an extended call report.
pub(super) fn extended(plan: &Plan, call: &extended::ExtendedCall) -> Vec<ReportedUsage> {
    let one = |given: &extended::ExtendedTodo| {
        let (todo, tokens) = (plan.by_id(&given.id)?, given.actual?);
        let attempt = attempt(todo, given.status == Some(ExtendedStatus::Stored(Status::Failed)));
        Some(ReportedUsage { uid: todo.uid, attempt, tokens })
    };
    call.todos.iter().filter_map(one).collect()
}

/// Records what a tool call reports.
pub(super) fn record(
    tx: &mut dyn Tx,
    caller: &ToolCaller<'_>,
    state: &SessionState,
    reported: &[ReportedUsage],
    now: i64,
) -> Result<(), StoreError> {
    add(tx, &caller.actor, Some(&caller.session), state, reported, now)
}

/// Records what a write without a tool call reports.
pub(crate) fn record_request(
    tx: &mut dyn Tx,
    plan: PlanId,
    request: &WriteRequest<'_>,
    changed: &PlanChange,
) -> Result<(), EngineError> {
    if request.usage.is_empty() {
        return Ok(());
    }
    let key = request.session.map(|session| session.key);
    let state = key.map_or_else(|| Ok(SessionState::default()), |key| session::load(tx, key, plan))?;
    let reported = native(&changed.plan, request.usage);
    Ok(add(tx, &request.actor, key, &state, &reported, changed.now)?)
}

/// Adds reported usage to the ledger, if it exceeds what is already there.
fn add(
    tx: &mut dyn Tx,
    actor: &Actor,
    session: Option<&SessionKey>,
    state: &SessionState,
    reported: &[ReportedUsage],
    now: i64,
) -> Result<(), StoreError> {
    if actor.worker_id().is_some() {
        return Ok(());
    }
    for &ReportedUsage { uid, attempt, tokens } in reported.iter().filter(|one| !state.meter.measures(one.uid)) {
        let known = tx.usage(Some(uid))?.into_iter().find(|usage| usage.attempt == attempt);
        let more = tokens.saturating_sub(known.map_or(0, |usage| usage.tokens));
        if more > 0 {
            tx.spend(&LedgerEntry {
                uid,
                attempt,
                run: None,
                agent: actor.by().to_owned(),
                subagent: session.and_then(SessionKey::subagent).map(str::to_owned),
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

/// Returns the attempt that has just ended, or is under way. A failed attempt is counted already.
fn attempt(todo: &Todo, failed: bool) -> u32 {
    if failed || todo.status == Status::Failed { todo.attempts.max(1) } else { todo.attempts + 1 }
}
