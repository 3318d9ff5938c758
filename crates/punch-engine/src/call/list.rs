//! The list dialects on a shared plan (rules 7, 8, 9). A call affects only todos that its session wrote, was shown or
//! was assigned, and those that it names. A replacement is compared with what the session was last shown, so changes by
//! others stay, and only todos in its own list can be archived by leaving them out.

use std::collections::BTreeSet;

use punch_core::apply::spare;
use punch_core::dialect::list::{diff, reclaim};
use punch_core::dialect::{cursor, phases, todowrite};
use punch_core::{Policy, Refusal, Uid};
use punch_store::{Ahead, Tx};
use serde_json::Value;

use super::list_window::ListWindow;
use super::names::SessionNames;
use super::refused::in_place_of_id;
use super::repeated_rows::{self, RepeatedRow};
use super::step::{ListStep, adopt, answer, step};
use super::worker::WorkerReport;
use super::{Dialect, Incoming, ToolAnswer, ToolCaller, render};
use crate::submit::apply_to_slice;
use crate::{Engine, EngineError, Role, SessionState, claim, offers};

/// A call after reading, ready to run on a list.
pub(super) enum ListCall {
    Cursor(cursor::CursorCall),
    Phases(Vec<phases::PhaseOp>),
    Todowrite(Vec<todowrite::TodoWriteRow>),
}

impl ListCall {
    pub fn parse(dialect: Dialect, arguments: &Value) -> Result<Self, Refusal> {
        Ok(match dialect {
            Dialect::Cursor => Self::Cursor(cursor::read(arguments)?),
            Dialect::Phases => Self::Phases(phases::parse_params(&phases::coerce(arguments.clone()))?),
            _ => Self::Todowrite(todowrite::read(arguments).map_err(|reject| match reject {
                todowrite::TodoWriteRefusal::Invalid(refusal) => refusal,
                todowrite::TodoWriteRefusal::ManyInProgress => {
                    Refusal::Invalid { at: "todos".into(), what: todowrite::TodoWriteRefusal::MANY.into() }
                }
            })?),
        })
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Cursor(_) => Dialect::Cursor,
            Self::Phases(_) => Dialect::Phases,
            Self::Todowrite(_) => Dialect::Todowrite,
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
            Self::Cursor(call) => {
                let names = call.todos.iter().flat_map(|t| std::iter::once(&t.id).chain(&t.dependencies));
                names.filter(|id| !id.is_empty()).cloned().collect()
            }
            Self::Phases(_) => BTreeSet::new(),
            Self::Todowrite(rows) => rows.iter().filter_map(|row| row.id.clone()).collect(),
        }
    }

    /// Contents by which ops name todos.
    pub fn contents(&self) -> BTreeSet<String> {
        let Self::Phases(ops) = self else { return BTreeSet::new() };
        let mut out = BTreeSet::new();
        for op in ops {
            match op {
                phases::PhaseOp::Start { task } | phases::PhaseOp::Note { task, .. } => out.extend(task.clone()),
                phases::PhaseOp::Done(phases::PhasesTarget::Task(task))
                | phases::PhaseOp::Drop(phases::PhasesTarget::Task(task))
                | phases::PhaseOp::Rm(phases::PhasesTarget::Task(task)) => drop(out.insert(task.clone())),
                _ => {}
            }
        }
        out
    }

    pub fn preset(&self) -> fn(Policy) -> Policy {
        match self {
            Self::Cursor(_) => cursor::policy,
            Self::Phases(_) => phases::policy,
            Self::Todowrite(_) => todowrite::policy,
        }
    }
}

impl Engine {
    pub(super) fn call_list(&self, incoming: &Incoming<'_>, call: &ListCall) -> Result<ToolAnswer, EngineError> {
        let caller = incoming.caller;
        let ahead = Ahead { ready: true, running: true, ..Ahead::default() };
        self.write_call(incoming, &caller.request(call.preset()), ahead, |tx, now, state, role| {
            let answer = match role {
                Role::Owner => run(tx, now, call, caller, state)?,
                Role::Worker | Role::None => WorkerReport::of_list(call)?.write(tx, now, caller, state)?,
            };
            // A list names no next todo: where its author was sent before no longer counts.
            if let Some(owner) = caller.actor.owner() {
                offers::record(tx, owner, None, now)?;
            }
            Ok(Some(answer))
        })
        .map(Option::unwrap_or_default)
    }
}

