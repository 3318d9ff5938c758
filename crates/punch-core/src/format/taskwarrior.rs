//! Taskwarrior's export: a list, or one object per line. Projects become phases, annotations become notes; a task that
//! waits for a date is on hold until then.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::build::{DocumentBuilder, rows};
use super::input_object::{InputObject, hold};
use super::{Format, extra, labels, time, todo_list};
use crate::{Document, HoldKind, ParsedDocument, Record, RecordStatus, Refusal, Remark, Status};

/// Reads an export.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::Taskwarrior);
    for (at, value) in rows(text)? {
        let Some(mut item) = build.item(value, &at) else { continue };
        let record = task(&mut item);
        build.push(record, item);
    }
    build.finish()
}

fn task(item: &mut InputObject) -> Record {
    let mut record = Record {
        id: item.filled("uuid"),
        content: item.content(&["description"]),
        phase: item.filled("project"),
        depends_on: item.ids("depends"),
        created_at: item.time("entry"),
        finished_at: item.time("end"),
        started_at: item.time("start"),
        priority: priority(item),
        labels: labels::take(item, "tags"),
        ..Record::default()
    };
    let wait = item.time("wait");
    let word = item.text("status").unwrap_or_else(|| "pending".to_owned());
    record.status = RecordStatus::Stored(match word.as_str() {
        "pending" | "waiting" if record.started_at.is_some() => Status::InProgress,
        "pending" | "waiting" | "recurring" => Status::Pending,
        "completed" => Status::Completed,
        "deleted" => Status::Cancelled,
        _ => {
            item.wrong("status", "must be pending, waiting, recurring, completed or deleted");
            Status::Pending
        }
    });
    if record.status.stored() == Status::Pending {
        record.started_at = None;
        record.hold = match (word.as_str(), wait) {
            ("recurring", _) => Some(hold(HoldKind::Other, "recurring")),
            (_, Some(_)) => Some(crate::Hold { until: wait, ..hold(HoldKind::Timer, "wait") }),
            ("waiting", None) => Some(hold(HoldKind::Other, "waiting")),
            _ => None,
        };
    }
    if let Some(wait) = wait.filter(|_| record.hold.as_ref().is_none_or(|hold| hold.until.is_none())) {
        item.put("wait", time::compact(wait).into());
    }
    for (n, note) in item.list("annotations").into_iter().enumerate() {
        let at = note.get("entry").and_then(Value::as_str).and_then(time::parse);
        match note.get("description").and_then(Value::as_str) {
            Some(text) => record.notes.push(Remark { text: text.to_owned(), at, by: None }),
            None => item.wrong(&format!("annotations[{n}].description"), "is missing"),
        }
    }
    // Both follow from the other fields.
    item.take("urgency");
    item.take("id");
    record
}

fn priority(item: &mut InputObject) -> Option<u8> {
    match item.filled("priority")?.as_str() {
        "H" => Some(2),
        "M" => {
            item.put("priority", "M".into());
            None
        }
        "L" => Some(4),
        other => {
            // Users may define their own levels.
            item.put("priority", other.into());
            None
        }
    }
}

/// Writes a list. Tasks are known by uuids there: other ids get one that always comes out the same.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let uuids: Vec<String> = document.records.iter().enumerate().map(|(at, r)| uuid(r.id.as_deref(), at)).collect();
    let places = document.places_of_ids();
    let mut tasks = Vec::with_capacity(document.records.len());
    for (at, record) in document.records.iter().enumerate() {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
        put("uuid", uuids[at].as_str().into());
        put("description", record.content.as_str().into());
        put("status", status(record, lost).into());
        put("entry", time::compact(record.created_at.unwrap_or_default()).into());
        if let Some(project) = &record.phase {
            put("project", project.as_str().into());
        }
        match record.priority.unwrap_or(3) {
            1 | 2 => put("priority", "H".into()),
            4 | 5 => put("priority", "L".into()),
            _ => {}
        }
        if record.priority.is_some_and(|priority| matches!(priority, 1 | 5)) {
            lost.insert("priority 1 and 5 (written as H and L)".to_owned());
        }
        if let Some(tags) = labels::list(record, Format::Taskwarrior.name(), "tags") {
            put("tags", tags);
        }
        times(record, &mut put);
        let waits: Vec<String> = record
            .depends_on
            .iter()
            .filter_map(|dep| {
                places.get(dep.as_str()).map(|on| uuids[*on].clone()).or_else(|| is_uuid(dep).then(|| dep.clone()))
            })
            .collect();
        if waits.len() < record.depends_on.len() {
            lost.insert("dependencies on unknown ids".to_owned());
        }
        if !waits.is_empty() {
            put("depends", waits.into());
        }
        let note =
            |note: &Remark| json!({"entry": time::compact(note.at.unwrap_or_default()), "description": note.text});
        if !record.notes.is_empty() {
            put("annotations", record.notes.iter().map(note).collect());
        }
        extra::restore(record, Format::Taskwarrior.name(), &mut out);
        tasks.push(Value::Object(out));
    }
    todo_list::lines("[", &tasks, "]")
}

fn status(record: &Record, lost: &mut BTreeSet<String>) -> &'static str {
    match (record.status.stored(), &record.hold) {
        (Status::Pending, Some(hold)) if hold.reason == "recurring" => "recurring",
        (Status::Pending, Some(hold)) => {
            if !["wait", "waiting"].contains(&hold.reason.as_str()) {
                lost.insert("why todos are on hold".to_owned());
            }
            "waiting"
        }
        (Status::Pending | Status::InProgress, _) => "pending",
        (Status::Completed, _) => "completed",
        (Status::Cancelled, _) => "deleted",
        (Status::Failed, _) => {
            lost.insert("status failed (written as deleted)".to_owned());
            "deleted"
        }
    }
}

fn times(record: &Record, put: &mut impl FnMut(&str, Value)) {
    let created = record.created_at.unwrap_or_default();
    if record.status.stored() == Status::InProgress {
        put("start", time::compact(record.started_at.unwrap_or(created)).into());
    } else if let Some(started) = record.started_at {
        put("start", time::compact(started).into());
    }
    if !record.status.stored().is_open() {
        put("end", time::compact(record.finished_at.unwrap_or(created)).into());
    }
    if let Some(until) = record.hold.as_ref().and_then(|hold| hold.until) {
        put("wait", time::compact(until).into());
    }
}

fn is_uuid(id: &str) -> bool {
    let shape = |(n, b): (usize, u8)| if matches!(n, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() };
    id.len() == 36 && id.bytes().enumerate().all(shape)
}

/// The id itself if it is a uuid, otherwise one made of it (version 8, FNV-1a twice).
fn uuid(id: Option<&str>, at: usize) -> String {
    let id = id.map_or_else(|| format!("#{at}"), str::to_owned);
    if is_uuid(&id) {
        return id;
    }
    let hash = |seed: u64| id.bytes().fold(seed, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142));
    let (high, low) = (a & 0xffff_ffff_ffff_0fff | 0x8000, b & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000);
    let hex = format!("{high:016x}{low:016x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
