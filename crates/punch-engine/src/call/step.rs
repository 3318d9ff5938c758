//! The dialects' own algorithms on the list of a session, and what they answer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use punch_core::dialect::list::{ListItem, RowName, SessionList, match_rows};
use punch_core::dialect::phases::{PhaseOp, TaskPhase};
use punch_core::dialect::{cursor, phases, todowrite};
use punch_core::json::object;
use punch_core::view::checklist;
use punch_core::{Plan, Status, Todo, Uid, text};
use serde_json::{Value, json};

use super::list::ListCall;
use super::list_window::ListWindow;
use super::names::{RowMention, SessionNames};
use super::render::{self, capped};
use super::{CallError, ToolAnswer, ToolCaller};
use crate::SessionState;

/// What a step gave, until the plan has taken it over.
pub(super) enum DialectAnswer {
    Cursor(cursor::CursorAnswer),
    Phases(phases::PhasesAnswer),
    Todowrite,
}

/// What a call leads to.
pub(super) struct ListStep {
    /// The list to compare with.
    pub base: SessionList,
    pub stepped: DialectAnswer,
    /// The list that it leads to.
    pub list: SessionList,
    /// How the call named each row of that list.
    pub names: Vec<Option<String>>,
    /// Rows of the call that mean todos which someone else has removed.
    pub gone: Vec<String>,
}

/// Runs the dialect's own algorithm on the list of the session.
pub(super) fn step(
    call: &ListCall,
    window: &ListWindow,
    before: Option<&Plan>,
    state: &SessionState,
    caller: &ToolCaller<'_>,
    names: &SessionNames,
    now: i64,
) -> ListStep {
    let part = &window.part;
    let then = before.unwrap_or(part);
    let scope: BTreeSet<Uid> = state.scope.iter().copied().collect();
    // A name that this conversation was never shown does not mean what someone else is working on.
    let of_others = |t: &Todo| {
        t.status_at(now) == Status::InProgress && t.owner.is_some() && t.owner.as_deref() != caller.actor.owner()
    };
    // What someone else has in progress is not archived by being left out. What is claimed stays in the list: ops on it
    // are taken out later, with a warning.
    let busy = |t: &Todo| of_others(t) && !t.leased_by_other(caller.actor.owner(), now);
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| scope.contains(&uid) && !part.get(uid).is_some_and(&busy));
    match call {
        ListCall::Cursor(call) => {
            let (call, gone) = without_removed(call, state, part, names);
            let mention = |given: &cursor::CursorTodo| {
                let content = Some(given.content.as_str()).filter(|content| !content.is_empty());
                let mention = RowMention { name: &given.id, content, status: given.status };
                let todo = names.meant(part, mention, &of_others).or_else(|| added_for(state, part, content?))?;
                (!given.id.is_empty()).then(|| (todo.uid, given.id.clone()))
            };
            let meant: HashMap<Uid, String> = call.todos.iter().filter_map(mention).collect();
            let listed = |row: &cursor::CursorRow| {
                let own = if call.merge { row.uid.is_some_and(|uid| scope.contains(&uid)) } else { mine(row.uid) };
                own || row.uid.is_some_and(|uid| meant.contains_key(&uid))
            };
            let base: Vec<cursor::CursorRow> = cursor::project(then).into_iter().filter(listed).collect();
            let label = |id: &str| names.label(id);
            let named = base.iter().map(|row| {
                let labelled = labelled(row.clone(), &label);
                let name = row.uid.and_then(|uid| meant.get(&uid)).cloned();
                cursor::CursorRow { id: name.unwrap_or_else(|| labelled.id.clone()), ..labelled }
            });
            let named: Vec<cursor::CursorRow> = named.collect();
            let answer = cursor::step(&named, &call, &mut ids(now, part));
            let list = cursor::to_list(&in_plan(&answer.list, part, names));
            let given = answer.list.iter().map(|row| Some(row.id.clone())).collect();
            ListStep { base: cursor::to_list(&base), stepped: DialectAnswer::Cursor(answer), list, names: given, gone }
        }
        ListCall::Phases(ops) => {
            let mut list = phases::project(then);
            if before.is_some() || call.replaces() {
                for phase in &mut list {
                    phase.tasks.retain(|task| mine(task.uid));
                }
                list.retain(|phase| !phase.tasks.is_empty());
            } else {
                let mut named = elsewhere(part, &call.contents(), &scope, &of_others);
                let appended = ops.iter().filter_map(|op| match op {
                    PhaseOp::Append { items, .. } => items.as_deref(),
                    _ => None,
                });
                named.extend(appended.flatten().filter_map(|item| added_for(state, part, item)).map(|todo| todo.uid));
                let added_to = |phase: &TaskPhase| {
                    ops.iter().any(|op| matches!(op, PhaseOp::Append { phase: Some(name), .. } if *name == phase.name))
                };
                list.retain_mut(|phase| {
                    let empty = phase.tasks.is_empty();
                    phase.tasks.retain(|task| task.uid.is_some_and(|uid| scope.contains(&uid) || named.contains(&uid)));
                    !phase.tasks.is_empty() || (empty && window.whole) || added_to(phase)
                });
            }
            let answer = phases::step(&list, ops);
            let new = phases::to_list(&answer.phases);
            let names = vec![None; new.items.len()];
            let base = phases::to_list(&list);
            ListStep { base, stepped: DialectAnswer::Phases(answer), list: new, names, gone: Vec::new() }
        }
        ListCall::Todowrite(rows) => {
            let base: Vec<todowrite::TodoWriteRow> =
                todowrite::project(then).into_iter().filter(|r| mine(r.uid)).collect();
            let label = |row: &todowrite::TodoWriteRow| todowrite::TodoWriteRow {
                id: row.id.as_deref().map(|id| names.label(id)),
                ..row.clone()
            };
            let plain = |row: &todowrite::TodoWriteRow| row.id.as_deref().is_none_or(|id| names.is_own_label(id));
            let named: Cow<'_, [todowrite::TodoWriteRow]> = match base.iter().all(plain) {
                true => Cow::Borrowed(&base),
                false => base.iter().map(label).collect(),
            };
            let rows = todowrite::step(&named, rows.clone());
            let given = rows.iter().map(|row| row.id.clone()).collect();
            let (base, list) = (todowrite::to_list(base), todowrite::to_list(rows));
            ListStep { base, stepped: DialectAnswer::Todowrite, list, names: given, gone: Vec::new() }
        }
    }
}

