//! Issues of beads, one JSON object per line. Dependencies of the type `blocks` become ours; the parent of a
//! `parent-child` link waits for its children; other types do not order work and are kept as extras.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::build::{DocumentBuilder, rows};
use super::input_object::InputObject;
use super::{Format, extra, labels, time};
use crate::{Document, ParsedDocument, Record, RecordStatus, Refusal, Remark, Status, text};

/// The separator between the description and the design of an issue.
const DESIGN: &str = "Design:\n";

/// Reads issues.
pub(super) fn read(input: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::Beads);
    for (at, value) in rows(input)? {
        let Some(mut item) = build.item(value, &at) else { continue };
        let record = issue(&mut item);
        build.push(record, item);
    }
    build.finish()
}

fn issue(item: &mut InputObject) -> Record {
    let word = item.take("status");
    // Soft-deleted issues stay in the file.
    let gone = word.as_ref().and_then(Value::as_str) == Some("tombstone");
    if let Some(word) = word {
        item.put("status", if gone { "cancelled".into() } else { word });
    }
    let mut standing = item.status("status", &["open", "deferred", "closed"]);
    if let Some(reason @ ("cancelled" | "failed")) = item.take("close_reason").as_ref().and_then(|reason| {
        item.put("close_reason", reason.clone());
        reason.as_str()
    }) && standing.state == RecordStatus::Stored(Status::Completed)
    {
        standing.state = RecordStatus::Stored(if reason == "failed" { Status::Failed } else { Status::Cancelled });
        item.take("close_reason");
    }
    let mut record = Record {
        id: item.filled("id"),
        content: item.content(&["title"]),
        status: standing.state,
        hold: standing.hold,
        priority: priority(item),
        labels: labels::take(item, "labels"),
        verification_criteria: item.filled("acceptance_criteria"),
        created_at: item.time("created_at"),
        finished_at: item.time("closed_at"),
        ..Record::default()
    };
    record.description = joined(item.filled("description"), item.filled("design"), DESIGN);
    let note = item.filled("notes").map(|text| Remark { text, at: None, by: None });
    comments(item, &mut record);
    record.notes.extend(note);
    dependencies(item, &mut record);
    record
}

/// 0 (first) to 4 in beads; 2 is the usual one in both.
fn priority(item: &mut InputObject) -> Option<u8> {
    match item.take("priority")?.as_u64() {
        Some(2) => None,
        Some(n @ 0..=4) => u8::try_from(n + 1).ok(),
        _ => {
            item.wrong("priority", "must be 0 to 4");
            None
        }
    }
}

fn comments(item: &mut InputObject, record: &mut Record) {
    for (n, comment) in item.list("comments").into_iter().enumerate() {
        let text = comment.get("text").and_then(Value::as_str);
        let at = comment.get("created_at").and_then(Value::as_str).and_then(time::parse);
        let by = comment.get("author").and_then(Value::as_str).map(str::to_owned);
        match text {
            Some(text) => record.notes.push(Remark { text: text.to_owned(), at, by }),
            None => item.wrong(&format!("comments[{n}].text"), "is missing"),
        }
    }
}

fn dependencies(item: &mut InputObject, record: &mut Record) {
    let mut others = Vec::new();
    for (n, dependency) in item.list("dependencies").into_iter().enumerate() {
        let field = |key: &str| dependency.get(key).and_then(Value::as_str);
        let Some(on) = field("depends_on_id").or_else(|| field("id")).map(str::to_owned) else {
            item.wrong(&format!("dependencies[{n}].depends_on_id"), "is missing");
            continue;
        };
        match field("type").or_else(|| field("dependency_type")).unwrap_or("blocks") {
            "blocks" => record.depends_on.push(on),
            "parent-child" => {
                record.blocks.push(on);
                others.push(dependency);
            }
            _ => others.push(dependency),
        }
    }
    if !others.is_empty() {
        item.put("dependencies", others.into());
    }
}

/// Two texts in one, with a heading between them that the writer finds again.
pub(super) fn joined(first: Option<String>, second: Option<String>, heading: &str) -> Option<String> {
    match (first, second) {
        (first, None) => first,
        (None, Some(second)) => Some(format!("{heading}{second}")),
        (Some(first), Some(second)) => Some(format!("{first}\n\n{heading}{second}")),
    }
}

/// Undoes [`joined`], if that made the text.
pub(super) fn split<'a>(text: &'a str, heading: &str) -> (&'a str, &'a str) {
    let parts = match text.strip_prefix(heading) {
        Some(second) => ("", second),
        None => text.split_once(&format!("\n\n{heading}")).unwrap_or((text, "")),
    };
    let filled = |part: &str| Some(part.to_owned()).filter(|part| !part.is_empty());
    let whole = joined(filled(parts.0), filled(parts.1), heading);
    if whole.as_deref() == Some(text) { parts } else { (text, "") }
}

