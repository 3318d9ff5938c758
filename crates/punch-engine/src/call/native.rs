//! The native dialect: ops in one batch.

use std::collections::HashSet;

use punch_core::dialect::native;
use punch_core::{ApplyStop, MissingEvidence, Op, Plan, Policy, Ref, Todo, Uid};
use punch_store::{Ahead, Tx};
use serde_json::{Value, json};

use super::render::{self, capped};
use super::{Dialect, Incoming, ToolAnswer, ToolCaller, reported_usage};
use crate::submit::apply_in_transaction;
use crate::writing_session::{REMEMBERED, touched};
use crate::{Engine, EngineError, PlanChange, ReadyQuery, Role, SessionState, claim, offers};

impl Engine {
    pub(super) fn call_native(
        &self,
        incoming: &Incoming<'_>,
        call: &native::NativeCall,
    ) -> Result<ToolAnswer, EngineError> {
        let caller = incoming.caller;
        // An op can carry evidence, so a completion that lacks it is refused rather than marked.
        let request = caller.request(|policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy });
        let first = call.footprint();
        let ahead = Ahead { dependents: true, ready: true, running: true, ..Ahead::load(&first) };
        let answer = self.write_call(incoming, &request, ahead, |tx, now, state, role| {
            let mut asked = Vec::new();
            let known: HashSet<Uid> = state.scope.iter().copied().collect();
            // In a run, the runner decides who works on what.
            let owner = caller.actor.owner().filter(|_| caller.actor.worker_id().is_none());
            let mut ask = |part: &Plan, now: i64| -> Result<Vec<Op>, ApplyStop> {
                if call.replaces() {
                    part.need_whole()?;
                }
                asked = call.ops(part);
                if let Some(owner) = owner {
                    native::give_back(&mut asked, part, owner, now);
                }
                // A replacement archives what is in the list of this conversation, not in those of others.
                asked.retain(|op| !matches!(op, Op::Rm(Ref::Uid(uid)) if !known.contains(uid)));
                Ok(asked.clone())
            };
            let before = tx.row()?.revision;
            let mut changed = apply_in_transaction(tx, now, &request, &first, &mut ask)?;
            claim::keep_own(tx, changed.now, &request)?;
            if role != Role::Owner {
                allowed(&asked, &changed, state)?;
            }
            render::within(changed.outcome.plan.counts.listed(), caller.open_limit)?;
            let scope = (role != Role::Owner).then_some(state.scope.as_slice());
            let next = ReadyQuery::for_owner(caller.actor.owner(), scope, changed.now).next(tx)?;
            send(tx, caller, next.as_ref(), changed.now)?;
            let mut named = named(&asked, &changed);
            // What this conversation has had in hand under an id of the caller's choice, the caller knows by that id.
            let rows = changed.outcome.rows.iter();
            named.extend(
                rows.filter(|todo| request.ids.is_none() && known.contains(&todo.uid) && !todo.has_made_id())
                    .map(|todo| todo.uid),
            );
            let mut text = render::changed(tx, &mut changed, caller.actor.owner(), next.as_ref(), &named)?;
            if role == Role::Owner {
                let query = ReadyQuery::for_owner(caller.actor.owner(), None, changed.now);
                let parallel = render::parallel(tx, caller.settings, &query, |todo| todo.id.clone())?;
                text.extend(parallel.map(|line| format!("\n{line}")));
            }
            let text = capped(&text);
            let answer = ToolAnswer::new(text, structured(&changed, next.as_ref()), changed.outcome.plan.revision);
            reported_usage::record(tx, caller, state, &reported_usage::native(&changed.plan, &call.usage), now)?;
            bind(state, &changed, before);
            Ok(Some(answer))
        });
        answer.map(Option::unwrap_or_default)
    }
}

/// The todos that a batch added under an id of the caller's choice.
fn named(ops: &[Op], changed: &PlanChange) -> HashSet<Uid> {
    let added = ops.iter().filter_map(|op| match op {
        Op::Add(add) => Some(add.id.is_some()),
        _ => None,
    });
    added.zip(&changed.outcome.added).filter(|(is_named, _)| *is_named).map(|(_, uid)| *uid).collect()
}

/// A worker reports on what was assigned to it, nothing else (rule 39).
fn allowed(ops: &[Op], changed: &PlanChange, state: &SessionState) -> Result<(), EngineError> {
    for op in ops {
        let target = match op {
            Op::Start(r) | Op::Fail(r, _) | Op::Note(r, _) | Op::Hold(r, _) | Op::Release(r) | Op::Reopen(r) => r,
            Op::Done { target, .. }
            | Op::Claim(target, _)
            | Op::Renew(target, _)
            | Op::Block(target)
            | Op::Unclaim(target) => target,
            Op::Add(_) => return Err(EngineError::NotAllowed { what: "add todos".into() }),
            Op::Edit(..)
            | Op::Move(..)
            | Op::Arrange(_)
            | Op::Phases(_)
            | Op::SetPolicy(_)
            | Op::Vouch { .. }
            | Op::Report { .. }
            | Op::HandOver(..)
            | Op::RecordCheck { .. }
            | Op::Refute { .. }
            | Op::Restore { .. } => {
                return Err(EngineError::NotAllowed { what: "change the plan".into() });
            }
            Op::Rm(_) | Op::Drop(_) => return Err(EngineError::NotAllowed { what: "remove todos".into() }),
            Op::Undo { .. } | Op::Redo => return Err(EngineError::NotAllowed { what: "undo".into() }),
        };
        let uid = match target {
            Ref::Uid(uid) => Some(*uid),
            Ref::Id(id) => changed.plan.by_id(id).map(|t| t.uid),
            Ref::New(_) => None,
        };
        if !uid.is_some_and(|uid| state.scope.contains(&uid)) {
            return Err(EngineError::NotAllowed { what: "report on todos that were not assigned to it".into() });
        }
    }
    Ok(())
}

/// Records that the caller was sent to what its answer calls next, unless it works on something already.
pub(super) fn send(tx: &mut dyn Tx, caller: &ToolCaller<'_>, next: Option<&Todo>, now: i64) -> Result<(), EngineError> {
    let Some(owner) = caller.actor.owner() else { return Ok(()) };
    let sent = next.filter(|todo| todo.is_ready(now)).map(|todo| todo.uid);
    Ok(offers::record(tx, owner, sent, now)?)
}

pub(super) fn structured(changed: &PlanChange, next: Option<&Todo>) -> Value {
    let plan = &changed.plan;
    let ids = |uids: &[punch_core::Uid]| -> Vec<String> {
        uids.iter().filter_map(|uid| plan.get(*uid)).take(100).map(|t| t.id.clone()).collect()
    };
    let progress = punch_core::view::Progress::of_counts(&plan.row.counts);
    json!({
        "revision": changed.outcome.plan.revision,
        "added": ids(&changed.outcome.added),
        "unblocked": ids(&changed.outcome.unblocked),
        "warnings": changed.outcome.warnings.iter().take(20).map(punch_core::Warning::message).collect::<Vec<_>>(),
        "completed": progress.completed,
        "total": progress.total,
        "next": next.map(|t| &t.id),
    })
}

/// The session has written: it is bound, and what it made or touched is its own.
pub(super) fn bind(state: &mut SessionState, changed: &PlanChange, before: u64) {
    state.wrote(before, changed.outcome.plan.revision);
    state.dialect = Some(Dialect::Native);
    for uid in touched(changed) {
        if !state.scope.contains(&uid) && state.scope.len() < REMEMBERED {
            state.scope.push(uid);
        }
    }
}
