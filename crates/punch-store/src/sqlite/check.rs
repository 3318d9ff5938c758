//! Whether columns and edges say what the bodies say, and writing them again if not.

use std::collections::BTreeSet;

use punch_core::{Dep, Todo};
use rusqlite::types::FromSql;
use rusqlite::{Connection, params};

use super::bulk::COLUMNS;
use super::todo::relink;
use super::{SqliteStore, WriteOutcome, fail};
use crate::backend::{content_number, held_until, live_deps};
use crate::{Catalogue, Durability, PlanId, StoreError};

/// What is wrong with the file: its pages, its references, and columns and edges that do not say what the bodies say.
pub(super) fn check(store: &SqliteStore) -> Result<Vec<String>, StoreError> {
    store.look(|conn| {
        let pages = || -> rusqlite::Result<Vec<String>> {
            let mut out: Vec<String> =
                conn.prepare("PRAGMA integrity_check")?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            out.retain(|line| line != "ok");
            let mut foreign = conn.prepare("PRAGMA foreign_key_check")?;
            let rows = foreign.query_map([], |row| row.get::<_, String>(0))?;
            for table in rows {
                out.push(format!("a row of `{}` belongs to no plan", table?));
            }
            Ok(out)
        };
        let mut out = pages().map_err(|e| fail::sql(store.path(), "be checked", &e))?;
        if out.is_empty() {
            for plan in store.view(conn, PlanId(0)).plans()? {
                check_plan(store, conn, plan.id, &mut out)?;
            }
        }
        Ok(out)
    })
}

fn check_plan(store: &SqliteStore, conn: &Connection, plan: PlanId, out: &mut Vec<String>) -> Result<(), StoreError> {
    const AS_STORED: &str = "SELECT id, position, status, effective, held_until, owner, removed, said FROM todo \
                                 WHERE plan = ?1 AND uid = ?2";
    let view = store.view(conn, plan);
    let numbered = view.content_numbers_are_current()?;
    let (mut edges, mut dangling) = (BTreeSet::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    let mut failure = None;
    let select = format!("SELECT {COLUMNS} FROM todo WHERE plan = ?1");
    view.todos(&select, [plan.0], &mut |todo: Todo| {
        let uid = todo.uid.0.cast_signed();
        let same = conn.prepare_cached(AS_STORED).and_then(|mut s| {
            s.query_row(params![plan.0, uid], |row| {
                Ok(row.get::<_, String>(0)? == todo.id
                    && row.get::<_, i64>(1)? == todo.position
                    && row.get::<_, String>(2)? == todo.status.name()
                    && row.get::<_, u8>(3)? == todo.effective_priority()
                    && row.get::<_, Option<i64>>(4)? == held_until(&todo)
                    && row.get::<_, Option<String>>(5)? == todo.owner
                    && row.get::<_, Option<i64>>(6)? == todo.removed
                    && (!numbered || row.get::<_, Option<i64>>(7)? == Some(content_number(&todo.content).into())))
            })
        });
        match same {
            Ok(true) => {}
            Ok(false) => wrong.push(format!("the columns of todo {uid} in plan {} differ from its body", plan.0)),
            Err(e) => failure = Some(e),
        }
        for dep in live_deps(&todo) {
            match dep {
                Dep::On(to) | Dep::Suspended(to) => edges.insert((to.0.cast_signed(), uid)),
                Dep::Dangling(id) => dangling.insert((id.clone(), uid)),
            };
        }
    })?;
    if let Some(e) = failure {
        return Err(fail::sql(store.path(), "be checked", &e));
    }
    out.append(&mut wrong);
    let stored_edges = pairs(conn, "SELECT dep, dependent FROM edge WHERE plan = ?1", plan);
    let stored_dangling = pairs(conn, "SELECT id, dependent FROM dangling WHERE plan = ?1", plan);
    let counted = pairs(conn, "SELECT notes, uid FROM todo WHERE plan = ?1 AND notes > 0", plan);
    let noted = "SELECT max(seq) + 1, todo FROM note WHERE plan = ?1 GROUP BY todo HAVING max(seq) + 1 = count(*)";
    let noted = pairs(conn, noted, plan);
    if view.sql("be checked", counted)? != view.sql::<BTreeSet<(i64, i64)>>("be checked", noted)? {
        out.push(format!("todos of plan {} have lost notes", plan.0));
    }
    if view.sql("be checked", stored_edges)? != edges || view.sql("be checked", stored_dangling)? != dangling {
        out.push(format!("the edges of plan {} differ from what its todos say", plan.0));
    }
    Ok(())
}

/// Writes columns and edges again from the bodies.
pub(super) fn rebuild(store: &SqliteStore) -> Result<(), StoreError> {
    const UPDATE: &str = "UPDATE todo SET id = ?3, position = ?4, status = ?5, effective = ?6, held_until = ?7, \
                              owner = ?8, removed = ?9, said = ?10, \
                              notes = (SELECT count(*) FROM note WHERE note.plan = ?1 AND note.todo = ?2) \
                              WHERE plan = ?1 AND uid = ?2";
    store.commit(Durability::Full, |conn| {
        for plan in store.view(conn, PlanId(0)).plans()?.into_iter().map(|info| info.id) {
            let view = store.view(conn, plan);
            let mut todos = Vec::new();
            view.todos(&format!("SELECT {COLUMNS} FROM todo WHERE plan = ?1"), [plan.0], &mut |t: Todo| todos.push(t))?;
            for table in ["edge", "dangling"] {
                view.execute("rebuild", &format!("DELETE FROM {table} WHERE plan = ?1"), [plan.0])?;
            }
            // Ids may move between todos: none is held while they are assigned.
            view.execute("rebuild", "UPDATE todo SET removed = 0 WHERE plan = ?1", [plan.0])?;
            for t in &todos {
                let (uid, status, held) = (t.uid.0.cast_signed(), t.status.name(), held_until(t));
                let (effective, said) = (t.effective_priority(), content_number(&t.content));
                let row = params![plan.0, uid, t.id, t.position, status, effective, held, t.owner, t.removed, said];
                view.execute("rebuild", UPDATE, row)?;
                view.sql("rebuild", relink(conn, plan, uid, &[], live_deps(t)))?;
            }
            view.mark_content_numbers_current()?;
        }
        Ok(WriteOutcome { answer: (), wrote: true, plan: None })
    })
}

fn pairs<T: FromSql + Ord>(conn: &Connection, sql: &str, plan: PlanId) -> rusqlite::Result<BTreeSet<(T, i64)>> {
    conn.prepare(sql)?.query_map([plan.0], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
