//! The native dialect: ops in one batch, and claims.

use std::collections::HashSet;

use punch_core::dialect::native;
use punch_core::{Footprint, MissingEvidence, Op, Plan, Policy, Ref, Stop, Todo, Uid, apply};
use punch_store::{Durability, PlanId, Snapshot, Tx, Which};
use serde_json::{Value, json};

use super::render::{self, capped};
use super::{Answer, Caller, Dialect, pack, stated, unpack, worker};
use crate::submit::settle;
use crate::{Changed, Engine, EngineError, Role, SessionState, claim, link, offers, session};

impl Engine {
    pub(super) fn call_native(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Answer, EngineError> {
        // An op can carry evidence, so a completion that lacks it is refused rather than marked.
        let request = caller.request(|policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy });
        self.write_for(plan, &request, |tx, now| {
            if let Some(body) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(unpack(&body));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            let role = state.role_of(&caller.session, caller.role);
            let mut asked = Vec::new();
            let scope: HashSet<Uid> = state.scope.iter().copied().collect();
            let mut ask = |part: &Plan, _: i64| -> Result<Vec<Op>, Stop> {
                if replaces(arguments) {
                    part.need_whole()?;
                }
                asked = native::read(part, arguments, &caller.limits)?;
                // A replacement archives what is in the list of this conversation, not in those of others.
                asked.retain(|op| !matches!(op, Op::Rm(Ref::Uid(uid)) if !scope.contains(uid)));
                Ok(asked.clone())
            };
            let before = tx.row()?.revision;
            let changed = settle(tx, now, &request, &named(arguments), &mut ask)?;
            claim::keep_own(tx, changed.now, &request)?;
            if role != Role::Owner {
                allowed(&asked, &changed, &state)?;
            }
            render::within(changed.outcome.plan.counts.open(), caller.open_limit)?;
            let next = match role {
                Role::Owner => next(tx, caller, changed.now)?,
                Role::Worker | Role::None => worker::next(tx, caller, &state.scope, changed.now, 1)?,
            };
            send(tx, plan, caller, &next, changed.now)?;
            let answer = Answer {
                text: capped(&render::changed(&changed, &next)),
                structured: structured(&changed, &next),
                is_error: false,
                revision: changed.outcome.plan.revision,
            };
            stated::enter(tx, caller, &state, &stated::native(&changed.plan, arguments), now)?;
            bind(&mut state, &changed, before);
            link::note(&mut state, caller.server.as_ref(), &caller.session, arguments);
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &pack(&answer), now)?;
            }
            Ok(answer)
        })
    }

    pub(super) fn call_claim(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        arguments: &Value,
    ) -> Result<Answer, EngineError> {
        let mut request = caller.request(|policy| policy);
        request.detail = true;
        // A worker that was given todos claims among these, and always under its own name.
        let scope = self.read(plan, |snapshot| worker::scope(snapshot, caller))?.filter(|scope| !scope.is_empty());
        let named = arguments["owner"].as_str().filter(|_| scope.is_none() && caller.role.is_none());
        let owner = named.or(caller.actor.owner()).unwrap_or(caller.session.host());
        request.actor = request.actor.claiming_as(owner);
        let lease = arguments["leaseMs"].as_i64().filter(|ms| *ms > 0).unwrap_or_else(|| request.lease());
        let wanted = match (arguments["id"].as_str(), &scope) {
            (Some(id), _) => Some(self.resolve(plan, id)?),
            (None, Some(scope)) => {
                let now = self.now();
                let ready = self.read(plan, |snapshot| worker::next(snapshot, caller, scope, now, 2))?;
                match ready.first() {
                    Some(todo) => Some(todo.uid),
                    None => return self.nothing_to_claim(plan),
                }
            }
            (None, None) => None,
        };
        if let (Some(uid), Some(scope)) = (wanted, &scope)
            && !scope.contains(&uid)
        {
            return Err(EngineError::NotAllowed { what: "claim todos that were not assigned to it".into() });
        }
        if let (Some(uid), Some(_)) = (wanted, named) {
            // The name of someone else must not renew that one's claim.
            let part = self.slice(plan, &Footprint { todos: [uid].into(), ..Footprint::default() })?;
            if let Some(todo) = part.get(uid).filter(|todo| apply::is_protected(todo, &caller.actor, self.now())) {
                return Err(apply::leased(todo).into());
            }
        }
        let claimed = match wanted {
            Some(uid) => Some(self.claim(plan, &request, uid, lease)?),
            None => self.claim_next(plan, &request, lease)?,
        };
        let Some(claimed) = claimed else { return self.nothing_to_claim(plan) };
        // The session works on it from now on: it is bound, and a worker may report on what it claimed.
        self.write(plan, Durability::Relaxed, |tx, now| {
            let mut state = session::load(tx, &caller.session, plan)?;
            let revision = claimed.changed.outcome.plan.revision;
            bind(&mut state, &claimed.changed, revision.saturating_sub(1));
            Ok(session::store(tx, &caller.session, plan, &state, now)?)
        })?;
        let todo = claimed.changed.plan.get(claimed.uid);
        let (line, fence) = todo.map_or_else(Default::default, |t| (render::line(t, claimed.changed.now), t.fence));
        Ok(Answer {
            text: format!("{line}\nClaimed by {owner}, fence {fence}, for {} s.", lease / 1000),
            structured: json!({"id": todo.map(|t| &t.id), "fence": fence, "leaseUntil": todo.and_then(|t| t.lease_until)}),
            is_error: false,
            revision: claimed.changed.outcome.plan.revision,
        })
    }

    fn nothing_to_claim(&self, plan: PlanId) -> Result<Answer, EngineError> {
        let revision = self.read(plan, |snapshot| Ok(snapshot.row()?.revision))?;
        let structured = json!({"todo": null});
        Ok(Answer { text: "Nothing is ready to claim.".into(), structured, is_error: false, revision })
    }
}

