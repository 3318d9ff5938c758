//! The log: whole revisions in order, and the baseline that pruned ones left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use crate::answer::SqlRow;
use punch_core::{Event, EventKind, Patch, Plan, Todo, Uid};
use punch_store::{PlanId, StoreError, backend};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as KindError, StrDeserializer};

use crate::escape::escape;
use crate::link::{Statement, ask};
use crate::value::{Columns, SqlValue, count, most};
use crate::view::PgTransaction;
use crate::{fail, hand_out};

/// Events of one statement.
const CHUNK: usize = 5_000;

/// Events that are read at a time, and whole revisions beyond.
const PAGE: usize = 10_000;

pub const APPEND: &str = "INSERT INTO punch.event (plan, revision, seq, at, kind, by, owner, undoes, uid, patch) \
                      SELECT $1, n.* FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::text[], $6::text[], $7::text[], \
                      $8::int8[], $9::int8[], $10::text[]) AS n";
const OF: &str = "SELECT revision, seq, at, kind, by, patch, owner, undoes FROM punch.event \
                  WHERE plan = $1 AND revision = ANY($2) ORDER BY revision, seq";
/// The page ends with the revision in which its limit is reached.
const SINCE: &str = "SELECT revision, seq, at, kind, by, patch, owner, undoes FROM punch.event \
                     WHERE plan = $1 AND revision > $2 AND revision < $4 AND revision <= coalesce((SELECT revision FROM punch.event \
                     WHERE plan = $1 AND revision > $2 ORDER BY plan, revision, seq OFFSET $3 LIMIT 1), 9223372036854775807) \
                     ORDER BY plan, revision, seq";

/// Queues events of a transaction.
pub fn append(view: &PgTransaction<'_>, events: &[Event]) -> Result<(), StoreError> {
    for chunk in events.chunks(CHUNK) {
        let ints = |of: &dyn Fn(&Event) -> Option<i64>| SqlValue::Ints(chunk.iter().map(of).collect());
        let texts = |of: &dyn Fn(&Event) -> Option<String>| {
            SqlValue::Texts(chunk.iter().map(|event| of(event).map(|text| escape(&text).into_owned())).collect())
        };
        let mut patches = Vec::with_capacity(chunk.len());
        for event in chunk {
            patches.push(Some(escape(&view.to_json("an event", &event.patch)?).into_owned()));
        }
        let uid = |event: &Event| if let Patch::Todo(uid, _) = event.patch { Some(uid.0.cast_signed()) } else { None };
        let params = vec![
            view.plan.0.into(),
            ints(&|event| Some(event.revision.cast_signed())),
            ints(&|event| Some(event.seq.into())),
            ints(&|event| Some(event.at)),
            texts(&|event| Some(event.kind.name().to_owned())),
            texts(&|event| Some(event.by.clone())),
            texts(&|event| event.owner.clone()),
            ints(&|event| event.undoes.map(u64::cast_signed)),
            ints(&uid),
            SqlValue::Texts(patches),
        ];
        view.enqueue(Statement { what: "write events", sql: APPEND, params });
    }
    Ok(())
}

/// The question for the events of some revisions.
pub fn ask_of(plan: PlanId, revisions: &BTreeSet<u64>) -> Statement {
    let revisions = revisions.iter().map(|revision| Some(most(*revision))).collect();
    Statement { what: "read events", sql: OF, params: vec![plan.0.into(), SqlValue::Ints(revisions)] }
}

/// Events by their revision.
pub fn by_revision(view: &PgTransaction<'_>, rows: &[SqlRow]) -> Result<BTreeMap<u64, Vec<Event>>, StoreError> {
    let mut out: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
    for row in rows {
        let event = decode(view, row)?;
        out.entry(event.revision).or_default().push(event);
    }
    Ok(out)
}

/// Whole revisions after `since`, until there are `limit` events.
pub fn since(view: &PgTransaction<'_>, since: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
    between(view, since, u64::MAX, limit)
}

fn between(view: &PgTransaction<'_>, since: u64, before: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let ask = ask!("read events", SINCE, view.plan.0, most(since), count(limit - 1), most(before));
    view.ask(ask)?.iter().map(|row| decode(view, row)).collect()
}

/// The events of one revision.
pub fn of(view: &PgTransaction<'_>, revision: u64) -> Result<Vec<Event>, StoreError> {
    view.ask(ask_of(view.plan, &[revision].into()))?.iter().map(|row| decode(view, row)).collect()
}

