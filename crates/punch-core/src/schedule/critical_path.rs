//! The critical path: the chain of open todos that takes longest by their estimates. Shortening anything else cannot
//! make the plan end sooner.

use std::collections::HashMap;

use super::estimate;
use crate::{Dep, Plan, Todo, Uid};

/// Returns the critical path of a whole plan, in the order of work. It is empty if no open todo waits for another.
pub fn critical_path(plan: &Plan, calibration: f64) -> Vec<Uid> {
    let mut open: Vec<&Todo> = plan.all().filter(|todo| todo.is_live() && todo.status.is_open()).collect();
    // What a todo needs is of a lower level.
    open.sort_unstable_by_key(|todo| (todo.derived.level, todo.uid));
    let mut longest: HashMap<Uid, (u64, Option<Uid>)> = HashMap::with_capacity(open.len());
    for todo in &open {
        let needed = todo.depends_on.iter().filter_map(|dep| match dep {
            Dep::On(uid) => longest.get(uid).map(|(length, _)| (*length, *uid)),
            Dep::Suspended(_) | Dep::Dangling(_) => None,
        });
        let before = needed.max();
        let own = estimate(todo, calibration).tokens.max(1);
        let length = own.saturating_add(before.map_or(0, |(length, _)| length));
        longest.insert(todo.uid, (length, before.map(|(_, uid)| uid)));
    }
    let chains = longest.iter().filter(|(_, (_, before))| before.is_some());
    let mut at = chains.max_by_key(|(uid, (length, _))| (*length, **uid)).map(|(uid, _)| *uid);
    let mut path = Vec::new();
    while let Some(uid) = at {
        path.push(uid);
        at = longest.get(&uid).and_then(|(_, before)| *before);
    }
    path.reverse();
    path
}
