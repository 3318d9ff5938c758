//! What finishing a todo sets free.

use std::collections::HashSet;

use super::walk::reach;
use super::{Capped, Reader, is_empty};
use crate::{Plan, Uid};

/// The answer of [`unblocks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblocks {
    /// The todo asked about.
    pub id: String,
    /// Ids of what becomes ready at once, in list order.
    pub ready: Capped<String>,
    /// How many open todos wait for it, however indirectly.
    pub waiting: usize,
}

/// What becomes ready if the todo is completed now; nothing if the plan does not have it.
pub fn unblocks(plan: &Plan, uid: Uid, now: i64) -> Option<Unblocks> {
    let look = Reader::new(plan, now);
    let todo = plan.get(uid)?;
    let mut out = Unblocks { id: todo.id.clone(), ready: Capped::default(), waiting: 0 };
    if !todo.is_live() || look.state(todo).satisfied() {
        return Some(out);
    }
    let only_this = |d: &_| look.unmet(d).all(|(dep, _)| dep.target() == Some(uid));
    let mut ready: Vec<_> = look
        .dependents(uid)
        .filter(|d| d.uid != uid && look.state(d).eligible() && !is_empty(d) && only_this(d))
        .collect();
    if !ready.is_empty() {
        // It cannot be finished before what it waits for, so it sets nothing of that free.
        let mut before = HashSet::new();
        reach(todo, |todo, next| {
            before.insert(todo.uid);
            next.extend(look.unmet(todo).filter_map(|(_, target)| target));
        });
        ready.retain(|d| !before.contains(&d.uid));
    }
    ready.sort_by_key(|d| (d.position, d.uid));
    ready.into_iter().for_each(|d| out.ready.push(d.id.clone()));
    reach(todo, |todo, next| {
        out.waiting += usize::from(todo.uid != uid && look.state(todo).open());
        next.extend(look.dependents(todo.uid).filter(|d| !look.state(d).satisfied()));
    });
    Some(out)
}