/// Removes rows from a merge for todos of the list that someone else has removed, because the merge would create them
/// again.
fn without_removed(
    call: &cursor::CursorCall,
    state: &SessionState,
    part: &Plan,
    names: &SessionNames,
) -> (cursor::CursorCall, Vec<String>) {
    let mut call = call.clone();
    let removed = state.scope.iter().filter_map(|uid| part.get(*uid)).filter(|todo| !todo.is_live());
    let removed: HashMap<&str, &str> = removed.map(|todo| (todo.id.as_str(), todo.content.as_str())).collect();
    if !call.merge || removed.is_empty() {
        return (call, Vec::new());
    }
    let mut gone = Vec::new();
    call.todos.retain(|given| {
        let id = names.id(&given.id);
        let content = removed.get(id).filter(|_| part.by_id(id).is_none());
        gone.extend(content.map(|content| (*content).to_owned()));
        content.is_none()
    });
    (call, gone)
}

fn labelled(mut row: cursor::CursorRow, label: &dyn Fn(&str) -> String) -> cursor::CursorRow {
    row.id = label(&row.id);
    row.dependencies.iter_mut().for_each(|id| *id = label(id));
    row
}

/// Rows with the names of a conversation, as rows with ids of the plan.
fn in_plan(rows: &[cursor::CursorRow], part: &Plan, names: &SessionNames) -> Vec<cursor::CursorRow> {
    let new = rows.iter().filter(|row| row.uid.is_none()).map(|row| row.id.as_str());
    let mut ids = names.new_ids(part, new);
    for row in rows {
        if let Some(todo) = row.uid.and_then(|uid| part.get(uid)) {
            ids.insert(&row.id, todo.id.clone());
        }
    }
    let id = |name: &String| ids.get(name.as_str()).map_or_else(|| names.id(name).to_owned(), Clone::clone);
    let row = |row: &cursor::CursorRow| cursor::CursorRow {
        id: id(&row.id),
        dependencies: row.dependencies.iter().map(id).collect(),
        ..row.clone()
    };
    rows.iter().map(row).collect()
}