fn decode(view: &PgTransaction<'_>, row: &SqlRow) -> Result<Event, StoreError> {
    let label = view.store.label();
    let read = || -> Result<Result<Event, String>, crate::answer::WireError> {
        let revision = row.int(0)?.cast_unsigned();
        let name = row.text(3)?;
        let word: StrDeserializer<'_, KindError> = name.as_str().into_deserializer();
        let kind = EventKind::deserialize(word).map_err(|e| e.to_string());
        let patch = serde_json::from_str(&row.text(5)?).map_err(|e| e.to_string());
        let (seq, at, by, owner) = (row.small(1)?, row.int(2)?, row.text(4)?, row.maybe_text(6)?);
        let undoes = row.maybe_int(7)?.map(i64::cast_unsigned);
        Ok(kind
            .and_then(|kind| patch.map(|patch| Event { revision, seq, kind, at, by, patch, owner, undoes }))
            .map_err(|why| format!("an event of revision {revision} cannot be read: {why}")))
    };
    let read = read().map_err(|e| fail::sql(label, "read events", &e))?;
    read.map_err(|why| fail::damaged(label, why))
}

/// What folding starts from.
pub fn baseline(view: &PgTransaction<'_>) -> Result<Plan, StoreError> {
    const ROW: &str = "SELECT body FROM punch.baseline WHERE plan = $1";
    const TODOS: &str = "SELECT uid, updated_at, body FROM punch.baseline_todo WHERE plan = $1 ORDER BY uid";
    let what = "read the baseline";
    let mut plan = Plan::new();
    let Some(row) = view.first(ask!(what, ROW, view.plan.0), |row| row.text(0))? else { return Ok(plan) };
    plan.row = view.parse("the baseline", &row)?;
    let todos = view.rows(ask!(what, TODOS, view.plan.0), |row| Ok((row.number(0)?, row.int(1)?, row.text(2)?)))?;
    for (uid, updated_at, body) in todos {
        let mut todo = Todo::blank(Uid(uid));
        todo.fields = view.parse("the baseline", &body)?;
        todo.updated_at = updated_at;
        plan.put(todo);
    }
    Ok(plan)
}

/// Exports the events before a revision, folds them into the baseline and deletes them.
pub fn prune(view: &PgTransaction<'_>, before: u64, export: &mut dyn Write) -> Result<u64, StoreError> {
    let mut folded = baseline(view)?;
    let mut touched = BTreeSet::new();
    let mut last = None;
    let mut counted = 0;
    let failed = |cause| fail::failed(view.store.label(), format!("cannot export events, none were deleted: {cause}"));
    loop {
        let page = between(view, last.map_or(0, |(revision, _)| revision), before, PAGE)?;
        if page.is_empty() {
            break;
        }
        for event in &page {
            backend::export(event, export).map_err(failed)?;
            backend::advance(&mut folded, event);
            if let Patch::Todo(uid, _) = event.patch {
                touched.insert(uid);
            }
            last = Some((event.revision, event.at));
            counted += 1;
        }
    }
    export.flush().map_err(failed)?;
    let Some((last, at)) = last else { return Ok(0) };
    hand_out::prune_completed_files(view, at);
    put_baseline(view, &folded, touched.iter().filter_map(|uid| folded.get(*uid)))?;
    view.change_plan(|info, _| info.pruned = last);
    let what = "delete events";
    view.enqueue(ask!(what, "DELETE FROM punch.event WHERE plan = $1 AND revision <= $2", view.plan.0, most(last)));
    Ok(counted)
}

/// Writes what folding starts from; only `todos` differ from what is there.
pub fn put_baseline<'a>(
    view: &PgTransaction<'_>,
    plan: &Plan,
    todos: impl Iterator<Item = &'a Todo>,
) -> Result<(), StoreError> {
    const ROW: &str =
        "INSERT INTO punch.baseline (plan, body) VALUES ($1, $2) ON CONFLICT (plan) DO UPDATE SET body = $2";
    const TODOS: &str = "INSERT INTO punch.baseline_todo (plan, uid, updated_at, body) \
                         SELECT $1, n.* FROM unnest($2::int8[], $3::int8[], $4::text[]) AS n \
                         ON CONFLICT (plan, uid) DO UPDATE SET updated_at = excluded.updated_at, body = excluded.body";
    let what = "write the baseline";
    view.enqueue(ask!(what, ROW, view.plan.0, view.to_json("the baseline", &plan.row)?));
    let todos: Vec<&Todo> = todos.collect();
    for chunk in todos.chunks(CHUNK) {
        let mut bodies = Vec::with_capacity(chunk.len());
        for todo in chunk {
            bodies.push(Some(escape(&view.to_json("the baseline", &todo.fields)?).into_owned()));
        }
        let uids = SqlValue::uids(chunk.iter().map(|todo| &todo.uid));
        let times = SqlValue::Ints(chunk.iter().map(|todo| Some(todo.updated_at)).collect());
        view.enqueue(Statement {
            what,
            sql: TODOS,
            params: vec![view.plan.0.into(), uids, times, SqlValue::Texts(bodies)],
        });
    }
    Ok(())
}
