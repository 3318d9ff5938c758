//! Inbox items that follow from the plan alone: holds for the user, failed todos, and todos whose dependencies will
//! never be met.

use std::collections::{BTreeMap, BTreeSet};

use super::behind::{LiveTodos, WaitStart};
use super::{InboxFacts, InboxFinding, InboxKind, todos};
use crate::graph::NodeState;
use crate::runs_on::{may_take, needed_labels};
use crate::text::clip;
use crate::{Dep, HoldKind, Status, Todo, Uid, is_plan_check};

/// Names of todos in one text.
const NAMED: usize = 3;

/// Looks at every live todo, in list order.
pub(super) fn items<'p>(facts: &InboxFacts<'p>, live: &LiveTodos<'p>) -> Vec<InboxFinding> {
    let mut out = Vec::new();
    let mut stuck = Stuck::default();
    for todo in live.todos.iter().copied() {
        match todo.status_at(facts.now) {
            Status::Failed => out.push(failed(facts, todo)),
            Status::Pending => out.extend(held(facts, todo).or_else(|| untakable(facts, todo))),
            Status::InProgress | Status::Completed | Status::Cancelled => {}
        }
        out.extend(failing_check(facts, todo));
        if todo.status.is_open() && !todo.is_parked() && todo.derived.unmet > 0 {
            stuck.look(live, todo);
        }
    }
    out.extend(stuck.items(facts));
    out
}

fn failed(facts: &InboxFacts<'_>, todo: &Todo) -> InboxFinding {
    let error = todo.last_error.as_deref().map(str::trim).filter(|error| !error.is_empty());
    let since = todo.finished_at.unwrap_or(todo.updated_at);
    InboxFinding::about(InboxKind::Failed, todo, error.unwrap_or("failed"), since, facts.command("reopen", &[&todo.id]))
}

/// A check that failed and that no agent will act on by itself: that of the whole plan, or one that ended after its agent
/// had stopped.
fn failing_check(facts: &InboxFacts<'_>, todo: &Todo) -> Option<InboxFinding> {
    let check = todo.failed_check().filter(|_| todo.status.is_open())?;
    let after = match (is_plan_check(todo), facts.unread_failures.contains(&todo.uid)) {
        (true, _) => "",
        (false, true) => " after the agent had stopped",
        (false, false) => return None,
    };
    let command = todo.verify.as_ref().map(crate::Verify::line).unwrap_or_default();
    let what = format!("`{}` {}{after}", clip(&command, 100), check.outcome());
    Some(InboxFinding::about(InboxKind::Failed, todo, &what, check.at, facts.command("show", &[&todo.id])))
}

fn held(facts: &InboxFacts<'_>, todo: &Todo) -> Option<InboxFinding> {
    let hold = todo.hold_at(facts.now)?;
    let kind = match hold.kind {
        HoldKind::Human => InboxKind::Hold,
        HoldKind::Conflict => InboxKind::Conflict,
        HoldKind::External | HoldKind::Timer | HoldKind::Job | HoldKind::Other | HoldKind::Parked => return None,
    };
    let mut action = facts.command("unhold", &[&todo.id]);
    if hold.kind == HoldKind::Human {
        action.push_str(" --note '…'");
    }
    Some(InboxFinding::about(kind, todo, hold.reason.trim(), hold.at, action))
}

/// A todo that could start now, if a worker had its labels.
fn untakable(facts: &InboxFacts<'_>, todo: &Todo) -> Option<InboxFinding> {
    let fleet = facts.fleet.filter(|_| todo.is_ready(facts.now) && !todo.flags.reported)?;
    let needed: Vec<&str> = needed_labels(todo).collect();
    if needed.is_empty() || fleet.iter().any(|labels| may_take(labels, todo)) {
        return None;
    }
    let labels = needed.iter().map(|label| format!("`{}`", clip(label, 60))).collect::<Vec<_>>().join(" and ");
    let what = format!("no worker can take it: none has the label {labels}");
    Some(InboxFinding::about(InboxKind::Stuck, todo, &what, todo.updated_at, "punch worker list".to_owned()))
}

/// What open todos wait for in vain.
#[derive(Default)]
struct Stuck<'p> {
    /// Cancelled and parked todos that are waited for.
    blockers: BTreeSet<Uid>,
    /// Ids that no todo has, each with who waits for it.
    missing: BTreeMap<&'p str, Vec<&'p Todo>>,
    /// Edges that are part of a cycle.
    cycles: Vec<(&'p Todo, Uid)>,
}

