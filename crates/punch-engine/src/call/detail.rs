//! Everything about one todo, in few words: a line for each field that says something.

use punch_core::{Todo, text};
use serde_json::{Map, Value};

use super::render;

/// Remarks of one kind that are shown; the newest are the ones that matter.
const SHOWN: usize = 20;

/// Characters of one field.
const FIELD: usize = 2_000;

/// Shown by the first line, or of no use to the agent that works on it.
const SILENT: [&str; 9] =
    ["id", "content", "status", "phaseIndex", "createdAt", "updatedAt", "startedAt", "finishedAt", "hidden"];

/// The todo's line, then its fields.
pub(super) fn text(todo: &Todo, record: &Map<String, Value>, now: i64) -> String {
    let mut out = vec![render::line(todo, now)];
    for (key, value) in record.iter().filter(|(key, _)| !SILENT.contains(&key.as_str())) {
        match value {
            Value::Array(list) if list.iter().any(Value::is_object) => {
                let left = list.len().saturating_sub(SHOWN);
                if left > 0 {
                    out.push(format!("{key}: {left} older ones are not shown"));
                }
                out.extend(list[left..].iter().map(|item| format!("{key}: {}", words(item))));
            }
            value => out.push(format!("{key}: {}", words(value))),
        }
    }
    out.join("\n")
}

/// A value on one line, safe to show: lists by commas, objects by their values.
fn words(value: &Value) -> String {
    let line = match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let shown = map.iter().filter(|(key, value)| *key != "at" && !value.is_null());
            shown.map(|(key, value)| field(key, value)).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    };
    text::clip(&text::neutral(&line), FIELD).into_owned()
}

fn field(key: &str, value: &Value) -> String {
    if key == "text" { words(value) } else { format!("{key} {}", words(value)) }
}
