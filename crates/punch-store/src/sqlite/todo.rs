//! A todo as a row: the body contains everything but the notes, and the other columns repeat what queries need.

use std::collections::BTreeSet;

use punch_core::{Dep, Event, Todo, Uid};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;

use super::notes;
use crate::PlanId;
use crate::backend::{EveryField, content_number, held_until, keep_unknown};

/// Whether rows may hold keys that this program does not know, because a newer one wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// There are none.
    None,
    /// They stay as they are.
    Keep,
}

/// What is known of the stored version of a todo.
struct Old {
    id: String,
    position: i64,
    removed: Option<i64>,
    said: Option<i64>,
    body: String,
    notes: usize,
}

/// Writes rows. Ids that change hands are given up before they are taken.
pub(super) fn put(
    conn: &Connection,
    plan: PlanId,
    rows: &[Todo],
    events: &[Event],
    first_new: Uid,
    unknown: Unknown,
) -> rusqlite::Result<()> {
    let noted = notes::changed_from(events);
    let mut old = Vec::with_capacity(rows.len());
    for todo in rows {
        // Uids are given in order: from the plan's next one on there is nothing to look for.
        let known = if todo.uid < first_new { stored(conn, plan, todo.uid)? } else { None };
        if known.as_ref().is_some_and(|o| o.removed.is_none() && (o.id != todo.id || todo.removed.is_some())) {
            conn.prepare_cached("UPDATE todo SET removed = 0 WHERE plan = ?1 AND uid = ?2")?
                .execute(params![plan.0, todo.uid.0.cast_signed()])?;
        }
        old.push(known);
    }
    for (todo, old) in rows.iter().zip(&old) {
        write(conn, plan, todo, old.as_ref(), unknown)?;
        notes::write(conn, plan, todo, old.as_ref().map_or(0, |old| old.notes), noted.get(&todo.uid).copied())?;
    }
    Ok(())
}

fn stored(conn: &Connection, plan: PlanId, uid: Uid) -> rusqlite::Result<Option<Old>> {
    conn.prepare_cached("SELECT id, position, removed, said, body, notes FROM todo WHERE plan = ?1 AND uid = ?2")?
        .query_row(params![plan.0, uid.0.cast_signed()], |row| {
            let (id, position, removed) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let notes = usize::try_from(row.get::<_, i64>(5)?).unwrap_or(0);
            Ok(Old { id, position, removed, said: row.get(3)?, body: row.get(4)?, notes })
        })
        .optional()
}

const INSERT: &str = "INSERT INTO todo (plan, uid, status, unmet, level, pull, effective, held_until, owner, lease_until, \
     updated_at, body, notes, id, position, removed, said) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

/// Leaves the last columns alone, which most changes keep, and with them their indexes.
const UPDATE: &str = "UPDATE todo SET status = ?3, unmet = ?4, level = ?5, pull = ?6, effective = ?7, held_until = ?8, \
     owner = ?9, lease_until = ?10, updated_at = ?11, body = ?12, notes = ?13 WHERE plan = ?1 AND uid = ?2";

/// How many columns [`UPDATE`] writes or looks for.
const UPDATED: usize = 13;

const UPDATE_ALL: &str = "UPDATE todo SET status = ?3, unmet = ?4, level = ?5, pull = ?6, effective = ?7, \
     held_until = ?8, owner = ?9, lease_until = ?10, updated_at = ?11, body = ?12, notes = ?13, id = ?14, position = ?15, \
     removed = ?16, said = ?17 WHERE plan = ?1 AND uid = ?2";

fn write(conn: &Connection, plan: PlanId, todo: &Todo, old: Option<&Old>, unknown: Unknown) -> rusqlite::Result<()> {
    let body = body(todo, old.map(|o| o.body.as_str()), unknown)?;
    let uid = todo.uid.0.cast_signed();
    let d = todo.derived;
    let notes = i64::try_from(todo.notes.len()).unwrap_or(i64::MAX);
    let said = content_number(&todo.content);
    let stays = |o: &Old| {
        o.id == todo.id && o.position == todo.position && o.removed == todo.removed && o.said == Some(said.into())
    };
    let row = params![
        plan.0,
        uid,
        todo.status.name(),
        d.unmet,
        d.level,
        d.pull,
        todo.effective_priority(),
        held_until(todo),
        todo.owner,
        todo.lease_until,
        todo.updated_at,
        body,
        notes,
        todo.id,
        todo.position,
        todo.removed,
        said,
    ];
    let (sql, row) = match old {
        Some(old) if stays(old) => (UPDATE, &row[..UPDATED]),
        Some(_) => (UPDATE_ALL, row),
        None => (INSERT, row),
    };
    conn.prepare_cached(sql)?.execute(row)?;
    let before = old.filter(|o| o.removed.is_none()).map(|o| deps_of(&o.body)).unwrap_or_default();
    let after = if todo.is_live() { todo.depends_on.as_slice() } else { &[] };
    if before != after {
        relink(conn, plan, uid, &before, after)?;
    }
    Ok(())
}

fn body(todo: &Todo, old: Option<&str>, unknown: Unknown) -> rusqlite::Result<String> {
    let json = match (unknown, old) {
        (Unknown::Keep, Some(old)) => keep_unknown(&todo.fields.without_notes(), old, &EveryField),
        _ => serde_json::to_string(&todo.fields.without_notes()),
    };
    json.map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// Only the dependencies of a stored body. A body that cannot be read has none: `rebuild` brings its edges back.
fn deps_of(body: &str) -> Vec<Dep> {
    #[derive(Deserialize)]
    struct Deps {
        #[serde(default)]
        depends_on: Vec<Dep>,
    }
    serde_json::from_str(body).map(|deps: Deps| deps.depends_on).unwrap_or_default()
}

/// Brings the inverse tables from one list of dependencies to another.
pub(super) fn relink(conn: &Connection, plan: PlanId, uid: i64, before: &[Dep], after: &[Dep]) -> rusqlite::Result<()> {
    let targets = |deps: &[Dep]| deps.iter().filter_map(Dep::target).collect::<BTreeSet<Uid>>();
    let (old, new) = (targets(before), targets(after));
    for gone in old.difference(&new) {
        conn.prepare_cached("DELETE FROM edge WHERE plan = ?1 AND dep = ?2 AND dependent = ?3")?.execute(params![
            plan.0,
            gone.0.cast_signed(),
            uid
        ])?;
    }
    for come in new.difference(&old) {
        conn.prepare_cached("INSERT OR IGNORE INTO edge (plan, dep, dependent) VALUES (?1, ?2, ?3)")?
            .execute(params![plan.0, come.0.cast_signed(), uid])?;
    }
    let (old, new) = (missing(before), missing(after));
    for gone in old.difference(&new) {
        conn.prepare_cached("DELETE FROM dangling WHERE plan = ?1 AND id = ?2 AND dependent = ?3")?
            .execute(params![plan.0, gone, uid])?;
    }
    for come in new.difference(&old) {
        conn.prepare_cached("INSERT OR IGNORE INTO dangling (plan, id, dependent) VALUES (?1, ?2, ?3)")?
            .execute(params![plan.0, come, uid])?;
    }
    Ok(())
}

fn missing(deps: &[Dep]) -> BTreeSet<&str> {
    let mut out = BTreeSet::new();
    for dep in deps {
        match dep {
            Dep::Dangling(id) => out.insert(id.as_str()),
            Dep::On(_) | Dep::Suspended(_) => false,
        };
    }
    out
}
