//! Checks whether columns and edges agree with the bodies, and writes them again if not. Plans are read in pages.

use std::collections::BTreeSet;

use crate::answer::{SqlRow, WireError};
use punch_core::{Dep, Todo};
use punch_store::backend::{content_number, held_until, live_deps};
use punch_store::{Ahead, Durability, PlanId, StoreError};

use crate::escape;
use crate::link::ask;
use crate::store::PgStore;
use crate::todo::{self, columns, queue};
use crate::value::Columns;
use crate::view::PgTransaction;

const PAGE: i64 = 10_000;

const ROWS: &str = concat!(
    "SELECT ",
    columns!(),
    ", t.id, t.pos, t.queue::int8, t.effective::int8, t.held_until, t.owner, t.removed, t.said::int8 \
     FROM punch.todo t WHERE t.plan = $1 AND t.uid > $2 ORDER BY t.plan, t.uid LIMIT $3"
);

/// Finds todos and edges of a plan that do not say what the bodies say.
pub fn check_plan(view: &PgTransaction<'_>, out: &mut Vec<String>) -> Result<(), StoreError> {
    const EDGES: &str = "SELECT dep, dependent FROM punch.edge WHERE plan = $1";
    const DANGLING: &str = "SELECT id, dependent FROM punch.dangling WHERE plan = $1";
    let plan = view.plan.0;
    let (mut edges, mut dangling) = (BTreeSet::new(), BTreeSet::new());
    let mut last = -1;
    loop {
        let rows = view.ask(ask!("check todos", ROWS, plan, last, PAGE))?;
        if rows.is_empty() {
            break;
        }
        let todos = view.todos(&rows)?;
        for (todo, row) in todos.iter().zip(&rows) {
            let uid = todo.uid.0.cast_signed();
            last = last.max(uid);
            let same = is_same(todo, row).map_err(|e| crate::fail::sql(view.store.label(), "check todos", &e))?;
            if !same {
                out.push(format!("the columns of todo {uid} in plan {plan} differ from its body"));
            }
            for dep in live_deps(todo) {
                match dep {
                    Dep::On(to) | Dep::Suspended(to) => edges.insert((to.0.cast_signed(), uid)),
                    Dep::Dangling(id) => dangling.insert((escape::key(id).into_owned(), uid)),
                };
            }
        }
    }
    let stored = view.rows(ask!("check edges", EDGES, plan), |row| Ok((row.int(0)?, row.int(1)?)))?;
    let waiting = view.rows(ask!("check edges", DANGLING, plan), |row| {
        Ok((row.string(0)?.unwrap_or_default().to_owned(), row.int(1)?))
    })?;
    if stored.into_iter().collect::<BTreeSet<_>>() != edges || waiting.into_iter().collect::<BTreeSet<_>>() != dangling
    {
        out.push(format!("the edges of plan {plan} differ from what its todos say"));
    }
    Ok(())
}

fn is_same(todo: &Todo, row: &SqlRow) -> Result<bool, WireError> {
    Ok(row.string(7)? == Some(&*escape::key(&todo.id))
        && row.int(8)? == todo.position
        && row.int(9)? == queue(todo)
        && row.int(10)? == i64::from(todo.effective_priority())
        && row.maybe_int(11)? == held_until(todo)
        && row.string(12)? == todo.owner.as_deref().map(escape::key).as_deref()
        && row.maybe_int(13)? == todo.removed
        && row.int(14)? == i64::from(content_number(&todo.content)))
}

/// Writes columns and edges of a plan again.
pub fn rebuild_plan(store: &PgStore, plan: PlanId) -> Result<(), StoreError> {
    // Through the same statements as every write, from the bodies as they are.
    store.write_view(plan, Durability::Full, Ahead::default(), &mut |view| {
        for sql in ["DELETE FROM punch.edge WHERE plan = $1", "DELETE FROM punch.dangling WHERE plan = $1"] {
            view.enqueue(ask!("rebuild", sql, plan.0));
        }
        view.enqueue(ask!("rebuild", "UPDATE punch.todo SET removed = 0 WHERE plan = $1", plan.0));
        let mut last = -1;
        loop {
            let rows = view.ask(ask!("rebuild", ROWS, plan.0, last, PAGE))?;
            let todos = view.todos(&rows)?;
            let Some(newest) = todos.last() else { break };
            last = newest.uid.0.cast_signed();
            todo::rewrite(view, &todos)?;
        }
        Ok(())
    })
}
