//! Explains what a todo is waiting for, and what to do about it first.

use std::collections::HashSet;

use super::walk::reach;
use super::{CappedList, Cause, PlanReader, WaitReason};
use crate::{Hold, Plan, ShownStatus, Status, Uid};

/// The answer of [`why`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The todo asked about.
    pub id: String,
    /// The status a reader sees.
    pub status: Status,
    /// The shown status of the todo.
    pub shown: ShownStatus,
    /// What holds the todo itself.
    pub hold: Option<Hold>,
    /// Reasons in the todo itself other than a hold: it has no content, or another owner works on it.
    pub own: Option<WaitReason>,
    /// Why schedules and runs leave it out although it can be started.
    pub left_out: Option<WaitReason>,
    /// What it waits for: its unmet dependencies in their order, and work in progress on its files.
    pub waits_for: CappedList<WaitReason>,
    /// Where the chains of waiting begin, nearest first: what must move before anything else can.
    pub roots: CappedList<WaitReason>,
}

/// Explains a todo of a whole plan; nothing if the plan does not have it.
pub fn why(plan: &Plan, uid: Uid, now: i64) -> Option<Explanation> {
    let reader = PlanReader::new(plan, now);
    let todo = plan.get(uid)?;
    let mut out = Explanation {
        id: todo.id.clone(),
        status: todo.status_at(now),
        shown: reader.shown(todo),
        hold: todo.hold_at(now).cloned(),
        own: None,
        left_out: None,
        waits_for: CappedList::default(),
        roots: CappedList::default(),
    };
    for reason in reader.reasons(todo) {
        match reason.cause {
            _ if !reason.is_own() => out.waits_for.push(reason),
            cause if cause.is_hold() => {}
            _ => out.own = Some(reason),
        }
    }
    out.left_out = reader.left_out(todo).filter(|_| out.shown == ShownStatus::Ready);
    let mut named = HashSet::new();
    reach(todo, |todo, next| {
        if !reader.is_open(todo) {
            return;
        }
        for reason in reader.reasons(todo).into_iter().filter(|reason| !reason.is_own()) {
            let target = reason.uid.and_then(|uid| plan.get(uid));
            // A hold is a separate cause, even if the todo also waits for other todos.
            let begins = reason.cause != Cause::Waiting || reason.about.is_some();
            next.extend(target.filter(|t| reader.is_open(t)));
            if begins && named.insert((reason.id.clone(), reason.cause)) {
                out.roots.push(reason);
            }
        }
    });
    Some(out)
}
