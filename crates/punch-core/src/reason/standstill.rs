//! Explains why nothing, or nothing else, can be started: the todos that everything in a plan is ultimately waiting
//! for.

use std::collections::HashSet;

use super::unblock::Waiting;
use super::{CappedList, Cause, LISTED, PlanReader, WaitReason};
use crate::{Plan, Status, Todo};

/// One beginning of waiting, with what it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandstillRoot {
    /// The reason for the wait.
    pub reason: WaitReason,
    /// How many open todos wait for it, however indirectly.
    pub waiting: usize,
}

/// The answer of [`standstill`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standstill {
    /// Open todos that have content.
    pub open: usize,
    /// Ids of what can be started, best first.
    pub ready: CappedList<String>,
    /// Ids of what is in progress and waits for nothing.
    pub running: CappedList<String>,
    /// Ids of what failed for good, in list order.
    pub failed: CappedList<String>,
    /// In the order of [`Cause`]: users first, work in progress last.
    pub roots: CappedList<StandstillRoot>,
}

/// Looks at everything open in a whole plan.
pub fn standstill(plan: &Plan, now: i64) -> Standstill {
    let reader = PlanReader::new(plan, now);
    let mut open: Vec<&Todo> = plan.all().filter(|t| reader.is_open(t) && !t.is_parked()).collect();
    open.sort_by_cached_key(|t| reader.limits.order(t));
    let mut out = Standstill { open: open.iter().filter(|t| !super::is_empty(t)).count(), ..Standstill::default() };
    let mut failed: Vec<&Todo> = plan.all().filter(|t| t.is_live() && t.status == Status::Failed).collect();
    failed.sort_by_key(|t| (t.position, t.uid));
    failed.into_iter().for_each(|t| out.failed.push(t.id.clone()));
    let mut named: HashSet<(String, Cause)> = HashSet::new();
    let mut found: Vec<(&Todo, WaitReason)> = Vec::new();
    for todo in open {
        let running = todo.status_at(now) == Status::InProgress && todo.derived.unmet == 0;
        if running {
            out.running.push(todo.id.clone());
            found.push((todo, reader.standing(todo)));
            continue;
        }
        let reasons = match reader.waits_only_for_work(todo) {
            true => continue,
            false => reader.reasons(todo),
        };
        if reasons.is_empty() {
            out.ready.push(todo.id.clone());
        }
        for reason in reasons {
            let begins = match reason.cause {
                // What is parked begins something only where it is waited for.
                Cause::Dropped | Cause::Missing | Cause::Cycle | Cause::Parked => true,
                cause => cause.is_hold() && reason.is_own() || matches!(cause, Cause::Blank | Cause::Files),
            };
            if begins && named.insert((reason.id.clone(), reason.cause)) {
                found.push((reason.uid.and_then(|uid| plan.get(uid)).unwrap_or(todo), reason));
            }
        }
    }
    found.sort_by_key(|(todo, reason)| (reason.cause, todo.effective_priority(), todo.position, todo.uid));
    let mut counts = None;
    for (at, (_, reason)) in found.into_iter().enumerate() {
        let waiting = match reason.uid {
            // Walking the plan is worth it only for what will be shown.
            _ if at >= LISTED => 0,
            Some(uid) => counts.get_or_insert_with(|| Waiting::of(reader)).count(uid),
            None => plan.waiting_for_id(&reason.id).map_or(0, |uids| uids.len()),
        };
        out.roots.push(StandstillRoot { reason, waiting });
    }
    out
}

impl Standstill {
    /// In a word: `ready`, `running`, `waiting` or `closed`.
    pub const fn standing(&self) -> &'static str {
        match (self.open, self.ready.total, self.running.total) {
            (0, _, _) => "closed",
            (_, 1.., _) => "ready",
            (_, 0, 1..) => "running",
            (_, 0, 0) => "waiting",
        }
    }
}
