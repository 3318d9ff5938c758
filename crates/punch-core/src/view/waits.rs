//! Why a todo waits, in few words.

use super::row::tidy;
use crate::{CancelledDep, Dep, Plan, Status, Todo, text};

/// How many ids are named.
const NAMED: usize = 3;
/// How much of an id is shown, in characters.
const ID: usize = 40;

/// The reasons at `now`, most important first: `stalled`, `waits for …`, `on hold: …`, and the stored flags.
pub(super) fn reasons(plan: &Plan, todo: &Todo, now: i64) -> Vec<String> {
    let mut out = Vec::new();
    if todo.is_stalled(now) {
        out.push("stalled".to_owned());
    }
    if todo.is_blocked(now) || todo.is_stalled(now) {
        out.extend(waits_for(plan, todo));
    }
    if todo.status_at(now).is_open()
        && let Some(hold) = todo.hold_at(now)
    {
        out.push(if hold.reason.is_empty() {
            format!("on hold: {}", hold.kind.name())
        } else {
            format!("on hold: {}", text::clip(&tidy(&hold.reason), 120))
        });
    }
    for (set, name) in [
        (todo.flags.resume || todo.lease_expired(now), "resume"),
        (todo.flags.stale, "stale"),
        (todo.flags.stale_dependency, "stale dependency"),
        (todo.flags.reported, "reported, not verified yet"),
    ] {
        if set {
            out.push(name.to_owned());
        }
    }
    out
}

fn waits_for(plan: &Plan, todo: &Todo) -> Option<String> {
    let mut ids = todo.depends_on.iter().filter_map(|dep| unmet(plan, dep));
    let mut named: Vec<String> = ids.by_ref().take(NAMED).map(|id| text::clip(&tidy(id), ID).into_owned()).collect();
    match ids.count() {
        0 => {}
        more => named.push(format!("+{more} more")),
    }
    (!named.is_empty()).then(|| format!("waits for {}", named.join(", ")))
}

/// The id of a dependency that is not satisfied. One that is not loaded is not named.
fn unmet<'a>(plan: &'a Plan, dep: &'a Dep) -> Option<&'a str> {
    let uid = match dep {
        Dep::Dangling(id) => return Some(id),
        Dep::On(uid) | Dep::Suspended(uid) => *uid,
    };
    let target = plan.get(uid)?;
    let met = match target.status {
        Status::Completed => true,
        Status::Cancelled | Status::Failed => plan.row.policy.cancelled_dep == CancelledDep::Satisfy,
        Status::Pending | Status::InProgress => false,
    };
    (!met).then_some(target.id.as_str())
}
