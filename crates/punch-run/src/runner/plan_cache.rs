//! The plan in memory, and the ranking of its todos, which is cached until it becomes invalid.

use punch_core::schedule::{Ranking, ScheduleRequest};
use punch_core::{Plan, Todo, Uid};
use punch_engine::{Engine, EngineError, PlanRefresher, RefreshResult, TodoChanges};
use punch_store::PlanId;

/// A plan and the ranking of its todos.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    refresher: PlanRefresher,
    plan: Option<Plan>,
    ranking: Option<(ScheduleRequest, Ranking)>,
}

impl PlanCache {
    /// Returns the plan as of the last [`PlanCache::refresh`].
    pub const fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Brings the plan up to date if anything was written since the last time.
    pub fn refresh(&mut self, engine: &Engine, id: PlanId) -> Result<(), EngineError> {
        match self.refresher.refresh(engine, id, &mut self.plan)? {
            RefreshResult::Todos(TodoChanges { ranks: true, .. }) | RefreshResult::Everything => self.ranking = None,
            RefreshResult::Todos(_) | RefreshResult::Nothing => {}
        }
        Ok(())
    }

    /// Returns the best todo that can be started, does not conflict with the `busy` ones, and `fits`.
    pub fn best(&mut self, ask: &ScheduleRequest, busy: &[Uid], now: i64, fits: impl Fn(&Todo) -> bool) -> Option<Uid> {
        let plan = self.plan.as_ref()?;
        let known = self.ranking.take().filter(|(asked, ranking)| asked == ask && ranking.holds_at(now));
        let (_, ranking) = self.ranking.insert(known.unwrap_or_else(|| (*ask, Ranking::of(plan, ask, now))));
        ranking.startable(plan, busy, now).find(|uid| plan.get(*uid).is_some_and(&fits))
    }
}

#[cfg(test)]
mod tests;
