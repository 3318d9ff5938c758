//! Why a todo, or the whole plan, is not worked on: the answer of `punch why` as lines for users and as values for programs.

use serde_json::{Value, json};

use crate::reason::{self, Cause, Clash, TodoConflict, WaitReason, WorkLimits};
use crate::text::{clip, neutral, shell};
use crate::{Plan, Status, Uid};

/// An explanation.
pub struct WhyAnswer {
    /// For users, one or more lines.
    pub text: String,
    /// The answer for programs.
    pub json: Value,
}

/// Explains one todo of a whole plan; `None` if there is no such todo.
pub fn of_todo(plan: &Plan, uid: Uid, now: i64) -> Option<WhyAnswer> {
    let todo = plan.get(uid)?;
    let (why, unblocks) = (reason::why(plan, uid, now)?, reason::unblocks(plan, uid, now)?);
    let conflicts = reason::conflicts_of(plan, uid, now);
    let mut lines = vec![why.text()];
    if todo.status == Status::Failed {
        let error = todo.last_error.as_deref().map(|error| clip(&neutral(error), 200).into_owned());
        lines.extend(error.map(|error| format!("last error: {error}")));
        lines.push(format!("next: `punch reopen {}`", shell(&todo.id)));
    }
    if todo.status.is_open() {
        lines.push(unblocks.text());
    }
    lines.push(conflicts.text());
    lines.extend(way_out(plan, &why));
    let json = json!({
        "standing": why.standing(),
        "shown": why.shown,
        "leftOut": why.left_out.as_ref().map(blocker),
        "waitsFor": blockers(&why.waits_for.list),
        "roots": blockers(&why.roots.list),
        "unblocks": unblocks.ready.list,
        "conflicts": pairs(&conflicts.pairs.list),
        "totals": {
            "waitsFor": why.waits_for.total,
            "roots": why.roots.total,
            "unblocks": unblocks.ready.total,
            "waiting": unblocks.waiting,
            "conflicts": conflicts.pairs.total,
        },
    });
    Some(WhyAnswer { text: joined(lines), json })
}

/// What to type about the first thing that will not move by itself; `None` if everything does, or the todo is closed.
fn way_out(plan: &Plan, why: &reason::Explanation) -> Option<String> {
    let command = |words: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|argument| shell(argument)).collect();
        format!("`punch {words} {}`", arguments.join(" "))
    };
    if why.own.as_ref().is_some_and(|own| own.cause == Cause::Blank) {
        return Some(format!("next: {}", command("edit", &[&why.id])));
    }
    if why.hold.is_some() && why.status == Status::Pending {
        return Some(format!("next: {}", command("unhold", &[&why.id])));
    }
    why.roots.list.iter().find_map(|root| {
        let without = || command("edit", &[&root.needed_by, "--drop-needs", &root.id]);
        Some(match root.cause {
            Cause::Dropped => format!("next: {}, or {}", command("reopen", &[&root.id]), without()),
            Cause::Missing | Cause::Cycle => format!("next: {}", without()),
            Cause::Person | Cause::Hold | Cause::Parked => format!("next: {}", command("unhold", &[&root.id])),
            Cause::Ready => {
                format!("next: {}", command("start", &[most_urgent(plan, &why.roots.list).unwrap_or(&root.id)]))
            }
            _ => return None,
        })
    })
}

/// The id of the most urgent of the todos that can be started, as `punch next` chooses.
fn most_urgent<'a>(plan: &Plan, roots: &'a [WaitReason]) -> Option<&'a str> {
    let ready = roots.iter().filter(|root| root.cause == Cause::Ready);
    let ready = ready.filter_map(|root| Some((plan.get(root.uid?)?, root)));
    ready.min_by_key(|(todo, _)| WorkLimits::USUAL.order(todo)).map(|(_, root)| root.id.as_str())
}

/// Explains why nothing, or nothing else, can be started in a whole plan.
pub fn of_plan(plan: &Plan, now: i64) -> WhyAnswer {
    let still = reason::standstill(plan, now);
    let conflicts = reason::conflicts(plan, now);
    let root = |root: &reason::StandstillRoot| {
        let mut out = blocker(&root.reason);
        out["waiting"] = json!(root.waiting);
        out
    };
    let json = json!({
        "todo": null,
        "standing": still.standing(),
        "waitsFor": [],
        "roots": still.roots.list.iter().map(root).collect::<Vec<_>>(),
        "unblocks": [],
        "conflicts": pairs(&conflicts.pairs.list),
        "open": still.open,
        "ready": still.ready.list,
        "running": still.running.list,
        "totals": {
            "roots": still.roots.total,
            "ready": still.ready.total,
            "running": still.running.total,
            "conflicts": conflicts.pairs.total,
        },
    });
    WhyAnswer { text: joined(vec![still.text(), conflicts.text()]), json }
}

fn joined(mut lines: Vec<String>) -> String {
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn blockers(list: &[WaitReason]) -> Vec<Value> {
    list.iter().map(blocker).collect()
}

fn blocker(blocker: &WaitReason) -> Value {
    json!({
        "id": blocker.id,
        "status": blocker.status.map(Status::name),
        "cause": blocker.cause.name(),
        "reason": blocker.about.as_ref().filter(|_| !matches!(blocker.cause, Cause::Dropped | Cause::Elsewhere)),
        "owner": blocker.about.as_ref().filter(|_| blocker.cause == Cause::Elsewhere),
        "until": blocker.until,
        "neededBy": blocker.needed_by,
    })
}

fn pairs(list: &[TodoConflict]) -> Vec<Value> {
    let pair = |conflict: &TodoConflict| {
        let over = if conflict.clash == Clash::Content { "content" } else { "files" };
        json!({"first": conflict.ids.0, "second": conflict.ids.1, "over": over, "text": conflict.text()})
    };
    list.iter().map(pair).collect()
}
