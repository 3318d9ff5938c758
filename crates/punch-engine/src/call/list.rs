//! The list dialects on a shared plan (rules 7, 8, 9). A replacement is compared with what the session was last shown,
//! so what others changed meanwhile stays, and only what it was shown can be archived by leaving it out.

use std::collections::{BTreeSet, HashSet};

use punch_core::apply::spare;
use punch_core::dialect::list::{diff, reclaim};
use punch_core::dialect::{cursor, phases, todowrite};
use punch_core::{Policy, Refusal, Uid};
use punch_store::{PlanId, Tx};
use serde_json::Value;

use super::reach::Reach;
use super::step::{adopt, answer, step};
use super::{Answer, Caller, Surface, pack, render, unpack};
use crate::submit::settle_on;
use crate::{Engine, EngineError, Role, SessionState, claim, link, offers, session};

/// A call after reading, ready to run on a list.
pub(super) enum Call {
    Cursor(cursor::Call),
    Phases(Vec<phases::PhaseOp>),
    Todowrite(Vec<todowrite::Row>),
}

impl Call {
    fn read(surface: Surface, arguments: &Value) -> Result<Self, EngineError> {
        Ok(match surface {
            Surface::Cursor => Self::Cursor(cursor::read(arguments)?),
            Surface::Phases => Self::Phases(phases::parse_params(&phases::coerce(arguments.clone()))?),
            _ => Self::Todowrite(todowrite::read(arguments).map_err(|reject| match reject {
                todowrite::Reject::Invalid(refusal) => refusal,
                todowrite::Reject::ManyInProgress => {
                    Refusal::Invalid { at: "todos".into(), what: todowrite::Reject::MANY.into() }
                }
            })?),
        })
    }

    pub fn surface(&self) -> Surface {
        match self {
            Self::Cursor(_) => Surface::Cursor,
            Self::Phases(_) => Surface::Phases,
            Self::Todowrite(_) => Surface::Todowrite,
        }
    }

    /// Leaving a todo out removes it.
    pub fn replaces(&self) -> bool {
        match self {
            Self::Cursor(call) => !call.merge,
            Self::Phases(ops) => ops.iter().any(|op| matches!(op, phases::PhaseOp::Init { .. })),
            Self::Todowrite(_) => true,
        }
    }

    /// Ids in the payload.
    pub fn ids(&self) -> BTreeSet<String> {
        match self {
            Self::Cursor(call) => call.todos.iter().map(|t| t.id.clone()).filter(|id| !id.is_empty()).collect(),
            Self::Phases(_) => BTreeSet::new(),
            Self::Todowrite(rows) => rows.iter().filter_map(|row| row.id.clone()).collect(),
        }
    }

    /// Contents by which ops name todos, or that must not be there twice.
    pub fn contents(&self) -> BTreeSet<String> {
        let Self::Phases(ops) = self else { return BTreeSet::new() };
        let mut out = BTreeSet::new();
        for op in ops {
            match op {
                phases::PhaseOp::Start { task } | phases::PhaseOp::Note { task, .. } => out.extend(task.clone()),
                phases::PhaseOp::Done(phases::Target::Task(task))
                | phases::PhaseOp::Drop(phases::Target::Task(task))
                | phases::PhaseOp::Rm(phases::Target::Task(task)) => drop(out.insert(task.clone())),
                phases::PhaseOp::Append { items, .. } => out.extend(items.iter().flatten().cloned()),
                _ => {}
            }
        }
        out
    }

    fn preset(&self) -> fn(Policy) -> Policy {
        match self {
            Self::Cursor(_) => cursor::policy,
            Self::Phases(_) => phases::policy,
            Self::Todowrite(_) => todowrite::policy,
        }
    }
}

impl Engine {
    pub(super) fn call_list(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        surface: Surface,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Answer, EngineError> {
        let call = Call::read(surface, arguments)?;
        self.write_for(plan, &caller.request(call.preset()), |tx, now| {
            if let Some(body) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(unpack(&body));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            if state.role_of(&caller.session, caller.role) != Role::Owner {
                return Err(EngineError::NotAllowed { what: "write the whole list".into() });
            }
            let answer = run(tx, now, &call, caller, &mut state)?;
            // A list names no next todo: where its author was sent before no longer counts.
            if let Some(owner) = caller.actor.owner() {
                offers::record(tx, plan, owner, None, now)?;
            }
            link::note(&mut state, &caller.session, arguments);
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &pack(&answer), now)?;
            }
            Ok(answer)
        })
    }
}

/// One call inside its transaction.
fn run(
    tx: &mut dyn Tx,
    now: i64,
    call: &Call,
    caller: &Caller<'_>,
    state: &mut SessionState,
) -> Result<Answer, EngineError> {
    let mut reach = Reach::of(tx, state, caller, call)?;
    let now = now.max(reach.part.row.last_time);
    let before = reach.before(tx, state, call)?;
    let (mut base, stepped, mut list) = step(call, &reach, before.as_ref(), state, caller, now);
    if let Call::Todowrite(_) = call {
        let unknown = list.items.iter().filter(|item| item.uid.is_none()).map(|item| item.content.clone());
        let said = tx.saying(&unknown.collect())?;
        said.iter().for_each(|todo| reach.part.put(todo.clone()));
        adopt(&mut list, &mut base, said, caller, now);
    }
    reclaim(&mut base, &list, &reach.part, now);
    let (ops, spared) = spare(diff(&base, &list, &reach.part), &reach.part, &caller.actor, now);
    let part = std::mem::take(&mut reach.part);
    let request = caller.request(call.preset());
    let mut changed = settle_on(tx, now, &request, part, &mut |_, _| Ok(ops.clone()))?;
    changed.outcome.warnings.extend(spared);
    claim::keep_own(tx, now, &request)?;
    render::within(changed.outcome.plan.counts.open(), caller.open_limit)?;
    // New rows have no handle yet; the adds of the batch are in their order.
    let mut added = changed.outcome.added.iter().copied();
    let listed: Vec<Uid> = list.items.iter().filter_map(|item| item.uid.or_else(|| added.next())).collect();
    let mut shown: HashSet<Uid> = listed.iter().copied().collect();
    if reach.whole || call.replaces() {
        state.scope = listed;
    } else {
        let known: HashSet<Uid> = state.scope.iter().copied().collect();
        state.scope.extend(listed.into_iter().filter(|uid| !known.contains(uid)));
        if call.surface() == Surface::Cursor {
            reach.show_more(tx, now, &mut changed.plan)?;
            shown.extend(&reach.listed);
        }
    }
    let mut answer = answer(stepped, &changed.plan, &shown, caller);
    let notes = render::reported(&changed.outcome);
    if !notes.is_empty() {
        answer.text = render::capped(&format!("{}\n{}", notes.join("\n"), answer.text));
    }
    state.shown = changed.outcome.plan.revision;
    state.bound = true;
    state.dialect = Some(call.surface().name().to_owned());
    Ok(answer)
}
