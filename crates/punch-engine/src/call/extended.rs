//! The extended dialect: replace or patch, with sizes and groups.

use std::collections::{BTreeSet, HashMap, HashSet};

use punch_core::apply::spare;
use punch_core::dialect::extended;
use punch_core::reason::PlanReader;
use punch_core::view::TodoRow;
use punch_core::{Footprint, Keep, Op, Plan, Record, Ref, Status, Todo, Uid};
use punch_store::{Ahead, Snapshot, StoreError, Tx, Which};
use serde_json::{Value, json};

use super::list_window::WHOLE;
use super::names::{RowMention, SessionNames};
use super::render::{self, capped};
use super::worker::WorkerReport;
use super::{Dialect, Incoming, ToolAnswer, ToolCaller, native, reported_usage};
use crate::submit::apply_to_slice;
use crate::{Engine, EngineError, PlanChange, ReadyQuery, Role, SessionState, claim, ready};

impl Engine {
    pub(super) fn call_extended(
        &self,
        incoming: &Incoming<'_>,
        given: &extended::ExtendedCall,
    ) -> Result<ToolAnswer, EngineError> {
        let caller = incoming.caller;
        let ahead = Ahead { ready: true, running: true, ..Ahead::default() };
        let answer = self.write_call(incoming, &caller.request(extended::policy), ahead, |tx, now, state, role| {
            let answer = match role {
                Role::Owner => run(tx, now, incoming, given, state)?,
                Role::Worker | Role::None => WorkerReport::of_extended(given).write(tx, now, caller, state)?,
            };
            Ok(Some(answer))
        });
        answer.map(Option::unwrap_or_default)
    }
}

/// Runs the call of an owner inside its transaction.
fn run(
    tx: &mut dyn Tx,
    now: i64,
    incoming: &Incoming<'_>,
    given: &extended::ExtendedCall,
    state: &mut SessionState,
) -> Result<ToolAnswer, EngineError> {
    let caller = incoming.caller;
    let request = caller.request(extended::policy);
    let scope: HashSet<Uid> = state.scope.iter().copied().collect();
    let mut names = SessionNames::of(state);
    let part = part(tx, given, state, &names)?;
    let before = part.row.revision;
    let call = in_plan(given, &part, &mut names, caller, now);
    let whole = part.row.counts.total() <= WHOLE as u64;
    let mut ops = extended::ops(&part, &call)?;
    // Only what the session was shown can be archived by leaving it out (rule 8).
    ops.retain(|op| !matches!(op, Op::Rm(Ref::Uid(uid)) if !scope.contains(uid)));
    let (ops, spared) = spare(ops, &part, &caller.actor, now);
    let mut changed = apply_to_slice(tx, now, &request, part, &mut |_, _| Ok(ops.clone()))?;
    changed.outcome.warnings.extend(spared);
    claim::keep_own(tx, now, &request)?;
    render::within(changed.outcome.plan.counts.listed(), caller.open_limit)?;
    let touched: Vec<Uid> =
        call.todos.iter().filter_map(|given| changed.plan.by_id(&given.id)).map(|t| t.uid).collect();
    ready::load_reasons(tx, &mut changed.plan, &touched)?;
    let named: Vec<&Todo> = call.todos.iter().filter_map(|given| changed.plan.by_id(&given.id)).collect();
    let kept = if call.replace { Vec::new() } else { state.scope.clone() };
    let uids: BTreeSet<Uid> = kept.into_iter().chain(named.iter().map(|t| t.uid)).collect();
    if call.replace {
        names.retain(&named.iter().map(|t| t.id.as_str()).collect());
    }
    state.beside.retain(|uid| !uids.contains(uid));
    state.scope = uids.into_iter().collect();
    state.wrote(before, changed.outcome.plan.revision);
    state.dialect = Some(Dialect::Extended);
    let warnings = extended::group_warnings(&changed.plan, &call);
    let own: HashSet<Uid> = state.scope.iter().copied().collect();
    let label = |id: &str| {
        let is_own = changed.plan.by_id(id).is_none_or(|todo| own.contains(&todo.uid));
        names.label_beside(id, is_own)
    };
    let reader = PlanReader::of(&changed.plan, caller.actor.owner(), changed.now);
    let group = |t: &&Todo| {
        let row = TodoRow::labelled(reader, t, &label);
        format!("{} (P{}, group {})", row.model_line(), t.priority, t.derived.level)
    };
    let mut lines: Vec<String> = named.iter().map(group).collect();
    let ready: Vec<String> = match whole {
        true => extended::ready(&changed.plan, changed.now),
        // Of a large plan the first ones; they are the best.
        false => ReadyQuery::of_plan(changed.now).ready(tx, SHOWN + 1)?.into_iter().map(|t| t.fields.id).collect(),
    };
    let ready: Vec<String> = ready.iter().map(|id| label(id)).collect();
    lines.push(format!("Ready: {}", if ready.is_empty() { "none".to_owned() } else { shown(&ready, whole) }));
    lines.extend(warnings.iter().take(5).map(|w| format!("Note: {}", w.message())));
    lines.extend(render::reported(&changed.outcome, &label));
    let next = ReadyQuery::for_owner(caller.actor.owner(), None, changed.now).next(tx)?;
    native::send(tx, caller, next.as_ref(), changed.now)?;
    let own_next = |mut todo: Todo| {
        todo.fields.id = names.label_beside(&todo.id, own.contains(&todo.uid));
        todo
    };
    let next = next.map(own_next);
    lines.push(render::progress(&changed.plan.row, next.as_ref()));
    let query = ReadyQuery::for_owner(caller.actor.owner(), None, changed.now);
    lines.extend(render::parallel(tx, caller.settings, &query, |todo| label(&todo.id))?);
    let structured = match caller.structured {
        true => json!({
            "success": true,
            "todos": rows(&changed, &label),
            "ready": ready,
            "warnings": warnings.iter().map(punch_core::Warning::message).collect::<Vec<_>>(),
        }),
        false => Value::Null,
    };
    let answer = ToolAnswer::new(capped(&lines.join("\n")), structured, changed.outcome.plan.revision);
    reported_usage::record(tx, caller, state, &reported_usage::extended(&changed.plan, &call), now)?;
    names.store(state);
    Ok(answer)
}