/// The open todo with this text that the session answers for outside its list, as it does for what the user added: a row
/// that says the same is that todo.
fn added_for<'p>(state: &SessionState, part: &'p Plan, content: &str) -> Option<&'p Todo> {
    let mut added = state.beyond.iter().filter_map(|uid| part.get(*uid));
    added.find(|todo| todo.is_live() && todo.status.is_open() && todo.content == content)
}

/// Open todos outside the list that ops name by their content, where the list has none that says so.
fn elsewhere(
    part: &Plan,
    contents: &BTreeSet<String>,
    scope: &BTreeSet<Uid>,
    is_busy: &dyn Fn(&Todo) -> bool,
) -> HashSet<Uid> {
    let said = |todo: &&Todo| contents.contains(&todo.content);
    let own: HashSet<String> =
        part.live().into_iter().filter(said).filter(|t| scope.contains(&t.uid)).map(|t| t.content.clone()).collect();
    let others = part.live().into_iter().filter(said).filter(|t| t.status.is_open() && !is_busy(t));
    others.filter(|todo| !own.contains(&todo.content)).map(|todo| todo.uid).collect()
}

/// A list that is sent again in a new conversation means the open todos it names, not copies of them.
pub(super) fn adopt(
    list: &mut SessionList,
    base: &mut SessionList,
    known: Vec<Todo>,
    caller: &ToolCaller<'_>,
    now: i64,
) {
    let taken: BTreeSet<Uid> = list.items.iter().chain(&base.items).filter_map(|item| item.uid).collect();
    let free = |t: &Todo| !taken.contains(&t.uid) && !t.leased_by_other(caller.actor.owner(), now);
    let mut plan = Plan::default();
    known.into_iter().filter(free).for_each(|todo| plan.put(todo));
    let found = todowrite::to_list(todowrite::project(&plan)).items;
    // By what they say alone: an id that was never shown is not a reference.
    let uids = {
        let rows: Vec<_> = list.items.iter().map(|item| RowName { id: None, ..item.name() }).collect();
        let known: Vec<_> = found.iter().map(|item| RowName { id: None, ..item.name() }).collect();
        match_rows(&rows, &known)
    };
    let by_uid: BTreeMap<Uid, &ListItem> = found.iter().filter_map(|item| Some((item.uid?, item))).collect();
    for (row, uid) in list.items.iter_mut().zip(uids) {
        if row.uid.is_none()
            && let Some(found) = uid.and_then(|uid| by_uid.get(&uid))
        {
            row.uid = found.uid;
            base.items.push((*found).clone());
        }
    }
}

/// Ids for todos that come without one, in the form of that dialect: unique because no live todo has them.
fn ids(now: i64, part: &Plan) -> impl FnMut() -> String + use<'_> {
    let mut n = part.row.next_uid;
    move || loop {
        n += 1;
        let tail = base36(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 18);
        let id = format!("todo-{now}-{tail:0>9}");
        if part.by_id(&id).is_none() {
            return id;
        }
    }
}

fn base36(mut n: u64) -> String {
    let mut out = Vec::new();
    while n > 0 && out.len() < 9 {
        out.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(n % 36) as usize]);
        n /= 36;
    }
    out.iter().rev().map(|b| char::from(*b)).collect()
}

