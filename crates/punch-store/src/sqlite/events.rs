//! The log: whole revisions in order, and the baseline that pruned ones left behind.

use std::collections::BTreeSet;
use std::io::Write;

use punch_core::{Event, EventKind, Patch, Plan, Todo, Uid};
use rusqlite::{OptionalExtension, Row, params};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as KindError, StrDeserializer};

use super::view::SqliteTransaction;
use super::{fail, hand_out};
use crate::{StoreError, baseline};

const SELECT: &str = "SELECT revision, seq, at, kind, by, patch, owner, undoes FROM event";

/// Adds the events of one write.
pub(super) fn append(view: &SqliteTransaction<'_>, events: &[Event]) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO event (plan, revision, seq, at, kind, by, uid, patch, owner, undoes) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    for event in events {
        let patch = serde_json::to_string(&event.patch)
            .map_err(|e| fail::failed(view.path, format!("cannot write an event: {e}")))?;
        let uid = if let Patch::Todo(uid, _) = event.patch { Some(uid.0.cast_signed()) } else { None };
        let (revision, kind) = (event.revision.cast_signed(), event.kind.name());
        let undoes = event.undoes.map(u64::cast_signed);
        let row = params![view.plan.0, revision, event.seq, event.at, kind, event.by, uid, patch, event.owner, undoes];
        view.execute("write an event", INSERT, row)?;
    }
    Ok(())
}

/// Whole revisions after `since`, until there are `limit` events.
pub(super) fn since(view: &SqliteTransaction<'_>, since: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
    let mut out: Vec<Event> = Vec::new();
    if limit == 0 {
        return Ok(out);
    }
    let sql = format!("{SELECT} WHERE plan = ?1 AND revision > ?2 ORDER BY revision, seq");
    each(view, &sql, since, &mut |event| {
        let full = out.len() >= limit && out.last().is_some_and(|last| last.revision != event.revision);
        if !full {
            out.push(event);
        }
        Ok(!full)
    })?;
    Ok(out)
}

/// The events of one revision.
pub(super) fn of(view: &SqliteTransaction<'_>, revision: u64) -> Result<Vec<Event>, StoreError> {
    let mut out = Vec::new();
    each(view, &format!("{SELECT} WHERE plan = ?1 AND revision = ?2 ORDER BY seq"), revision, &mut |event| {
        out.push(event);
        Ok(true)
    })?;
    Ok(out)
}

/// The first events of one revision, and how many it has.
pub(super) fn head(view: &SqliteTransaction<'_>, revision: u64, limit: usize) -> Result<(Vec<Event>, u64), StoreError> {
    // Events of a revision are numbered from 0 without gaps, so the last number says how many there are.
    let last = "SELECT seq FROM event WHERE plan = ?1 AND revision = ?2 ORDER BY seq DESC LIMIT 1";
    let key = params![view.plan.0, i64::try_from(revision).unwrap_or(i64::MAX)];
    let last = view.conn.prepare_cached(last).and_then(|mut s| s.query_row(key, |row| row.get::<_, u32>(0)).optional());
    let total = view.sql("read events", last)?.map_or(0, |seq| u64::from(seq) + 1);
    let mut out = Vec::new();
    if limit > 0 && total > 0 {
        each(view, &format!("{SELECT} WHERE plan = ?1 AND revision = ?2 ORDER BY seq"), revision, &mut |event| {
            out.push(event);
            Ok(out.len() < limit)
        })?;
    }
    Ok((out, total))
}

/// Calls `f` with each event until it answers false.
fn each(
    view: &SqliteTransaction<'_>,
    sql: &str,
    revision: u64,
    f: &mut dyn FnMut(Event) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let revision = i64::try_from(revision).unwrap_or(i64::MAX);
    let mut statement = view.sql("read events", view.conn.prepare_cached(sql))?;
    let mut rows = view.sql("read events", statement.query(params![view.plan.0, revision]))?;
    while let Some(row) = view.sql("read events", rows.next())? {
        let event = view.sql("read events", decode(row))?.map_err(|why| fail::damaged(view.path, why))?;
        if !f(event)? {
            break;
        }
    }
    Ok(())
}

