//! Slices: exactly the rows that a footprint asks for.

use std::sync::Arc;

use punch_core::{Footprint, Plan, Todo};
use rusqlite::params;

use super::bulk::COLUMNS;
use super::events;
use super::view::SqliteTransaction;
use crate::{Snapshot, StoreError, Which};

/// Puts what the footprint asks for into the slice and marks it as loaded.
pub(super) fn load(view: &SqliteTransaction<'_>, footprint: &Footprint, into: &mut Plan) -> Result<(), StoreError> {
    let plan = view.plan.0;
    let mut put = |todo: Arc<Todo>| drop(into.put_shared(todo));
    if footprint.all {
        view.todos(&format!("SELECT {COLUMNS} FROM todo WHERE plan = ?1 ORDER BY uid"), [plan], &mut put)?;
    } else {
        for id in &footprint.ids {
            view.todos(&by_id(), params![plan, id], &mut put)?;
        }
        let by_uid = format!("SELECT {COLUMNS} FROM todo WHERE plan = ?1 AND uid = ?2");
        view.todos_each(&by_uid, footprint.todos.iter().map(|uid| (plan, uid.0.cast_signed())), &mut put)?;
        let dependents = format!(
            "SELECT {COLUMNS} FROM edge CROSS JOIN todo ON todo.plan = edge.plan AND todo.uid = edge.dependent \
             WHERE edge.plan = ?1 AND edge.dep = ?2"
        );
        for uid in &footprint.dependents {
            view.todos(&dependents, params![plan, uid.0.cast_signed()], &mut put)?;
        }
        let running = format!(
            "SELECT {COLUMNS} FROM todo INDEXED BY todo_running \
             WHERE plan = ?1 AND owner IS ?2 AND removed IS NULL AND status = 'in_progress'"
        );
        if footprint.all_running {
            let running = format!(
                "SELECT {COLUMNS} FROM todo INDEXED BY todo_running \
                 WHERE plan = ?1 AND removed IS NULL AND status = 'in_progress'"
            );
            view.todos(&running, [plan], &mut put)?;
        }
        if footprint.first {
            view.list(Which::Live, None, 1)?.into_iter().map(Arc::new).for_each(&mut put);
        }
        for owner in &footprint.running {
            view.todos(&running, params![plan, owner], &mut put)?;
        }
        let waiting = format!(
            "SELECT {COLUMNS} FROM dangling CROSS JOIN todo ON todo.plan = dangling.plan AND \
             todo.uid = dangling.dependent WHERE dangling.plan = ?1 AND dangling.id = ?2"
        );
        for id in &footprint.dangling {
            view.todos(&waiting, params![plan, id], &mut put)?;
        }
    }
    for revision in &footprint.revisions {
        into.put_events(*revision, events::of(view, *revision)?);
    }
    into.mark_loaded(footprint.clone());
    Ok(())
}

/// The live todo with an id.
pub(super) fn by_id() -> String {
    format!("SELECT {COLUMNS} FROM todo INDEXED BY todo_id WHERE plan = ?1 AND id = ?2 AND removed IS NULL")
}