/// The call with ids of the plan in place of the names of its conversation. Names for new todos are paired with the ids
/// that those get.
fn in_plan(
    call: &extended::ExtendedCall,
    part: &Plan,
    names: &mut SessionNames,
    caller: &ToolCaller<'_>,
    now: i64,
) -> extended::ExtendedCall {
    let busy = |t: &Todo| {
        t.status_at(now) == Status::InProgress && t.owner.is_some() && t.owner.as_deref() != caller.actor.owner()
    };
    let status = |wish: Option<extended::ExtendedStatus>| match wish {
        Some(extended::ExtendedStatus::Stored(status)) => Some(status),
        Some(extended::ExtendedStatus::Blocked) | None => None,
    };
    let (mut ids, mut new): (HashMap<&str, String>, Vec<&str>) = (HashMap::new(), Vec::new());
    for given in &call.todos {
        // A patch may name any todo, like an op; a list means its own.
        let content = given.title.as_deref().filter(|_| call.replace);
        let mention = RowMention { name: &given.id, content, status: status(given.status) };
        match names.meant(part, mention, &busy) {
            Some(todo) => drop(ids.insert(&given.id, todo.id.clone())),
            None => new.push(&given.id),
        }
    }
    ids.extend(names.new_ids(part, new.iter().copied()));
    for name in new {
        names.pair(name, &ids[name]);
    }
    let mut call = call.clone();
    let id = |name: &str| ids.get(name).map_or_else(|| names.id(name), String::as_str).to_owned();
    for given in &mut call.todos {
        given.id = id(&given.id);
        let depends_on = match &mut given.edit.depends_on {
            Keep::Set(edges) => edges.as_mut_slice(),
            Keep::Keep => &mut [],
        };
        for edge in depends_on.iter_mut().chain(&mut given.edit.blocks) {
            if let Ref::Id(name) = edge {
                *name = id(name);
            }
        }
    }
    call
}

/// Fields of a todo that only programs read, where it has them.
const DETAILS: [&str; 4] = ["description", "complexity", "estimatedTokens", "verificationCriteria"];

/// The plan, with the names of the conversation.
fn rows(changed: &PlanChange, label: &dyn Fn(&str) -> String) -> Value {
    let mut rows = extended::rows(&changed.plan, changed.now);
    for row in rows.as_array_mut().into_iter().flatten() {
        if let Some(todo) = row["id"].as_str().and_then(|id| changed.plan.by_id(id)) {
            let record = Record::of(&changed.plan, todo, changed.now).to_map();
            for key in DETAILS {
                if let Some(value) = record.get(key) {
                    row[key] = value.clone();
                }
            }
        }
        for key in ["id", "dependsOn", "blocks"] {
            match &mut row[key] {
                Value::String(id) => *id = label(id),
                Value::Array(ids) => ids.iter_mut().for_each(|id| {
                    if let Value::String(id) = id {
                        *id = label(id);
                    }
                }),
                _ => {}
            }
        }
    }
    rows
}

/// What the call is about: a small plan as a whole, of a large one what it names and what it could archive.
fn part(
    tx: &dyn Snapshot,
    call: &extended::ExtendedCall,
    state: &SessionState,
    names: &SessionNames,
) -> Result<Plan, StoreError> {
    let mut part = Plan::slice(tx.row()?);
    if part.row.counts.total() <= WHOLE as u64 {
        tx.list(Which::Live, None, usize::MAX)?.into_iter().for_each(|todo| part.put(todo));
    }
    let mut wanted = Footprint::default();
    wanted.ids.extend(call.todos.iter().map(|given| given.id.clone()));
    wanted.ids.extend(call.todos.iter().map(|given| names.id(&given.id).to_owned()));
    if call.replace {
        wanted.todos.extend(state.scope.iter().copied().filter(|uid| part.get(*uid).is_none()));
    }
    tx.load(&wanted, &mut part)?;
    Ok(part)
}

/// Ids that are named.
const SHOWN: usize = 20;

/// The first ids of a list, and how many more there are, if that is known.
fn shown(ids: &[String], counted: bool) -> String {
    let first: Vec<String> = ids.iter().take(SHOWN).map(|id| punch_core::text::neutral(id).into_owned()).collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more if counted => format!("{} and {more} more", first.join(", ")),
        _ => format!("{} and more", first.join(", ")),
    }
}

/// A todo as this dialect writes it: what it is about is its title.
pub(super) fn record(plan: &Plan, todo: &Todo, now: i64) -> Value {
    let map = Record::of(plan, todo, now).to_map();
    let named = |(key, value): (String, Value)| (if key == "content" { "title".to_owned() } else { key }, value);
    Value::Object(map.into_iter().map(named).collect())
}
