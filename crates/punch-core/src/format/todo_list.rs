//! The lists of todo tools: TodoWrite, OpenCode, and their relatives with ids and dependencies. The whole list is in
//! one JSON value, `{"todos": […]}` or bare.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::build::{DocumentBuilder, json, wrong};
use super::plan_file::four;
use super::{Format, extra};
use crate::{Document, ParsedDocument, Record, Refusal, Status};

/// Reads a list of TodoWrite.
pub(super) fn read_todowrite(text: &str) -> Result<ParsedDocument, Refusal> {
    read(text, Format::TodoWrite)
}

/// Reads a list of OpenCode.
pub(super) fn read_opencode(text: &str) -> Result<ParsedDocument, Refusal> {
    read(text, Format::OpenCode)
}

fn read(text: &str, format: Format) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(format);
    for (n, todo) in todos(json(text)?, &["todos"], &mut build)?.into_iter().enumerate() {
        let Some(mut item) = build.item(todo, &format!("todos[{n}]")) else { continue };
        let standing = item.status("status", &[]);
        let mut depends_on = item.ids("dependencies");
        depends_on.extend(item.ids("blockedBy"));
        let content = item.content(&["content", "description"]);
        let record = Record {
            id: item.filled("id"),
            active_form: item.filled("activeForm").filter(|form| *form != content),
            content,
            status: standing.state,
            hold: standing.hold,
            priority: priority(&mut item),
            depends_on,
            ..Record::default()
        };
        build.push(record, item);
    }
    build.finish()
}

/// Finds the list in a value: bare, or under one of these keys. Other keys are reported.
pub(super) fn todos(value: Value, keys: &[&str], build: &mut DocumentBuilder) -> Result<Vec<Value>, Refusal> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Object(mut map) => {
            let key = keys.iter().find(|key| map.contains_key(**key)).copied().unwrap_or(keys[0]);
            let list = crate::json::take(&mut map, key);
            map.keys().for_each(|key| build.ignore(key));
            match list {
                Some(Value::Array(list)) => Ok(list),
                _ => Err(wrong(key, "must be a list")),
            }
        }
        _ => Err(wrong("", format!("must be a list, or an object with `{}`", keys[0]))),
    }
}

/// `high`, `medium`, `low`, also `critical`; absent and medium are the usual priority.
pub(super) fn priority(item: &mut super::input_object::InputObject) -> Option<u8> {
    let word = item.filled("priority")?;
    match word.to_ascii_lowercase().as_str() {
        "critical" => Some(1),
        "high" => Some(2),
        "medium" => None,
        "low" => Some(4),
        _ => {
            let shown = crate::text::neutral(&crate::text::clip(&word, 40)).into_owned();
            item.wrong("priority", format!("`{shown}` is not a priority; use high, medium or low"));
            None
        }
    }
}

/// The word for a priority; first and last are rounded.
pub(super) fn priority_name(record: &Record, lost: &mut BTreeSet<String>) -> &'static str {
    let priority = record.priority.unwrap_or(3);
    if matches!(priority, 1 | 5) {
        lost.insert("priority 1 and 5 (written as high and low)".to_owned());
    }
    match priority {
        0..=2 => "high",
        3 => "medium",
        _ => "low",
    }
}

/// The word for a status in formats that have three: what was given up is left out.
pub(super) fn three(record: &Record, lost: &mut BTreeSet<String>) -> Option<&'static str> {
    match record.status.stored() {
        gone @ (Status::Cancelled | Status::Failed) => {
            lost.insert(format!("todos that are {}", gone.name()));
            None
        }
        status => Some(status.name()),
    }
}

/// Writes `{"todos": [{content, status, activeForm}]}`. The tool has no word for what was given up, so those are left
/// out.
pub(super) fn write_todowrite(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let todo = |record: &Record| {
        let status = three(record, lost)?;
        let form = record.active_form.as_deref().unwrap_or(&record.content);
        let mut out = json!({"content": record.content, "status": status, "activeForm": form});
        restore(record, Format::TodoWrite, &mut out);
        Some(out)
    };
    let todos: Vec<Value> = document.records.iter().filter_map(todo).collect();
    lines("{\"todos\": [", &todos, "]}")
}

/// Writes `[{content, status, priority}]`.
pub(super) fn write_opencode(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let todo = |record: &Record| {
        let status = four(record.status.stored(), lost);
        let mut out = json!({"content": record.content, "status": status, "priority": priority_name(record, lost)});
        restore(record, Format::OpenCode, &mut out);
        out
    };
    let todos: Vec<Value> = document.records.iter().map(todo).collect();
    lines("[", &todos, "]")
}

/// Adds what a record keeps for this format.
pub(super) fn restore(record: &Record, format: Format, out: &mut Value) {
    if let Value::Object(map) = out {
        extra::restore(record, format.name(), map);
    }
}

/// A list with one item a line, so that versions of it compare well.
pub(super) fn lines(before: &str, items: &[Value], after: &str) -> String {
    let mut out = before.to_owned();
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at == 0 { "\n  " } else { ",\n  " });
        out.push_str(&item.to_string());
    }
    out.push_str(if items.is_empty() { "" } else { "\n" });
    out.push_str(after);
    out.push('\n');
    out
}