impl<'p> Stuck<'p> {
    fn look(&mut self, live: &LiveTodos<'p>, todo: &'p Todo) {
        for dep in &todo.depends_on {
            let Some(target) = dep.target() else {
                if let Dep::Dangling(id) = dep {
                    self.missing.entry(id).or_default().push(todo);
                }
                continue;
            };
            let Some(state) = live.state(target) else { continue };
            match dep {
                // A failed todo is a separate item.
                _ if state.is_parked || state.is_cancelled && state.node == NodeState::Dropped => {
                    self.blockers.insert(target);
                }
                Dep::Suspended(to) if state.node.open() => self.cycles.push((todo, *to)),
                _ => {}
            }
        }
    }

    fn items(self, facts: &InboxFacts<'p>) -> Vec<InboxFinding> {
        let mut out = Vec::new();
        for todo in self.blockers.iter().filter_map(|uid| facts.plan.get(*uid)) {
            let (what, since, verb) = match todo.hold.as_ref().filter(|_| todo.is_parked()) {
                Some(hold) => (hold.words(), hold.at, "unhold"),
                None => ("cancelled".to_owned(), todo.finished_at.unwrap_or(todo.updated_at), "reopen"),
            };
            let what = format!("{what}, but other todos wait for it");
            out.push(InboxFinding::about(InboxKind::Stuck, todo, &what, since, facts.command(verb, &[&todo.id])));
        }
        for (id, waiting) in self.missing {
            let Some(first) = waiting.first() else { continue };
            let what = format!("waits for `{}`, which does not exist", clip(id, 60));
            let action = facts.command("edit", &[&first.id, "--drop-needs", id]);
            let since = waiting.iter().map(|todo| todo.updated_at).min().unwrap_or_default();
            let start = WaitStart::Waiting(waiting.iter().map(|todo| todo.uid).collect());
            out.push(InboxFinding { start, ..InboxFinding::about(InboxKind::Stuck, first, &what, since, action) });
        }
        out.extend(cycles(&self.cycles, facts));
        out
    }
}

/// One item for all todos that are in a cycle with each other.
fn cycles<'p>(edges: &[(&'p Todo, Uid)], facts: &InboxFacts<'p>) -> Vec<InboxFinding> {
    let mut leaders: BTreeMap<Uid, Uid> = BTreeMap::new();
    for (from, to) in edges {
        let (a, b) = (leader(&mut leaders, from.uid), leader(&mut leaders, *to));
        leaders.insert(a.max(b), a.min(b));
    }
    let mut members: BTreeMap<Uid, Vec<&Todo>> = BTreeMap::new();
    let all: Vec<Uid> = leaders.keys().copied().collect();
    for uid in all {
        let leader = leader(&mut leaders, uid);
        members.entry(leader).or_default().extend(facts.plan.get(uid));
    }
    let item = |mut members: Vec<&'p Todo>| {
        members.sort_by_key(|todo| (todo.position, todo.uid));
        let first = members.first()?;
        let (_, needed) = edges.iter().find(|(from, _)| from.uid == first.uid).or(edges.first())?;
        let needed = facts.plan.get(*needed)?;
        let others: Vec<_> = members.iter().skip(1).take(NAMED).map(|todo| clip(&todo.id, 60)).collect();
        let more = members.len().saturating_sub(1 + others.len()) as u64;
        let more = if more > 0 { format!(" and {} more", todos(more)) } else { String::new() };
        let what = match others.is_empty() {
            true => "waits for itself".to_owned(),
            false => format!("in a cycle with {}{more}", others.join(", ")),
        };
        let action = facts.command("edit", &[&first.id, "--drop-needs", &needed.id]);
        let since = members.iter().map(|todo| todo.updated_at).min().unwrap_or_default();
        let start = WaitStart::Waiting(members.iter().map(|todo| todo.uid).collect());
        Some(InboxFinding { start, ..InboxFinding::about(InboxKind::Stuck, first, &what, since, action) })
    };
    members.into_values().filter_map(item).collect()
}

/// Returns the todo that represents the cycle of another one. Shortens the path for the next query.
fn leader(leaders: &mut BTreeMap<Uid, Uid>, uid: Uid) -> Uid {
    let mut top = uid;
    while let Some(next) = leaders.get(&top).copied().filter(|next| *next != top) {
        top = next;
    }
    let mut at = uid;
    while let Some(next) = leaders.insert(at, top).filter(|next| *next != at && at != top) {
        at = next;
    }
    top
}
