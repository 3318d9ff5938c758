//! The next todo for a runner to assign: the choice of the list policy, made now instead of in a simulation.

use std::cmp::Reverse;

use super::jobs::Jobs;
use super::{ScheduleOrder, ScheduleRequest};
use crate::reason::{is_busy, is_startable};
use crate::{Plan, Todo, Uid};

/// What can be worked on, best first, whether it can be started yet or not. It outlives starts and completions in the
/// order of dependencies, so a runner that assigns one todo after the other need not look at the whole plan each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    order: Vec<Uid>,
    /// Everything before it is closed.
    from: usize,
    /// When the next timer ends and the todo that it held becomes available.
    until: Option<i64>,
}

impl Ranking {
    /// Ranks a whole plan.
    pub fn of(plan: &Plan, ask: &ScheduleRequest, now: i64) -> Self {
        let jobs = Jobs::of(plan, ask, now);
        let paths = jobs.paths();
        let mut order: Vec<u32> = (0..jobs.len()).collect();
        order.sort_by_cached_key(|job| {
            let (priority, path) = (jobs.todo(*job).effective_priority(), Reverse(paths[*job as usize]));
            let oversize = jobs.is_oversize(*job);
            match ask.order {
                ScheduleOrder::Makespan => (oversize, u8::from(jobs.is_optional(*job)), path, priority, *job),
                ScheduleOrder::List | ScheduleOrder::Level => (oversize, priority, path, 0, *job),
            }
        });
        let timers = plan.all().filter(|todo| todo.is_live()).filter_map(|todo| todo.hold_at(now)?.until);
        let order = order.into_iter().map(|job| jobs.todo(job).uid).collect();
        Self { order, from: 0, until: timers.min() }
    }

    /// No timer has ended since it was made.
    pub fn holds_at(&self, now: i64) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// What can be started now, best first: ready, and touching no files of anything that runs. What is `reserved`
    /// counts as running. `plan` is what was ranked, with later starts and completions.
    pub fn startable(&mut self, plan: &Plan, reserved: &[Uid], now: i64) -> impl Iterator<Item = Uid> {
        let is_open = |uid: &Uid| plan.get(*uid).is_some_and(|todo| todo.status.is_open());
        while self.order.get(self.from).is_some_and(|uid| !is_open(uid)) {
            self.from += 1;
        }
        let running = plan.running().filter(move |todo| is_busy(todo, now));
        let reserving = reserved.iter().filter_map(|uid| plan.get(*uid)).filter(|todo| todo.is_live());
        let busy: Vec<&Todo> = running.chain(reserving).collect();
        let todos = self.order[self.from..].iter().filter_map(|uid| plan.get(*uid));
        todos
            .filter(move |todo| !reserved.contains(&todo.uid) && is_startable(todo, busy.iter().copied(), now))
            .map(|todo| todo.uid)
    }
}

/// What can be started now, best first: ready, and touching no files of anything that runs. Optional todos come last and
/// are left out where the question says so. What is `reserved` counts as running.
pub fn startable(plan: &Plan, ask: &ScheduleRequest, reserved: &[Uid], now: i64) -> Vec<Uid> {
    Ranking::of(plan, ask, now).startable(plan, reserved, now).collect()
}