/// Writes issues.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let mut out = String::new();
    let places = document.places_of_ids();
    for record in &document.records {
        let mut issue = head(record, lost);
        let mut put = |key: &str, value: Value| drop(issue.insert(key.to_owned(), value));
        let id = record.id.as_deref().unwrap_or_default();
        let kept = extra::get(record, Format::Beads.name(), "dependencies").and_then(Value::as_array);
        let mut dependencies: Vec<Value> = kept.cloned().unwrap_or_default();
        for dep in &record.depends_on {
            // The child itself says so already.
            let child = places.get(dep.as_str()).is_some_and(|at| is_child(&document.records[*at], id));
            if !child {
                dependencies.push(json!({"issue_id": id, "depends_on_id": dep, "type": "blocks"}));
            }
        }
        if !dependencies.is_empty() {
            put("dependencies", dependencies.into());
        }
        if let Some(labels) = labels::list(record, Format::Beads.name(), "labels") {
            put("labels", labels);
        }
        comments_of(record, &mut put, id);
        extra::restore(record, Format::Beads.name(), &mut issue);
        if text::utf16_len(&record.content) > 500 {
            lost.insert("titles beyond 500 characters, which beads refuses".to_owned());
        }
        out.push_str(&Value::Object(issue).to_string());
        out.push('\n');
    }
    out
}

fn head(record: &Record, lost: &mut BTreeSet<String>) -> Map<String, Value> {
    let status = record.status.stored();
    let hold = record.hold.as_ref().map(|hold| hold.reason.as_str());
    let word = match (status, hold) {
        (Status::Pending, None) if record.status == RecordStatus::Blocked => "blocked",
        (Status::Pending, None) => "open",
        (Status::Pending, Some("deferred")) => "deferred",
        (Status::Pending, Some(reason)) => {
            if reason != "blocked" {
                lost.insert("why todos are on hold".to_owned());
            }
            "blocked"
        }
        (Status::InProgress, _) => "in_progress",
        (Status::Completed | Status::Cancelled | Status::Failed, _) => "closed",
    };
    let (description, design) = split(record.description.as_deref().unwrap_or_default(), DESIGN);
    let created = record.created_at.unwrap_or_default();
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("id", record.id.as_deref().unwrap_or_default().into());
    put("title", record.content.as_str().into());
    put("description", description.into());
    if !design.is_empty() {
        put("design", design.into());
    }
    if let Some(criteria) = &record.verification_criteria {
        put("acceptance_criteria", criteria.as_str().into());
    }
    put("status", word.into());
    put("priority", (record.priority.unwrap_or(3).clamp(1, 5) - 1).into());
    if extra::get(record, Format::Beads.name(), "issue_type").is_none() {
        put("issue_type", "task".into());
    }
    put("created_at", time::rfc3339(created).into());
    if extra::get(record, Format::Beads.name(), "updated_at").is_none() {
        put("updated_at", time::rfc3339(record.finished_at.unwrap_or(created)).into());
    }
    if word == "closed" {
        put("closed_at", time::rfc3339(record.finished_at.unwrap_or(created)).into());
        if status != Status::Completed {
            put("close_reason", status.name().into());
        }
    }
    out
}

/// The last note without a date is the notes of the issue, the others are comments.
fn comments_of(record: &Record, put: &mut impl FnMut(&str, Value), id: &str) {
    let mut notes = record.notes.as_slice();
    if let Some((last, before)) = notes.split_last()
        && last.at.is_none()
        && last.by.is_none()
    {
        put("notes", last.text.as_str().into());
        notes = before;
    }
    let comment = |(n, note): (usize, &Remark)| {
        let at = time::rfc3339(note.at.unwrap_or_default());
        json!({"id": n + 1, "issue_id": id, "author": note.by.as_deref().unwrap_or_default(), "text": note.text, "created_at": at})
    };
    if !notes.is_empty() {
        put("comments", notes.iter().enumerate().map(comment).collect());
    }
}

fn is_child(record: &Record, of: &str) -> bool {
    let kept = extra::get(record, Format::Beads.name(), "dependencies").and_then(Value::as_array);
    let field = |dependency: &Value, key: &str, value: &str| dependency.get(key).and_then(Value::as_str) == Some(value);
    kept.into_iter().flatten().any(|d| field(d, "type", "parent-child") && field(d, "depends_on_id", of))
}
