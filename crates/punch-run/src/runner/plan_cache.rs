//! The plan as a runner knows it. Starts and completions, by whomever, are taken over todo by todo; after anything else
//! the plan is read again. A large plan would otherwise be read several times for each of its todos.

use std::collections::BTreeSet;

use punch_core::schedule::{Ask, Ranking};
use punch_core::{Dep, Event, Footprint, Kind, Patch, Plan, Status, Todo, Uid};
use punch_engine::{Engine, EngineError};
use punch_store::{PlanId, Snapshot, Which};

/// Events that are taken over one by one, and todos in progress; with more the plan is read again.
const FEW: usize = 500;

/// A plan, and the stamp that the store had before it was read.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    stamp: Option<u64>,
    plan: Option<Plan>,
    ranking: Option<(Ask, Ranking)>,
}

impl PlanCache {
    /// The plan at the last look.
    pub const fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Looks again, if anything was written since.
    pub fn look(&mut self, engine: &Engine, id: PlanId) -> Result<(), EngineError> {
        let stamp = engine.store().stamp()?;
        if self.plan.is_some() && stamp.is_some() && self.stamp == stamp {
            return Ok(());
        }
        let news = match &self.plan {
            Some(plan) => engine.read(id, |snapshot| news(plan, snapshot))?,
            None => None,
        };
        match (&mut self.plan, news) {
            (Some(plan), Some(news)) => {
                for todo in news.todos {
                    let held = plan.get(todo.uid).map(|known| &known.hold) != Some(&todo.hold);
                    // What waits behind a hold is ranked otherwise.
                    if held {
                        self.ranking = None;
                    }
                    plan.put(todo);
                }
                plan.row = news.row;
            }
            _ => {
                self.plan = Some(engine.whole(id)?);
                self.ranking = None;
            }
        }
        self.stamp = stamp;
        Ok(())
    }

    /// The first that can be started and that nobody minds.
    pub fn best(&mut self, ask: &Ask, busy: &[Uid], now: i64, fits: impl Fn(&Todo) -> bool) -> Option<Uid> {
        let plan = self.plan.as_ref()?;
        let now = now.max(plan.row.last_time);
        let known = self.ranking.take().filter(|(asked, ranking)| asked == ask && ranking.holds_at(now));
        let (_, ranking) = self.ranking.insert(known.unwrap_or_else(|| (*ask, Ranking::of(plan, ask, now))));
        ranking.startable(plan, busy, now).find(|uid| plan.get(*uid).is_some_and(&fits))
    }
}

/// What has changed since a plan was read.
struct News {
    row: punch_core::PlanRow,
    todos: Vec<Todo>,
}

/// `None` if it was more than starts and completions.
fn news(plan: &Plan, snapshot: &dyn Snapshot) -> Result<Option<News>, EngineError> {
    let (row, since) = (snapshot.row()?, plan.row.revision);
    let events = if row.revision > since { snapshot.events(since, FEW)? } else { Vec::new() };
    // Some may be pruned, the store may be an older copy, or there are too many.
    let first = events.first().map_or(since, |event| event.revision.saturating_sub(1));
    let last = events.last().map_or(since, |event| event.revision);
    if first != since || last != row.revision {
        return Ok(None);
    }
    let Some(touched) = touched(plan, &events) else { return Ok(None) };
    // Leases are lengthened without an event.
    let mut todos = snapshot.list(Which::Running, None, FEW)?;
    if todos.len() >= FEW {
        return Ok(None);
    }
    let listed: BTreeSet<Uid> = todos.iter().map(|todo| todo.uid).collect();
    let rest: BTreeSet<Uid> = touched.difference(&listed).copied().collect();
    if !rest.is_empty() {
        let mut part = Plan::slice(row.clone());
        snapshot.load(&Footprint { todos: rest.clone(), ..Footprint::default() }, &mut part)?;
        todos.extend(rest.iter().filter_map(|uid| part.get(*uid)).cloned());
    }
    Ok(Some(News { row, todos }))
}

/// The todos whose rows differ after these events; `None` if that cannot be told from the events.
fn touched(plan: &Plan, events: &[Event]) -> Option<BTreeSet<Uid>> {
    let mut out = BTreeSet::new();
    for event in events {
        let Patch::Todo(uid, _) = &event.patch else { return None };
        out.insert(*uid);
        let todo = plan.get(*uid)?;
        match event.kind {
            Kind::Flagged | Kind::Noted => {}
            // What was closed and is begun again changes more than itself.
            Kind::Started | Kind::Claimed | Kind::Held | Kind::Released | Kind::Demoted | Kind::LeaseExpired => {
                if !todo.status.is_open() {
                    return None;
                }
            }
            Kind::Completed => {
                let unmet = |dep: &Dep| {
                    dep.target().and_then(|to| plan.get(to)).is_none_or(|to| to.status != Status::Completed)
                };
                // What comes too early, or behind something that was given up, changes more than those who waited for it.
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
