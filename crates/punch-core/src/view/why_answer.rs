//! Why a todo, or the whole plan, is not worked on: the answer of `punch why` as lines for users and as values for programs.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Layout, Plain, SpanRole, ViewLine};
use crate::reason::{self, Cause, Clash, MARKS, TodoConflict, WaitReason, WorkLimits};
use crate::text::{clip, neutral, shell};
use crate::{Plan, Status, Uid};

/// An explanation.
pub struct WhyAnswer {
    /// For users, one or more lines. The first mention of a todo says what it is about.
    pub lines: Vec<ViewLine>,
    /// The answer for programs.
    pub json: Value,
}

/// Explains one todo of a whole plan; `None` if there is no such todo.
pub fn of_todo(plan: &Plan, uid: Uid, layout: Layout) -> Option<WhyAnswer> {
    let now = layout.now;
    let todo = plan.get(uid)?;
    let (why, unblocks) = (reason::why(plan, uid, now)?, reason::unblocks(plan, uid, now)?);
    let conflicts = reason::conflicts_of(plan, uid, now);
    let mut lines = vec![why.with_marks()];
    if todo.status == Status::Failed {
        let error = todo.last_error.as_deref().map(|error| clip(&neutral(error), 200).into_owned());
        lines.extend(error.map(|error| format!("last error: {error}")));
        lines.push(format!("next: `punch reopen {}`", shell(&todo.id)));
    }
    if todo.status.is_open() {
        lines.push(unblocks.with_marks());
    }
    lines.push(conflicts.with_marks());
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
    let reasons = why.own.iter().chain(&why.waits_for.list).chain(&why.roots.list);
    let moments: Vec<i64> = reasons.filter_map(|reason| reason.until).collect();
    let lines = lines.into_iter().map(|line| layout.with_moments(line, moments.iter().copied())).collect();
    Some(WhyAnswer { lines: with_titles(plan, Some(uid), lines), json })
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
pub fn of_plan(plan: &Plan, layout: Layout) -> WhyAnswer {
    let now = layout.now;
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
    let moments = still.roots.list.iter().filter_map(|root| root.reason.until);
    let lines = vec![layout.with_moments(still.with_marks(), moments), conflicts.with_marks()];
    WhyAnswer { lines: with_titles(plan, None, lines), json }
}

/// Characters of a title.
const TITLE: usize = 40;

/// The lines with titles, but for the todo that was asked about.
fn with_titles(plan: &Plan, asked: Option<Uid>, mut lines: Vec<String>) -> Vec<ViewLine> {
    lines.retain(|line| !line.is_empty());
    let title = |id: &str| {
        let todo = plan.by_id(id.trim_matches('`')).filter(|todo| Some(todo.uid) != asked)?;
        Some(Plain::clipped(todo.content.trim(), TITLE).to_string()).filter(|title| !title.is_empty())
    };
    spans(&lines.join("\n"), &title)
}

/// The lines of a text with marks. `title` says what a todo is about; it is named where its id first occurs.
fn spans(text: &str, title: &dyn Fn(&str) -> Option<String>) -> Vec<ViewLine> {
    let mut named = HashSet::new();
    let mut line = |line: &str| {
        if let Some(command) = line.strip_prefix("next: ") {
            return ViewLine::default().with(SpanRole::Heading, "next: ").with(SpanRole::Command, command);
        }
        let mut out = ViewLine::default();
        let mut rest = line;
        while let Some((before, (id, after))) =
            rest.split_once(MARKS[0]).and_then(|(before, after)| Some((before, after.split_once(MARKS[1])?)))
        {
            out = out.with(SpanRole::Text, before).with(SpanRole::Id, id);
            if let Some(title) = title(id).filter(|_| named.insert(id.to_owned())) {
                out = out.with(SpanRole::Text, format!(" \"{title}\""));
            }
            rest = after;
        }
        out.with(SpanRole::Text, rest)
    };
    text.lines().map(&mut line).collect()
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
