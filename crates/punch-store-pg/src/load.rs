//! Slices: exactly the rows that a footprint asks for, all kinds in one round trip.
//!
//! Statements are planned once, often before the server has looked at what the tables hold. It then takes every plan for a small
//! one and would read all of it for one todo. A subquery with OFFSET stays where it is written: what is asked for comes first, and
//! each todo is found by its key.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::answer::SqlRow;
use punch_core::{Footprint, Plan, Todo};
use punch_store::{PlanId, StoreError};

use crate::escape;
use crate::events;
use crate::link::{Statement, ask};
use crate::todo::columns;
use crate::value::SqlValue;
use crate::view::PgTransaction;

const ALL: &str = concat!("SELECT ", columns!(), " FROM punch.todo t WHERE t.plan = $1 ORDER BY t.uid");
pub const BY_IDS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($2::text[]) AS n (id) CROSS JOIN LATERAL \
     (SELECT * FROM punch.todo t WHERE t.plan = $1 AND t.id = n.id AND t.removed IS NULL OFFSET 0) t"
);
pub const BY_UIDS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($2::int8[]) AS n (uid) CROSS JOIN LATERAL \
     (SELECT * FROM punch.todo t WHERE t.plan = $1 AND t.uid = n.uid OFFSET 0) t"
);
const DEPENDENTS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($2::int8[]) AS n (dep) CROSS JOIN LATERAL \
     (SELECT * FROM punch.edge e WHERE e.plan = $1 AND e.dep = n.dep OFFSET 0) e CROSS JOIN LATERAL \
     (SELECT * FROM punch.todo t WHERE t.plan = $1 AND t.uid = e.dependent OFFSET 0) t"
);
const RUNNING: &str = concat!("SELECT ", columns!(), " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3");
const RUNNING_OF: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3 AND (t.owner = ANY($2) OR ($3 AND t.owner IS NULL))"
);
const FIRST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.todo t WHERE t.plan = $1 AND t.removed IS NULL ORDER BY t.plan, t.pos, t.uid LIMIT 1"
);
const WAITING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.dangling d JOIN punch.todo t ON t.plan = d.plan AND t.uid = d.dependent \
     WHERE d.plan = $1 AND d.id = ANY($2)"
);

/// Ids as they stand in the column, each once.
pub fn keys<'a>(ids: impl IntoIterator<Item = &'a String>) -> SqlValue {
    let keys: BTreeSet<Cow<'_, str>> = ids.into_iter().map(|id| escape::key(id)).collect();
    SqlValue::Texts(keys.into_iter().map(|key| Some(key.into_owned())).collect())
}

/// The questions that a footprint leads to.
pub fn asks(plan: PlanId, footprint: &Footprint) -> Vec<Statement> {
    let Footprint { ids, todos, dependents, running, all_running, first, dangling, revisions, all } = footprint;
    let mut out = Vec::new();
    let mut put = |sql: &'static str, params: Vec<SqlValue>| {
        let params = [SqlValue::from(plan.0)].into_iter().chain(params).collect();
        out.push(Statement { what: "read todos", sql, params });
    };
    if *all {
        put(ALL, vec![]);
    } else {
        if !ids.is_empty() {
            put(BY_IDS, vec![keys(ids)]);
        }
        if !todos.is_empty() {
            put(BY_UIDS, vec![SqlValue::uids(todos)]);
        }
        if !dependents.is_empty() {
            put(DEPENDENTS, vec![SqlValue::uids(dependents)]);
        }
        if *all_running {
            put(RUNNING, vec![]);
        } else if !running.is_empty() {
            let nobody = running.contains(&None);
            put(RUNNING_OF, vec![keys(running.iter().flatten()), nobody.into()]);
        }
        if *first {
            put(FIRST, vec![]);
        }
        if !dangling.is_empty() {
            put(WAITING, vec![keys(dangling)]);
        }
    }
    if !revisions.is_empty() {
        out.push(events::ask_of(plan, revisions));
    }
    out
}

/// Puts what the footprint asks for into the slice and marks it as loaded.
pub fn load(view: &PgTransaction<'_>, footprint: &Footprint, into: &mut Plan) -> Result<(), StoreError> {
    if view.load_known(footprint, into) {
        return Ok(());
    }
    let mut answers = view.ask_all(asks(view.plan, footprint))?;
    if !footprint.revisions.is_empty() {
        let mut of = events::by_revision(view, &answers.pop().unwrap_or_default())?;
        for revision in &footprint.revisions {
            into.put_events(*revision, of.remove(revision).unwrap_or_default());
        }
    }
    for rows in &answers {
        for todo in view.todos(rows)? {
            into.put(todo);
        }
    }
    into.mark_loaded(footprint.clone());
    Ok(())
}

/// The live todos with these ids. The key of a long id may be that of another one too.
pub fn by_ids(view: &PgTransaction<'_>, ids: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
    let ask = Statement { params: vec![view.plan.0.into(), keys(ids)], ..ask!("read todos", BY_IDS) };
    let rows: Vec<SqlRow> = view.ask(ask)?;
    let mut todos = view.todos(&rows)?;
    todos.retain(|todo| ids.contains(&todo.id));
    Ok(todos)
}
