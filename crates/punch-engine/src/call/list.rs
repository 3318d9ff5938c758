//! The list dialects on a shared plan (rules 7, 8, 9). A replacement is compared with what the session was last shown,
//! so what others changed meanwhile stays, and only what it was shown can be archived by leaving it out.

use std::collections::{BTreeMap, HashSet};

use punch_core::dialect::list::{Item, List, diff, match_rows};
use punch_core::dialect::{cursor, phases, todowrite};
use punch_core::{Footprint, Op, Plan, Policy, Refusal, Status, Stop, Uid};
use punch_store::{PlanId, Tx};
use serde_json::{Value, json};

use super::render::{self, capped};
use super::{Answer, Caller, Surface, pack, unpack};
use crate::submit::settle;
use crate::{Engine, EngineError, Role, SessionState, at_revision, link, session};

/// A call after reading, ready to run on a list.
enum Call {
    Cursor(cursor::Call),
    Phases(Vec<phases::PhaseOp>),
    Todowrite(Vec<todowrite::Row>),
}

impl Call {
    fn read(surface: Surface, arguments: &Value) -> Result<Self, EngineError> {
        Ok(match surface {
            Surface::Cursor => Self::Cursor(cursor::read(arguments)?),
            Surface::Phases => Self::Phases(phases::parse_params(&phases::coerce(arguments.clone()))?),
            _ => Self::Todowrite(todowrite::read(arguments).map_err(|reject| match reject {
                todowrite::Reject::Invalid(refusal) => refusal,
                todowrite::Reject::ManyInProgress => {
                    Refusal::Invalid { at: "todos".into(), what: todowrite::Reject::MANY.into() }
                }
            })?),
        })
    }

    /// Leaving a todo out removes it.
    fn replaces(&self) -> bool {
        match self {
            Self::Cursor(call) => !call.merge,
            Self::Phases(ops) => ops.iter().any(|op| matches!(op, phases::PhaseOp::Init { .. })),
            Self::Todowrite(_) => true,
        }
    }

    fn preset(&self) -> fn(Policy) -> Policy {
        match self {
            Self::Cursor(_) => cursor::policy,
            Self::Phases(_) => phases::policy,
            Self::Todowrite(_) => todowrite::policy,
        }
    }
}

/// What a step gave, until the plan has taken it over.
enum Stepped {
    Cursor(cursor::Answer),
    Phases(phases::Answer),
    Todowrite,
}

impl Engine {
    pub(super) fn call_list(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        surface: Surface,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Answer, EngineError> {
        let call = Call::read(surface, arguments)?;
        let request = caller.request(call.preset());
        self.write(plan, request.durability, |tx, now| {
            if let Some(body) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(unpack(&body));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            let role = state.role_of(&caller.session, caller.role);
            if role != Role::Owner {
                return Err(EngineError::NotAllowed { what: "write the whole list".into() });
            }
            let base = shown(tx, &state, call.replaces())?;
            let mut stepped = None;
            let mut ask = |whole: &Plan, now: i64| -> Result<Vec<Op>, Stop> {
                whole.need_whole()?;
                let (base, result, list) = step(&call, whole, base.as_ref(), &state, caller, now);
                let ops = diff(&base, &list, whole);
                stepped = Some((result, list));
                Ok(ops)
            };
            let changed = settle(tx, now, &request, &Footprint::everything(), &mut ask)?;
            render::within(changed.outcome.plan.counts.open(), caller.open_limit)?;
            let Some((stepped, list)) = stepped else { return Err(punch_store::StoreError::Abort.into()) };
            // New rows have no handle yet; the adds of the batch are in their order.
            let mut added = changed.outcome.added.iter().copied();
            state.scope = list.items.iter().filter_map(|item| item.uid.or_else(|| added.next())).collect();
            let answer = answer(stepped, &changed.plan, &state.scope.iter().copied().collect(), caller);
            state.shown = changed.outcome.plan.revision;
            state.bound = true;
            state.dialect = Some(surface.name().to_owned());
            link::note(&mut state, &caller.session, arguments);
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &pack(&answer), now)?;
            }
            Ok(answer)
        })
    }
}

/// The plan as the session last saw it; `None` where the call acts on the list as it is.
fn shown(tx: &dyn Tx, state: &SessionState, replaces: bool) -> Result<Option<Plan>, EngineError> {
    let row = tx.row()?;
    if !replaces || state.shown == 0 || state.shown >= row.revision {
        return Ok(None);
    }
    let mut whole = Plan::slice(row);
    tx.load(&Footprint::everything(), &mut whole)?;
    Ok(Some(at_revision(&whole, &tx.events(state.shown, usize::MAX)?, state.shown)))
}

