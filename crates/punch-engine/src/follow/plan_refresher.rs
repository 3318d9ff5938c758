//! Keeps a whole plan in memory up to date. Starts, completions and other small changes are applied todo by todo. After
//! other changes the touched todos are read and derived values are computed again. Reading the whole plan after every
//! write would cost a large plan too much.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use punch_core::{Dep, Event, EventKind, Footprint, Patch, Plan, PlanRow, Status, Todo, Uid, apply};
use punch_store::{PlanId, Snapshot, Which};

use super::{Cursor, Revisions, revisions_after};
use crate::{Engine, EngineError};

/// The whole plan is read again after this many events, or with this many todos in progress.
const FEW: usize = 500;

/// What a look at the store changed.
#[derive(Debug, PartialEq, Eq)]
pub enum RefreshResult {
    /// Nothing.
    Nothing,
    /// Some todos, or only the plan row.
    Todos(TodoChanges),
    /// Any todo may be another one.
    Everything,
}

/// Todos that changed between two looks at a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TodoChanges {
    /// Each of them as it was before; `None` if it is new.
    pub before: BTreeMap<Uid, Option<Arc<Todo>>>,
    /// The order in which todos should be started may be another one: edges, priorities or holds changed.
    pub ranks: bool,
}

/// Keeps a whole plan up to date that the caller holds.
#[derive(Debug, Default)]
pub struct PlanRefresher {
    /// The stamp of the store before the plan was read.
    stamp: Option<u64>,
}

impl PlanRefresher {
    /// Brings the plan up to date if anything was written since the last time; reads it if there is none yet. The plan
    /// must be one that this refresher has read.
    pub fn refresh(
        &mut self,
        engine: &Engine,
        id: PlanId,
        plan: &mut Option<Plan>,
    ) -> Result<RefreshResult, EngineError> {
        let stamp = engine.store().stamp(Some(id))?;
        if plan.is_some() && stamp.is_some() && self.stamp == stamp {
            return Ok(RefreshResult::Nothing);
        }
        let update = match plan {
            Some(plan) => engine.read(id, |snapshot| PlanUpdate::after(plan, snapshot))?,
            None => None,
        };
        let refreshed = match (&mut *plan, update) {
            (Some(plan), Some(update)) => update.apply(plan),
            _ => {
                *plan = Some(engine.whole(id)?);
                RefreshResult::Everything
            }
        };
        self.stamp = stamp;
        Ok(refreshed)
    }
}

/// The rows that changed since the plan was read.
struct PlanUpdate {
    row: PlanRow,
    todos: Vec<Todo>,
    /// Derived values of other todos may have changed too.
    derives: bool,
}

impl PlanUpdate {
    /// Reads the changed rows; `None` if the whole plan has to be read.
    fn after(plan: &Plan, snapshot: &dyn Snapshot) -> Result<Option<Self>, EngineError> {
        let cursor = Cursor::end_of(&plan.row, plan.row.last_time);
        let Revisions::Page(page) = revisions_after(snapshot, cursor, FEW)? else { return Ok(None) };
        if page.more {
            return Ok(None);
        }
        let row = page.touched.row.clone();
        let events = || page.revisions.iter().flat_map(|revision| &revision.events);
        let changed = changed_todos(plan, events());
        let derives = changed.is_none();
        let changed = changed.unwrap_or_else(|| events().filter_map(super::todo_of).collect());
        // Renewing a lease makes no event.
        let mut todos = snapshot.list(Which::Running, None, FEW)?;
        if todos.len() >= FEW {
            return Ok(None);
        }
        let listed: BTreeSet<Uid> = todos.iter().map(|todo| todo.uid).collect();
        let rest: BTreeSet<Uid> = changed.difference(&listed).copied().collect();
        if !rest.is_empty() {
            let mut part = Plan::slice(row.clone());
            snapshot.load(&Footprint { todos: rest.clone(), ..Footprint::default() }, &mut part)?;
            todos.extend(rest.iter().filter_map(|uid| part.get(*uid)).cloned());
        }
        Ok(Some(Self { row, todos, derives }))
    }

    fn apply(self, plan: &mut Plan) -> RefreshResult {
        let unchanged = plan.row == self.row;
        let same_policy = plan.row.policy == self.row.policy;
        let mut changed = TodoChanges { ranks: self.derives, ..TodoChanges::default() };
        for todo in self.todos {
            let known = plan.get(todo.uid);
            if known != Some(&todo) {
                changed.ranks |= known.map(|known| &known.hold) != Some(&todo.hold);
                changed.before.insert(todo.uid, plan.replace(todo));
            }
        }
        plan.row = self.row;
        if self.derives {
            for todo in apply::derive(plan) {
                changed.before.entry(todo.uid).or_insert(Some(todo));
            }
        }
        match changed.before.is_empty() && unchanged {
            // A policy decides what counts as met, for every todo.
            _ if !same_policy => RefreshResult::Everything,
            true => RefreshResult::Nothing,
            false => RefreshResult::Todos(changed),
        }
    }
}

/// Returns the todos whose rows these events change; `None` if the events alone do not say.
fn changed_todos<'a>(plan: &Plan, events: impl IntoIterator<Item = &'a Event>) -> Option<BTreeSet<Uid>> {
    let mut out = BTreeSet::new();
    for event in events {
        let Patch::Todo(uid, _) = &event.patch else { return None };
        out.insert(*uid);
        let todo = plan.get(*uid)?;
        match event.kind {
            EventKind::Flagged | EventKind::Noted => {}
            // Starting a closed todo again changes the todos that depend on it.
            EventKind::Started
            | EventKind::Claimed
            | EventKind::Held
            | EventKind::Released
            | EventKind::Demoted
            | EventKind::LeaseExpired => {
                if !todo.status.is_open() {
                    return None;
                }
            }
            EventKind::Completed => {
                let unmet = |dep: &Dep| {
                    dep.target().and_then(|to| plan.get(to)).is_none_or(|to| to.status != Status::Completed)
                };
                // Completing a todo with unmet dependencies changes more than its direct dependents.
                if !todo.status.is_open() || todo.depends_on.iter().any(unmet) {
                    return None;
                }
                out.extend(plan.dependents_of(*uid).ok()?);
            }
            _ => return None,
        }
    }
    Some(out)
}