/// One call inside its transaction.
fn run(
    tx: &mut dyn Tx,
    now: i64,
    call: &ListCall,
    caller: &ToolCaller<'_>,
    state: &mut SessionState,
) -> Result<ToolAnswer, EngineError> {
    let mut names = SessionNames::of(state);
    let mut window = ListWindow::of(tx, state, &names, caller, call)?;
    let seen = window.before(tx, state, call)?;
    let before = window.part.row.revision;
    let ListStep { mut base, stepped, mut list, names: given, mut gone } =
        step(call, &window, seen.as_ref().map(|seen| &seen.plan), state, caller, &names, now);
    let unknown: BTreeSet<String> =
        list.items.iter().filter(|item| item.uid.is_none()).map(|item| item.content.clone()).collect();
    if matches!(call, ListCall::Todowrite(_)) && !unknown.is_empty() {
        let found = tx.find_open_by_content(&unknown)?;
        found.iter().for_each(|todo| window.part.put(todo.clone()));
        adopt(&mut list, &mut base, found, caller, now);
    }
    reclaim(&mut base, &list, &window.part, now);
    let (ops, spared) = spare(diff(&base, &list, &window.part), &window.part, &caller.actor, now);
    let later = seen.as_ref().map(|seen| seen.later.as_slice()).unwrap_or_default();
    let rows = RepeatedRow::rows(later, &base, &list, &window.part);
    let part = std::mem::take(&mut window.part);
    let request = caller.request(call.preset());
    let mut changed = apply_to_slice(tx, now, &request, part, &mut |_, _| Ok(ops.clone()))?;
    let repeated = repeated_rows::notes(&rows, &changed.plan);
    changed.outcome.warnings.extend(spared);
    claim::keep_own(tx, now, &request)?;
    render::within(changed.outcome.plan.counts.listed(), caller.open_limit)?;
    // New rows have no handle yet; the adds of the batch are in their order.
    let mut added = changed.outcome.added.iter().copied();
    let mut listed: Vec<Uid> = Vec::with_capacity(list.items.len());
    for (item, name) in list.items.iter().zip(given) {
        let Some(todo) = item.uid.or_else(|| added.next()).and_then(|uid| changed.plan.get(uid)) else { continue };
        if !todo.is_live() {
            gone.push(item.content.clone());
            continue;
        }
        listed.push(todo.uid);
        if let Some(name) = name {
            names.pair(&name, &todo.id);
        }
    }
    let mut shown: BTreeSet<Uid> = listed.iter().copied().collect();
    if window.whole || call.replaces() {
        if call.replaces() {
            let ids = listed.iter().filter_map(|uid| changed.plan.get(*uid)).map(|todo| todo.id.as_str());
            names.retain(&ids.collect());
        }
        state.scope = listed;
    } else {
        let known: BTreeSet<Uid> = state.scope.iter().copied().collect();
        state.scope.extend(listed.into_iter().filter(|uid| !known.contains(uid)));
    }
    let scope: BTreeSet<Uid> = state.scope.iter().copied().collect();
    state.beyond.retain(|uid| !scope.contains(uid));
    state.beside.retain(|uid| !scope.contains(uid));
    if call.dialect() == Dialect::Cursor && !call.replaces() {
        let window = ListWindow::window(tx, now, &mut changed.plan)?;
        shown.extend(window);
    }
    let mut answer = answer(stepped, &changed.plan, (&shown, &scope), &names, caller);
    let removed = gone.iter().take(5).map(|content| {
        format!("Note: \"{}\" was removed from the plan by someone else and stays removed.", render::short(content))
    });
    if !answer.errors.is_empty() {
        let applied = match changed.outcome.events.is_empty() {
            true => "Nothing was changed.",
            false => "The rest of the call was applied: send only what failed again.",
        };
        // The errors are the first line.
        let (errors, rest) = answer.text.split_once('\n').unwrap_or((&answer.text, ""));
        answer.text = format!("{errors}\n{applied}\n{rest}").trim_end().to_owned();
    }
    let by_text = caller.words(call.dialect()).is_without_ids();
    let name = |id: &str| match changed.plan.by_id(id).filter(|_| by_text) {
        Some(todo) => in_place_of_id(&todo.content),
        None => names.label(id),
    };
    let notes: Vec<String> = removed.chain(render::reported(&changed.outcome, &name)).chain(repeated).collect();
    if !notes.is_empty() {
        answer.text = render::capped(&format!("{}\n{}", notes.join("\n"), answer.text));
    }
    names.store(state);
    state.wrote(before, changed.outcome.plan.revision);
    state.dialect = Some(call.dialect());
    Ok(answer)
}
