//! Cursor's two TodoItem messages in the JSON form of protocol buffers: names in camel case or as declared, enums by
//! name or number, 64-bit numbers as strings or numbers, defaults left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::build::{DocumentBuilder, json};
use super::input_object::InputObject;
use super::plan_file::four;
use super::{Format, todo_list};
use crate::{Document, ParsedDocument, Record, Refusal};

/// The enum `agent.v1.TodoStatus`.
const NAMES: [&str; 5] = ["UNSPECIFIED", "PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED"];

/// Reads items of `aiserver.v1`.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    read_as(text, Format::CursorTodos)
}

/// Reads items of `agent.v1`.
pub(super) fn read_agent(text: &str) -> Result<ParsedDocument, Refusal> {
    read_as(text, Format::CursorAgent)
}

/// Both messages are read alike; what differs is which fields are there.
fn read_as(text: &str, format: Format) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(format);
    let todos = todo_list::todos(json(text)?, &["todos", "finalTodos", "final_todos"], &mut build)?;
    for (n, todo) in todos.into_iter().enumerate() {
        let Some(mut item) = build.item(todo, &format!("todos[{n}]")) else { continue };
        by_number(&mut item);
        let standing = item.status("status", &["TODO_STATUS_…"]);
        let record = Record {
            id: item.filled("id"),
            content: item.content(&["content"]),
            status: standing.state,
            hold: standing.hold,
            depends_on: item.ids("dependencies"),
            created_at: millis(&mut item, &["createdAt", "created_at"]).filter(|at| *at != 0),
            updated_at: millis(&mut item, &["updatedAt", "updated_at"]).filter(|at| *at != 0),
            ..Record::default()
        };
        build.push(record, item);
    }
    build.finish()
}

fn by_number(item: &mut InputObject) {
    match item.take("status") {
        Some(Value::Number(number)) => {
            let name = number.as_u64().and_then(|n| NAMES.get(usize::try_from(n).ok()?));
            item.put("status", name.map_or_else(|| number.to_string(), |name| (*name).to_owned()).into());
        }
        Some(Value::String(word)) if word.is_empty() => {}
        Some(other) => item.put("status", other),
        None => {}
    }
}

fn millis(item: &mut InputObject, keys: &[&str]) -> Option<i64> {
    for key in keys {
        if let Some(word) = item.text(key) {
            let number = word.parse().ok();
            if number.is_none() {
                item.wrong(key, "must be a whole number (milliseconds)");
            }
            return number;
        }
    }
    None
}

/// Writes items of `aiserver.v1`.
pub(super) fn write_simple(document: &Document, lost: &mut BTreeSet<String>) -> String {
    write(
        document,
        |record, out| {
            out.insert("status".to_owned(), four(record.status.stored(), lost).into());
        },
        Format::CursorTodos,
    )
}

/// Writes items of `agent.v1`.
pub(super) fn write_agent(document: &Document, lost: &mut BTreeSet<String>) -> String {
    write(
        document,
        |record, out| {
            let word = four(record.status.stored(), lost).to_ascii_uppercase();
            out.insert("status".to_owned(), format!("TODO_STATUS_{word}").into());
            if let Some(at) = record.created_at {
                out.insert("createdAt".to_owned(), at.to_string().into());
            }
            if let Some(at) = record.updated_at {
                out.insert("updatedAt".to_owned(), at.to_string().into());
            }
        },
        Format::CursorAgent,
    )
}

fn write(document: &Document, mut fields: impl FnMut(&Record, &mut Map<String, Value>), format: Format) -> String {
    let mut todos = Vec::with_capacity(document.records.len());
    for record in &document.records {
        let mut out = Map::new();
        out.insert("id".to_owned(), record.id.as_deref().unwrap_or_default().into());
        out.insert("content".to_owned(), record.content.as_str().into());
        fields(record, &mut out);
        if !record.depends_on.is_empty() {
            out.insert("dependencies".to_owned(), json!(record.depends_on));
        }
        let mut out = Value::Object(out);
        todo_list::restore(record, format, &mut out);
        todos.push(out);
    }
    todo_list::lines("{\"todos\": [", &todos, "]}")
}
