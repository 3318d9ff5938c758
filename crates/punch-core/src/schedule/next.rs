//! The next todo to give out, for whoever holds the agents: the choice of the list order, made at this moment instead of
//! in a simulation.

use std::cmp::Reverse;

use super::jobs::{Jobs, OPTIONAL};
use super::{Ask, Order};
use crate::{Plan, Todo, Uid, files};

/// What can be started now, best first: ready, and touching no files of anything that runs. Optional todos come last and
/// are left out where the question says so. What is `reserved` counts as running.
pub fn startable(plan: &Plan, ask: &Ask, reserved: &[Uid], now: i64) -> Vec<Uid> {
    let jobs = Jobs::of(plan, ask, now);
    let paths = jobs.paths();
    let busy: Vec<&Todo> = plan
        .live()
        .into_iter()
        .filter(|todo| todo.status_at(now) == crate::Status::InProgress || reserved.contains(&todo.uid))
        .collect();
    let clash = |todo: &Todo| {
        let mut others = busy.iter().filter(|other| other.uid != todo.uid);
        others.any(|other| todo.files.iter().any(|a| other.files.iter().any(|b| files::overlap(a, b))))
    };
    let free = |todo: &Todo| todo.is_ready(now) && !reserved.contains(&todo.uid) && !clash(todo);
    let mut out: Vec<(u32, &Todo)> =
        (0..jobs.len()).map(|job| (job, jobs.todo(job))).filter(|(_, t)| free(t)).collect();
    out.sort_by_cached_key(|(job, todo)| {
        let (priority, path) = (todo.effective_priority(), Reverse(paths[*job as usize]));
        match ask.order {
            Order::Makespan => (u8::from(priority >= OPTIONAL), path, priority, *job),
            Order::List | Order::Level => (priority, path, 0, *job),
        }
    });
    out.into_iter().map(|(_, todo)| todo.uid).collect()
}
