//! Finds open todos by their content. The column `said` holds a number made of the content, under an index that only
//! a new or changed content touches. The plan knows up to which revision its numbers are right: a program with an older
//! schema changes contents without them.

use std::collections::BTreeSet;

use punch_core::Todo;
use rusqlite::params;
use serde::Deserialize;

use super::bulk::COLUMNS;
use super::view::SqliteTransaction;
use crate::backend::content_number as number;
use crate::{ListMark, StoreError};

/// The open todos with one of these contents, in list order.
pub(super) fn find(view: &SqliteTransaction<'_>, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
    let mut out = Vec::new();
    let mut keep = |todo: Todo| {
        if contents.contains(&todo.content) {
            out.push(todo);
        }
    };
    let open = "plan = ?1 AND removed IS NULL AND status IN ('pending', 'in_progress')";
    if contents.is_empty() {
        return Ok(out);
    }
    if view.content_numbers_are_current()? {
        let sql = format!("SELECT {COLUMNS} FROM todo INDEXED BY todo_said WHERE {open} AND said = ?2");
        for said in contents.iter().map(|content| number(content)).collect::<BTreeSet<i32>>() {
            view.todos(&sql, params![view.plan.0, said], &mut keep)?;
        }
    } else {
        let sql = format!("SELECT {COLUMNS} FROM todo INDEXED BY todo_open WHERE {open}");
        view.todos(&sql, [view.plan.0], &mut keep)?;
    }
    out.sort_by_key(ListMark::of);
    Ok(out)
}

/// Writes the numbers again if a program that does not know them has written since. A body that cannot be read has no
/// content that could be found.
pub(super) fn refresh(view: &SqliteTransaction<'_>) -> Result<(), StoreError> {
    #[derive(Deserialize)]
    struct TodoContent {
        #[serde(default)]
        content: String,
    }
    if view.content_numbers_are_current()? {
        return Ok(());
    }
    let read = || -> rusqlite::Result<Vec<(i64, i32)>> {
        let mut statement = view.conn.prepare("SELECT uid, said, body FROM todo WHERE plan = ?1")?;
        let mut rows = statement.query([view.plan.0])?;
        let mut wrong = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(TodoContent { content }) = serde_json::from_str(row.get_ref(2)?.as_str()?) else { continue };
            let said = number(&content);
            if row.get::<_, Option<i64>>(1)? != Some(said.into()) {
                wrong.push((row.get(0)?, said));
            }
        }
        Ok(wrong)
    };
    for (uid, said) in view.sql("read todos", read())? {
        let sql = "UPDATE todo SET said = ?3 WHERE plan = ?1 AND uid = ?2";
        view.execute("write todos", sql, params![view.plan.0, uid, said])?;
    }
    view.mark_content_numbers_current()
}
