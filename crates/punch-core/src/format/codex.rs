//! Plans of Codex: the arguments of `update_plan`, or a session file with such calls, of which the last counts. The
//! stream of `codex exec --json` has the same list as items of the type `todo_list`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::build::{DocumentBuilder, wrong};
use super::{Format, todo_list};
use crate::{Document, ParsedDocument, Record, RecordStatus, Refusal, Status};

/// Reads a plan.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::Codex);
    let value = match serde_json::from_str(text) {
        Ok(value) => match plan_in(&value) {
            Some(plan) => plan,
            None => value,
        },
        Err(error) => last(text, &mut build).ok_or_else(|| wrong("", format!("not a Codex plan: {error}")))?,
    };
    for (n, step) in todo_list::todos(value, &["plan"], &mut build)?.into_iter().enumerate() {
        let Some(mut item) = build.item(step, &format!("plan[{n}]")) else { continue };
        let standing = match item.take("completed") {
            Some(Value::Bool(done)) => RecordStatus::Stored(if done { Status::Completed } else { Status::Pending }),
            Some(other) => {
                item.put("completed", other);
                item.status("status", &[]).state
            }
            None => item.status("status", &[]).state,
        };
        let record = Record { content: item.content(&["step", "text"]), status: standing, ..Record::default() };
        build.push(record, item);
    }
    build.finish()
}

/// The last plan in a file with one object a line. Lines without one are not looked at closely: they are long.
fn last(text: &str, build: &mut DocumentBuilder) -> Option<Value> {
    let mut found = None;
    for (at, line) in text.lines().enumerate() {
        if !["update_plan", "plan_update", "todo_list"].iter().any(|word| line.contains(word)) {
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(value) => found = plan_in(&value).or(found),
            Err(_) => build.ignore(&format!("line {} (not JSON)", at + 1)),
        }
    }
    found
}

/// The plan in one entry of a session file.
fn plan_in(entry: &Value) -> Option<Value> {
    let payload = entry.get("payload").or_else(|| entry.get("item")).or_else(|| entry.get("msg")).unwrap_or(entry);
    match payload.get("type")?.as_str()? {
        "function_call" | "custom_tool_call" if payload.get("name")?.as_str()? == "update_plan" => {
            let arguments = payload.get("arguments").or_else(|| payload.get("input"))?;
            let arguments: Value = match arguments {
                Value::String(text) => serde_json::from_str(text).ok()?,
                other => other.clone(),
            };
            arguments.get("plan").filter(|plan| plan.is_array()).cloned()
        }
        "plan_update" => payload.get("plan").filter(|plan| plan.is_array()).cloned(),
        "todo_list" => payload.get("items").filter(|items| items.is_array()).cloned(),
        _ => None,
    }
}

/// Writes the arguments of `update_plan`. It has three statuses: what was given up is left out.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let step = |record: &Record| {
        let status = todo_list::three(record, lost)?;
        Some(json!({"step": record.content, "status": status}))
    };
    let steps: Vec<Value> = document.records.iter().filter_map(step).collect();
    todo_list::lines("{\"plan\": [", &steps, "]}")
}
