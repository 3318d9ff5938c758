//! Claude Code's tasks: one JSON file each in a folder. As one text they are an object from file names to tasks; a
//! list, one task, or one task a line are read as well.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::build::{DocumentBuilder, rows};
use super::{Format, extra};
use crate::{Document, ParsedDocument, Record, Refusal, Status};

/// Reads tasks.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::ClaudeTasks);
    let mut tasks: Vec<(String, Value)> = Vec::new();
    for (at, value) in rows(text)? {
        match value {
            Value::Object(files) if !files.contains_key("subject") && files.values().all(Value::is_object) => {
                tasks.extend(files);
            }
            task => tasks.push((at, task)),
        }
    }
    // Files of a folder come in any order; the tasks have numbers.
    tasks.sort_by_key(|(_, task)| task.get("id").and_then(number).unwrap_or(u64::MAX));
    for (at, task) in tasks {
        let Some(mut item) = build.item(task, &at) else { continue };
        let standing = item.status("status", &[]);
        let record = Record {
            id: item.filled("id"),
            content: item.content(&["subject"]),
            description: item.filled("description"),
            active_form: item.filled("activeForm"),
            status: standing.state,
            hold: standing.hold,
            depends_on: item.ids("blockedBy"),
            blocks: item.ids("blocks"),
            ..Record::default()
        };
        build.push(record, item);
    }
    build.finish()
}

fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// Writes the object from file names to tasks. Its ids are numbers, so others are numbered again.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let ids = numbered(document, |id| id.parse::<u32>().is_ok_and(|n| n > 0 && n.to_string() == id));
    let id = |at: usize| ids[at].clone();
    let places = document.places_of_ids();
    let mut blocks: Vec<Vec<String>> = vec![Vec::new(); document.records.len()];
    for (at, record) in document.records.iter().enumerate() {
        for dep in &record.depends_on {
            match places.get(dep.as_str()) {
                Some(on) => blocks[*on].push(id(at)),
                None => drop(lost.insert("dependencies on unknown ids".to_owned())),
            }
        }
    }
    let mut files = Map::new();
    for (at, record) in document.records.iter().enumerate() {
        let status = match record.status.stored() {
            gone @ (Status::Cancelled | Status::Failed) => {
                lost.insert(format!("status {} (written as completed)", gone.name()));
                Status::Completed.name()
            }
            status => status.name(),
        };
        let waits: Vec<String> =
            record.depends_on.iter().filter_map(|dep| places.get(dep.as_str())).map(|on| id(*on)).collect();
        let description = record.description.as_deref().unwrap_or_default();
        let mut task = json!({"id": id(at), "subject": record.content, "description": description});
        if let Value::Object(map) = &mut task {
            if let Some(form) = &record.active_form {
                map.insert("activeForm".to_owned(), form.as_str().into());
            }
            map.insert("status".to_owned(), status.into());
            map.insert("blocks".to_owned(), blocks[at].as_slice().into());
            map.insert("blockedBy".to_owned(), waits.into());
            extra::restore(record, Format::ClaudeTasks.name(), map);
        }
        files.insert(format!("{}.json", id(at)), task);
    }
    let mut out = serde_json::to_string_pretty(&files).unwrap_or_default();
    out.push('\n');
    out
}

/// The ids of a document if the format takes them all, otherwise numbers from 1.
pub(super) fn numbered(document: &Document, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let own: Option<Vec<String>> = document.records.iter().map(|r| r.id.clone().filter(|id| fits(id))).collect();
    own.unwrap_or_else(|| (1..=document.records.len()).map(|n| n.to_string()).collect())
}