/// What a call names, before it is read: asked for one by one, many names would end in the whole plan.
fn named(arguments: &Value) -> Footprint {
    let mut first = Footprint::default();
    for op in arguments["ops"].as_array().into_iter().flatten().filter_map(Value::as_object) {
        for value in ["id", "ids", "dependsOn", "blocks", "before", "after"].iter().filter_map(|key| op.get(*key)) {
            first.ids.extend(value.as_str().map(str::to_owned));
            first.ids.extend(value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        }
    }
    first
}

/// A replacement is matched against the whole plan.
fn replaces(arguments: &Value) -> bool {
    let ops = arguments["ops"].as_array();
    ops.is_some_and(|ops| ops.iter().any(|op| op["op"] == "replace"))
}

/// A worker reports on what was assigned to it, nothing else (rule 39).
fn allowed(ops: &[Op], changed: &Changed, state: &SessionState) -> Result<(), EngineError> {
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

/// What to work on now: the caller's own running todo, else the best ready one.
pub(super) fn next(snapshot: &dyn Snapshot, caller: &Caller<'_>, now: i64) -> Result<Vec<Todo>, EngineError> {
    if snapshot.row()?.counts.in_progress > 0 {
        let running = snapshot.list(Which::Running, None, usize::MAX)?;
        let mine = |t: &Todo| t.owner.as_deref() == caller.actor.owner() && !t.lease_expired(now);
        if let Some(own) = running.into_iter().find(mine) {
            return Ok(vec![own]);
        }
    }
    Ok(offers::best_free(snapshot, caller.actor.owner(), now)?.into_iter().collect())
}

/// Records that the caller was sent to what its answer calls next, unless it works on something already.
pub(super) fn send(
    tx: &mut dyn Tx,
    plan: PlanId,
    caller: &Caller<'_>,
    next: &[Todo],
    now: i64,
) -> Result<(), EngineError> {
    let Some(owner) = caller.actor.owner() else { return Ok(()) };
    let sent = next.first().filter(|todo| todo.is_ready(now)).map(|todo| todo.uid);
    Ok(offers::record(tx, plan, owner, sent, now)?)
}

pub(super) fn structured(changed: &Changed, next: &[Todo]) -> Value {
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
        "next": next.first().map(|t| &t.id),
    })
}

/// The session has written: it is bound, and what it made or touched is its own.
fn bind(state: &mut SessionState, changed: &Changed, before: u64) {
    state.wrote(before, changed.outcome.plan.revision);
    state.dialect = Some(Dialect::Native);
    let touched = changed.outcome.events.iter().filter_map(|event| match &event.patch {
        punch_core::Patch::Todo(uid, _) => Some(*uid),
        punch_core::Patch::Phases(_) | punch_core::Patch::Policy(_) => None,
    });
    for uid in touched {
        if !state.scope.contains(&uid) && state.scope.len() < 10_000 {
            state.scope.push(uid);
        }
    }
}
