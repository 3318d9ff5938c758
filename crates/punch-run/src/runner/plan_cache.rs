//! The plan in memory. Starts, completions and other small changes are applied todo by todo; after anything else the
//! whole plan is read again. Otherwise a large plan would be read several times for each of its todos.

use std::collections::BTreeSet;

use punch_core::schedule::{Ask, Ranking};
use punch_core::{Dep, Event, Footprint, Kind, Patch, Plan, Status, Todo, Uid};
use punch_engine::{Engine, EngineError};
use punch_store::{PlanId, Snapshot, Which};

/// The whole plan is read again after this many events, or with this many todos in progress.
const FEW: usize = 500;

/// A plan, the stamp of the store before it was read, and the ranking of its todos.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    stamp: Option<u64>,
    plan: Option<Plan>,
    ranking: Option<(Ask, Ranking)>,
}

impl PlanCache {
    /// Returns the plan as of the last [`PlanCache::refresh`].
    pub const fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Brings the plan up to date if anything was written since the last time.
    pub fn refresh(&mut self, engine: &Engine, id: PlanId) -> Result<(), EngineError> {
        let stamp = engine.store().stamp()?;
        if self.plan.is_some() && stamp.is_some() && self.stamp == stamp {
            return Ok(());
        }
        let update = match &self.plan {
            Some(plan) => engine.read(id, |snapshot| incremental_update(plan, snapshot))?,
            None => None,
        };
        match (&mut self.plan, update) {
            (Some(plan), Some(update)) => {
                for todo in update.todos {
                    let held = plan.get(todo.uid).map(|known| &known.hold) != Some(&todo.hold);
                    // A hold changes the rank of the todos that depend on it.
                    if held {
                        self.ranking = None;
                    }
                    plan.put(todo);
                }
                plan.row = update.row;
            }
            _ => {
                self.plan = Some(engine.whole(id)?);
                self.ranking = None;
            }
        }
        self.stamp = stamp;
        Ok(())
    }

    /// Returns the best todo that can be started, does not conflict with the `busy` ones, and `fits`.
    pub fn best(&mut self, ask: &Ask, busy: &[Uid], now: i64, fits: impl Fn(&Todo) -> bool) -> Option<Uid> {
        let plan = self.plan.as_ref()?;
        let now = now.max(plan.row.last_time);
        let known = self.ranking.take().filter(|(asked, ranking)| asked == ask && ranking.holds_at(now));
        let (_, ranking) = self.ranking.insert(known.unwrap_or_else(|| (*ask, Ranking::of(plan, ask, now))));
        ranking.startable(plan, busy, now).find(|uid| plan.get(*uid).is_some_and(&fits))
    }
}

/// The rows that changed since the plan was read.
struct Update {
    row: punch_core::PlanRow,
    todos: Vec<Todo>,
}

/// Reads the changed rows; `None` if the whole plan has to be read.
fn incremental_update(plan: &Plan, snapshot: &dyn Snapshot) -> Result<Option<Update>, EngineError> {
    let (row, since) = (snapshot.row()?, plan.row.revision);
    let events = if row.revision > since { snapshot.events(since, FEW)? } else { Vec::new() };
    // Events were pruned, the store is an older copy, or there are too many events.
    let first = events.first().map_or(since, |event| event.revision.saturating_sub(1));
    let last = events.last().map_or(since, |event| event.revision);
    if first != since || last != row.revision {
        return Ok(None);
    }
    let Some(changed) = changed_todos(plan, &events) else { return Ok(None) };
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
    Ok(Some(Update { row, todos }))
}

/// Returns the todos whose rows these events change; `None` if the events alone do not say.
fn changed_todos(plan: &Plan, events: &[Event]) -> Option<BTreeSet<Uid>> {
    let mut out = BTreeSet::new();
    for event in events {
        let Patch::Todo(uid, _) = &event.patch else { return None };
        out.insert(*uid);
        let todo = plan.get(*uid)?;
        match event.kind {
            Kind::Flagged | Kind::Noted => {}
            // Starting a closed todo again changes the todos that depend on it.
            Kind::Started | Kind::Claimed | Kind::Held | Kind::Released | Kind::Demoted | Kind::LeaseExpired => {
                if !todo.status.is_open() {
                    return None;
                }
            }
            Kind::Completed => {
                let unmet = |dep: &Dep| {
                    dep.target().and_then(|to| plan.get(to)).is_none_or(|to| to.status != Status::Completed)
                };
                // Completing a todo with unmet dependencies changes more than its direct dependents.
                if !todo.status.is_open() || todo.depends_on.iter().any(unmet) {
                    return None;
                }
                out.extend(plan.dependents_of(*uid).ok()?);
            }
            Kind::Added
            | Kind::Edited
            | Kind::Moved
            | Kind::Rewired
            | Kind::Cancelled
            | Kind::Failed
            | Kind::Reopened
            | Kind::Removed
            | Kind::Phased
            | Kind::PolicySet
            | Kind::Reverted => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