/// The dialect's own answer, from the plan as it is now: what the list names, in the engine's order.
pub(super) fn answer(
    stepped: DialectAnswer,
    plan: &Plan,
    (shown, own): (&BTreeSet<Uid>, &BTreeSet<Uid>),
    names: &SessionNames,
    caller: &ToolCaller<'_>,
) -> ToolAnswer {
    let revision = plan.row.revision;
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| shown.contains(&uid));
    let wanted = |make: &dyn Fn() -> Value| if caller.structured { make() } else { Value::Null };
    match stepped {
        DialectAnswer::Cursor(mut answer) => {
            let is_own = |id: &str| plan.by_id(id).is_none_or(|todo| own.contains(&todo.uid));
            let label = |id: &str| names.label_beside(id, is_own(id));
            let rows = cursor::project(plan).into_iter().map(|row| labelled(row, &label));
            let (list, others): (Vec<_>, Vec<_>) = rows.partition(|row| mine(row.uid));
            answer.list = list;
            let done = others.into_iter().filter(|row| row.status == Status::Completed);
            answer.done_elsewhere = done.map(|row| row.id).collect();
            let structured = wanted(&|| cursor::answer(&answer, caller.mode));
            let text = capped(&with_rest(render::cursor(&answer, caller.mode), answer.list.len(), plan));
            ToolAnswer::new(text, structured, revision)
        }
        DialectAnswer::Phases(mut answer) => {
            let named: HashSet<String> = answer.phases.iter().map(|p| p.name.clone()).collect();
            let mut list = phases::project(plan);
            for phase in &mut list {
                phase.tasks.retain(|task| mine(task.uid));
            }
            // Empty phases belong to the list if the step left them in it.
            list.retain(|phase| !phase.tasks.is_empty() || named.contains(&phase.name));
            answer.phases = list;
            let structured = wanted(&|| {
                let completed = answer.completed.iter();
                let completed: Value = completed.map(|c| json!({"phase": c.phase, "content": c.content})).collect();
                let phases = phases::phases_to_json(&answer.phases);
                let storage = json!(if caller.embedding.in_memory { "memory" } else { "session" });
                let mut out = object([("phases", phases), ("storage", storage), ("completedTasks", completed)]);
                if !answer.errors.is_empty() {
                    out["errors"] = json!(answer.errors);
                }
                out
            });
            let one = |(op, message): (&usize, &String)| {
                let (op, message) = (Some(*op), message.clone());
                CallError { op, code: "invalid".to_owned(), message }
            };
            let errors = answer.failed.iter().zip(&answer.errors).map(one).collect();
            let tasks = answer.phases.iter().map(|phase| phase.tasks.len()).sum();
            let text = capped(&with_rest(summary(&answer.phases, &answer.errors), tasks, plan));
            ToolAnswer { is_error: answer.is_error, errors, ..ToolAnswer::new(text, structured, revision) }
        }
        DialectAnswer::Todowrite => {
            let rows: Vec<todowrite::TodoWriteRow> =
                todowrite::project(plan).into_iter().filter(|r| mine(r.uid)).collect();
            let structured =
                wanted(&|| object([("progress", todowrite::progress(&rows)), ("items", todowrite::items(&rows))]));
            let safe =
                rows.iter().map(|row| (row.status, text::neutral(&row.content), text::neutral(&row.active_form)));
            let shown: Vec<_> = safe.collect();
            let text =
                checklist::render(shown.iter().map(|(status, content, active)| (*status, &**content, &**active)));
            ToolAnswer::new(capped(&text), structured, revision)
        }
    }
}

/// The summary of the phases, with nothing in it that could pass for another line.
fn summary(phases: &[phases::TaskPhase], errors: &[String]) -> String {
    let mut shown = phases.to_vec();
    let neutral = |text: &mut String| *text = text::neutral(text).into_owned();
    for phase in &mut shown {
        neutral(&mut phase.name);
        for task in &mut phase.tasks {
            neutral(&mut task.content);
            // A note has separate lines.
            task.notes.iter_mut().for_each(|note| {
                *note = text::neutral_lines(note).into_owned();
            });
        }
    }
    let errors: Vec<String> = errors.iter().map(|error| text::neutral(error).into_owned()).collect();
    phases::summary(&shown, &errors)
}

/// Says how much of the plan is not in the list.
fn with_rest(text: String, listed: usize, plan: &Plan) -> String {
    match plan.row.counts.total().saturating_sub(listed as u64) {
        0 => text,
        1 => format!("{text}\n(1 more todo of the plan is not shown.)"),
        more => format!("{text}\n({more} more todos of the plan are not shown.)"),
    }
}