fn decode(row: &Row<'_>) -> rusqlite::Result<Result<Event, String>> {
    let revision = row.get::<_, i64>(0)?.cast_unsigned();
    let name = row.get_ref(3)?.as_str()?;
    let word: StrDeserializer<'_, KindError> = name.into_deserializer();
    let kind = EventKind::deserialize(word).map_err(|e| e.to_string());
    let patch = serde_json::from_str(row.get_ref(5)?.as_str()?).map_err(|e| e.to_string());
    let (seq, at, by) = (row.get(1)?, row.get(2)?, row.get(4)?);
    let owner = row.get(6)?;
    let undoes = row.get::<_, Option<i64>>(7)?.map(i64::cast_unsigned);
    Ok(kind
        .and_then(|kind| patch.map(|patch| Event { revision, seq, kind, at, by, patch, owner, undoes }))
        .map_err(|why| format!("an event of revision {revision} cannot be read: {why}")))
}

/// What folding starts from.
pub(super) fn baseline(view: &SqliteTransaction<'_>) -> Result<Plan, StoreError> {
    let mut plan = Plan::new();
    let row: Option<String> = view.sql(
        "read the baseline",
        view.conn.query_row("SELECT row FROM baseline WHERE plan = ?1", [view.plan.0], |row| row.get(0)).optional(),
    )?;
    let Some(row) = row else { return Ok(plan) };
    plan.row = view.parse("the baseline", &row)?;
    let sql = "SELECT uid, updated_at, body FROM baseline_todo WHERE plan = ?1 ORDER BY uid";
    let mut statement = view.sql("read the baseline", view.conn.prepare(sql))?;
    let mut rows = view.sql("read the baseline", statement.query([view.plan.0]))?;
    while let Some(row) = view.sql("read the baseline", rows.next())? {
        let read = (|| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, String>(2)?)))();
        let (uid, updated_at, body) = view.sql("read the baseline", read)?;
        let mut todo = Todo::blank(Uid(uid.cast_unsigned()));
        todo.fields = view.parse("the baseline", &body)?;
        todo.updated_at = updated_at;
        plan.put(todo);
    }
    Ok(plan)
}

/// Exports the events before a revision, folds them into the baseline and deletes them.
pub(super) fn prune(view: &SqliteTransaction<'_>, before: u64, export: &mut dyn Write) -> Result<u64, StoreError> {
    let mut folded = baseline(view)?;
    let mut touched = BTreeSet::new();
    let mut last = None;
    let mut count = 0;
    let failed = |cause| fail::failed(view.path, format!("cannot export events, none were deleted: {cause}"));
    each(view, &format!("{SELECT} WHERE plan = ?1 AND revision < ?2 ORDER BY revision, seq"), before, &mut |event| {
        baseline::export(&event, export).map_err(failed)?;
        baseline::advance(&mut folded, &event);
        if let Patch::Todo(uid, _) = event.patch {
            touched.insert(uid);
        }
        last = Some((event.revision, event.at));
        count += 1;
        Ok(true)
    })?;
    export.flush().map_err(failed)?;
    let Some((last, at)) = last else { return Ok(0) };
    hand_out::prune_completed_files(view, at)?;
    put_baseline(view, &folded, last, touched.into_iter().filter_map(|uid| folded.get(uid)))?;
    let sql = "DELETE FROM event WHERE plan = ?1 AND revision <= ?2";
    view.execute("delete events", sql, params![view.plan.0, last.cast_signed()])?;
    Ok(count)
}

/// Writes what folding starts from, at a revision; only `todos` differ from what is there.
pub(super) fn put_baseline<'a>(
    view: &SqliteTransaction<'_>,
    folded: &Plan,
    revision: u64,
    todos: impl Iterator<Item = &'a Todo>,
) -> Result<(), StoreError> {
    let (what, plan) = ("write the baseline", view.plan.0);
    let row = view.to_json("the baseline", &folded.row)?;
    view.execute(what, "INSERT OR REPLACE INTO baseline (plan, row) VALUES (?1, ?2)", params![plan, row])?;
    for todo in todos {
        let body = view.to_json("the baseline", &todo.fields)?;
        let sql = "INSERT OR REPLACE INTO baseline_todo (plan, uid, updated_at, body) VALUES (?1, ?2, ?3, ?4)";
        view.execute(what, sql, params![plan, todo.uid.0.cast_signed(), todo.updated_at, body])?;
    }
    let sql = "UPDATE plan SET pruned = ?2 WHERE id = ?1";
    view.execute(what, sql, params![plan, revision.cast_signed()]).map(|_| ())
}
