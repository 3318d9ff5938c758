//! The notes of todos, in a separate table: adding the thousandth note writes one row.

use std::collections::HashMap;

use punch_core::{Event, FieldChange, Note, Patch, Todo, Uid};
use rusqlite::{Connection, params};

use crate::PlanId;

/// The notes of a todo, in order.
pub(super) fn read(conn: &Connection, plan: PlanId, todo: Uid) -> rusqlite::Result<Vec<Note>> {
    let note = |row: &rusqlite::Row<'_>| Ok(Note { text: row.get(0)?, at: row.get(1)?, by: row.get(2)? });
    conn.prepare_cached("SELECT text, at, by FROM note WHERE plan = ?1 AND todo = ?2 ORDER BY seq")?
        .query_map(params![plan.0, todo.0.cast_signed()], note)?
        .collect()
}

/// From which note on each todo differs from what is stored, as the events of a write say.
pub(super) fn changed_from(events: &[Event]) -> HashMap<Uid, usize> {
    let mut out = HashMap::new();
    for event in events {
        let Patch::Todo(uid, changes) = &event.patch else { continue };
        for change in changes {
            if let FieldChange::Notes(splice) = change {
                let first = out.entry(*uid).or_insert(splice.at);
                *first = splice.at.min(*first);
            }
        }
    }
    out
}

/// Writes the notes of a todo from one on; `stored` are in the table, and those before `from` stay.
pub(super) fn write(
    conn: &Connection,
    plan: PlanId,
    todo: &Todo,
    stored: usize,
    from: Option<usize>,
) -> rusqlite::Result<()> {
    let first = from.unwrap_or(usize::MAX).min(stored);
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let uid = todo.uid.0.cast_signed();
    if first < stored {
        conn.prepare_cached("DELETE FROM note WHERE plan = ?1 AND todo = ?2 AND seq >= ?3")?.execute(params![
            plan.0,
            uid,
            number(first)
        ])?;
    }
    for (seq, note) in todo.notes.iter().enumerate().skip(first) {
        conn.prepare_cached("INSERT INTO note (plan, todo, seq, at, by, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![plan.0, uid, number(seq), note.at, note.by, note.text])?;
    }
    Ok(())
}