/// Runs the dialect's own algorithm; answers what to compare with, the result, and the list it leads to.
fn step(
    call: &Call,
    whole: &Plan,
    before: Option<&Plan>,
    state: &SessionState,
    caller: &Caller<'_>,
    now: i64,
) -> (List, Stepped, List) {
    let then = before.unwrap_or(whole);
    let scope: HashSet<Uid> = state.scope.iter().copied().collect();
    // What somebody else is working on is not archived by being left out.
    let busy = |uid: &Uid| {
        whole.get(*uid).is_some_and(|t| {
            t.status_at(now) == Status::InProgress && t.owner.is_some() && t.owner.as_deref() != caller.owner.as_deref()
        })
    };
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| scope.contains(&uid) && !busy(&uid));
    match call {
        Call::Cursor(call) if call.merge => {
            let rows = cursor::project(whole);
            let answer = cursor::step(&rows, call, &mut ids(now, whole));
            let list = cursor::to_list(&answer.list);
            (cursor::to_list(&rows), Stepped::Cursor(answer), list)
        }
        Call::Cursor(call) => {
            let named: HashSet<&str> = call.todos.iter().map(|t| t.id.as_str()).collect();
            let base: Vec<cursor::Row> =
                cursor::project(then).into_iter().filter(|r| mine(r.uid) || named.contains(r.id.as_str())).collect();
            let answer = cursor::step(&base, call, &mut ids(now, whole));
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
            let mut base: Vec<todowrite::Row> = todowrite::project(then).into_iter().filter(|r| mine(r.uid)).collect();
            let mut rows = todowrite::step(&base, rows.clone());
            adopt(&mut rows, &mut base, whole, caller, now);
            let list = todowrite::to_list(&rows);
            (todowrite::to_list(&base), Stepped::Todowrite, list)
        }
    }
}

/// A list that is sent again in a new conversation means the open todos it names, not copies of them.
fn adopt(rows: &mut [todowrite::Row], base: &mut Vec<todowrite::Row>, whole: &Plan, caller: &Caller<'_>, now: i64) {
    let taken: HashSet<Uid> = rows.iter().chain(base.iter()).filter_map(|row| row.uid).collect();
    let free = |uid: Uid| {
        !taken.contains(&uid)
            && whole.get(uid).is_some_and(|t| t.status.is_open() && !t.leased_by_other(caller.owner.as_deref(), now))
    };
    let known: Vec<todowrite::Row> =
        todowrite::project(whole).into_iter().filter(|row| row.uid.is_some_and(free)).collect();
    let item = |row: &todowrite::Row| Item { uid: row.uid, content: row.content.clone(), ..Item::default() };
    let known_items: Vec<Item> = known.iter().map(item).collect();
    let mut items: Vec<Item> = rows.iter().map(item).collect();
    match_rows(&mut items, &known_items);
    let by_uid: BTreeMap<Uid, &todowrite::Row> = known.iter().filter_map(|row| Some((row.uid?, row))).collect();
    for (row, item) in rows.iter_mut().zip(items) {
        if row.uid.is_none()
            && let Some(found) = item.uid.and_then(|uid| by_uid.get(&uid))
        {
            row.uid = found.uid;
            base.push((*found).clone());
        }
    }
}

/// Ids for todos that come without one, in the form of that dialect: unique because no live todo has them.
fn ids(now: i64, whole: &Plan) -> impl FnMut() -> String + use<'_> {
    let mut n = whole.row.next_uid;
    move || loop {
        n += 1;
        let tail = base36(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 18);
        let id = format!("todo-{now}-{tail:0>9}");
        if whole.by_id(&id).is_none() {
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
fn answer(stepped: Stepped, plan: &Plan, scope: &HashSet<Uid>, caller: &Caller<'_>) -> Answer {
    let revision = plan.row.revision;
    let mine = |uid: Option<Uid>| uid.is_some_and(|uid| scope.contains(&uid));
    match stepped {
        Stepped::Cursor(mut answer) => {
            answer.list = cursor::project(plan).into_iter().filter(|row| mine(row.uid)).collect();
            let text = render::cursor(&answer, caller.mode);
            Answer { text: capped(&text), structured: cursor::answer(&answer, caller.mode), is_error: false, revision }
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
            let text = phases::summary(&answer.phases, &answer.errors);
            let completed: Vec<Value> =
                answer.completed.iter().map(|c| json!({"phase": c.phase, "content": c.content})).collect();
            let structured = json!({
                "phases": phases::phases_to_json(&answer.phases),
                "storage": "session",
                "completedTasks": completed,
            });
            Answer { text: capped(&text), structured, is_error: answer.is_error, revision }
        }
        Stepped::Todowrite => {
            let rows: Vec<todowrite::Row> = todowrite::project(plan).into_iter().filter(|r| mine(r.uid)).collect();
            let structured = json!({"progress": todowrite::progress(&rows), "items": todowrite::items(&rows)});
            Answer { text: capped(&todowrite::render(&rows)), structured, is_error: false, revision }
        }
    }
}
