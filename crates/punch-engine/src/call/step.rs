//! The dialects' own algorithms on the list of a session, and what they answer.

use std::collections::{BTreeMap, HashSet};

use punch_core::dialect::list::{Item, List, match_rows};
use punch_core::dialect::{cursor, phases, todowrite};
use punch_core::{Plan, Status, Todo, Uid};
use serde_json::{Value, json};

use super::list::Call;
use super::reach::Reach;
use super::render::{self, capped};
use super::{Answer, Caller};
use crate::SessionState;

/// What a step gave, until the plan has taken it over.
pub(super) enum Stepped {
    Cursor(cursor::Answer),
    Phases(phases::Answer),
    Todowrite,
}

/// Runs the dialect's own algorithm; answers what to compare with, the result, and the list it leads to.
pub(super) fn step(
    call: &Call,
    reach: &Reach,
    before: Option<&Plan>,
    state: &SessionState,
    caller: &Caller<'_>,
    now: i64,
) -> (List, Stepped, List) {
    let part = &reach.part;
    let then = before.unwrap_or(part);
    let scope: HashSet<Uid> = state.scope.iter().copied().collect();
    // What somebody else is working on is not archived by being left out.
    let busy = |uid: &Uid| {
        part.get(*uid).is_some_and(|t| {
            t.status_at(now) == Status::InProgress && t.owner.is_some() && t.owner.as_deref() != caller.actor.owner()
        })
    };
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| scope.contains(&uid) && !busy(&uid));
    match call {
        Call::Cursor(call) => {
            let named: HashSet<&str> = call.todos.iter().map(|t| t.id.as_str()).collect();
            let listed = |row: &cursor::Row| {
                if call.merge { reach.lists(row.uid) } else { mine(row.uid) || named.contains(row.id.as_str()) }
            };
            let base: Vec<cursor::Row> = cursor::project(then).into_iter().filter(listed).collect();
            let answer = cursor::step(&base, call, &mut ids(now, part));
            let list = cursor::to_list(&answer.list);
            (cursor::to_list(&base), Stepped::Cursor(answer), list)
        }
        Call::Phases(ops) => {
            let mut list = phases::project(then);
            if before.is_some() || call.replaces() {
                for phase in &mut list {
                    phase.tasks.retain(|task| mine(task.uid));
                }
                list.retain(|phase| !phase.tasks.is_empty());
            }
            let answer = phases::step(&list, ops);
            let new = phases::to_list(&answer.phases);
            (phases::to_list(&list), Stepped::Phases(answer), new)
        }
        Call::Todowrite(rows) => {
            let base: Vec<todowrite::Row> = todowrite::project(then).into_iter().filter(|r| mine(r.uid)).collect();
            let rows = todowrite::step(&base, rows.clone());
            (todowrite::to_list(&base), Stepped::Todowrite, todowrite::to_list(&rows))
        }
    }
}

/// A list that is sent again in a new conversation means the open todos it names, not copies of them.
pub(super) fn adopt(list: &mut List, base: &mut List, known: Vec<Todo>, caller: &Caller<'_>, now: i64) {
    let taken: HashSet<Uid> = list.items.iter().chain(&base.items).filter_map(|item| item.uid).collect();
    let free = |t: &Todo| !taken.contains(&t.uid) && !t.leased_by_other(caller.actor.owner(), now);
    let mut plan = Plan::default();
    known.into_iter().filter(free).for_each(|todo| plan.put(todo));
    let found = todowrite::to_list(&todowrite::project(&plan)).items;
    // By what they say alone: an id that nobody was shown is no reference.
    let bare = |item: &Item| Item { uid: item.uid, content: item.content.clone(), ..Item::default() };
    let known: Vec<Item> = found.iter().map(bare).collect();
    let mut items: Vec<Item> = list.items.iter().map(bare).collect();
    match_rows(&mut items, &known);
    let by_uid: BTreeMap<Uid, &Item> = found.iter().filter_map(|item| Some((item.uid?, item))).collect();
    for (row, item) in list.items.iter_mut().zip(items) {
        if row.uid.is_none()
            && let Some(found) = item.uid.and_then(|uid| by_uid.get(&uid))
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
pub(super) fn answer(stepped: Stepped, plan: &Plan, shown: &HashSet<Uid>, caller: &Caller<'_>) -> Answer {
    let revision = plan.row.revision;
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| shown.contains(&uid));
    let wanted = |make: &dyn Fn() -> Value| if caller.structured { make() } else { Value::Null };
    match stepped {
        Stepped::Cursor(mut answer) => {
            let (list, others): (Vec<_>, Vec<_>) = cursor::project(plan).into_iter().partition(|row| mine(row.uid));
            answer.list = list;
            let done = others.into_iter().filter(|row| row.status == Status::Completed);
            answer.done_elsewhere = done.map(|row| row.id).collect();
            let structured = wanted(&|| cursor::answer(&answer, caller.mode));
            let text = capped(&with_rest(render::cursor(&answer, caller.mode), answer.list.len(), plan));
            Answer { text, structured, is_error: false, revision }
        }
        Stepped::Phases(mut answer) => {
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
                json!({"phases": phases, "storage": "session", "completedTasks": completed})
            });
            let tasks = answer.phases.iter().map(|phase| phase.tasks.len()).sum();
            let text = capped(&with_rest(phases::summary(&answer.phases, &answer.errors), tasks, plan));
            Answer { text, structured, is_error: answer.is_error, revision }
        }
        Stepped::Todowrite => {
            let rows: Vec<todowrite::Row> = todowrite::project(plan).into_iter().filter(|r| mine(r.uid)).collect();
            let structured =
                wanted(&|| json!({"progress": todowrite::progress(&rows), "items": todowrite::items(&rows)}));
            Answer { text: capped(&todowrite::render(&rows)), structured, is_error: false, revision }
        }
    }
}

/// Says how much of a large plan is not in the list.
fn with_rest(text: String, listed: usize, plan: &Plan) -> String {
    let total = plan.row.counts.total();
    if total <= super::reach::WHOLE as u64 || total <= listed as u64 {
        return text;
    }
    format!("{text}\n({} more todos of the plan are not shown.)", total - listed as u64)
}
