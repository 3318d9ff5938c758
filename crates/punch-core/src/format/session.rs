//! Session files of oh-my-pi: one entry a line; the last one that holds a list counts. That is a successful call of
//! the todo tool, or an edit by the user.

use serde_json::Value;

use super::Format;
use super::build::{DocumentBuilder, wrong};
use super::phases::take;
use crate::dialect::phases::{TaskPhase, phases_from_json};
use crate::{ParsedDocument, Refusal};

/// Reads the last list of a session.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::PhasesSession);
    let mut found: Option<Vec<TaskPhase>> = None;
    for (at, line) in text.lines().enumerate() {
        // Entries are long, and few of them are about todos.
        if !line.contains("\"phases\"") {
            continue;
        }
        let Ok(entry) = serde_json::from_str::<Value>(line) else {
            build.ignore(&format!("line {} (not JSON)", at + 1));
            continue;
        };
        let Some(phases) = phases_in(&entry) else { continue };
        match phases_from_json(phases) {
            Ok(phases) => found = Some(phases),
            Err(refusal) => build.ignore(&format!("line {}: {}", at + 1, refusal.message())),
        }
    }
    let Some(phases) = found else { return Err(wrong("", "no todo list in this session")) };
    take(&mut build, phases);
    build.finish()
}

fn phases_in(entry: &Value) -> Option<&Value> {
    let list = |value: &'_ Value| value.is_array();
    if entry.get("customType").and_then(Value::as_str) == Some("user_todo_edit") {
        return entry.get("data")?.get("phases").filter(|value| list(value));
    }
    let message = entry.get("message").unwrap_or(entry);
    let tool = message.get("toolName").and_then(Value::as_str)?;
    let failed = message.get("isError") == Some(&Value::Bool(true));
    if failed || !["todo_write", "todo"].contains(&tool) {
        return None;
    }
    message.get("details")?.get("phases").filter(|value| list(value))
}
