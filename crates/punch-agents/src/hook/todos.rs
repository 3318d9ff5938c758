//! Reads calls of agents' own todo tools, as far as possible. A call that is not about todos is ignored.

use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostRowChange, HostStatus, MAX_ROWS};
use serde_json::Value;

use super::HookReport;
use super::field::{string, truth};
use crate::{TodoCall, TodoTool};

/// Characters of a text before it is cut to what the plan allows.
const LONGEST: usize = 64 * 1024;

/// Values that are looked through for a text in a tool's answer.
const LOOKED_AT: usize = 1_000;

/// What a call of an agent's own todo tool did.
#[derive(Clone, Debug)]
pub struct TodoUpdate {
    /// The tool.
    pub tool: &'static TodoTool,
    /// What it did to its list.
    pub told: HostListUpdate,
}

/// What a report says about the agent's own list; `name` is the tool that was used.
pub fn todo_update(report: &HookReport, name: &str) -> Option<TodoUpdate> {
    let tool = report.agent.todo_tool(name)?;
    // The agent itself refused the call.
    if report.output.get("success").and_then(Value::as_bool) == Some(false) {
        return None;
    }
    let told = match tool.call {
        TodoCall::Create => HostListUpdate::Create(created(&report.input, &report.output)?),
        TodoCall::Update => HostListUpdate::Change(updated(&report.input)?),
        TodoCall::WriteList => list(&report.input)?,
    };
    Some(TodoUpdate { tool, told })
}

/// The number after `rev` on the last line of one of our tools' answers.
pub fn receipt(output: &Value) -> Option<u64> {
    texts(output).into_iter().find_map(|text| {
        let last = text.trim_end().lines().next_back()?.trim();
        // One agent wraps what a server says.
        let last = last.strip_suffix("</untrusted_context>").unwrap_or(last);
        let last = if last.is_empty() { text.trim_end().lines().rev().nth(1)?.trim() } else { last };
        last.strip_prefix("rev ")?.parse().ok()
    })
}

fn list(input: &Value) -> Option<HostListUpdate> {
    let mut rows: Vec<HostRow> = match input.get("todos").or_else(|| input.get("plan"))? {
        Value::Array(rows) => rows.iter().take(MAX_ROWS).filter_map(row).collect(),
        Value::String(text) => text.lines().filter_map(line).take(MAX_ROWS).collect(),
        _ => return None,
    };
    if !truth(input, "merge") {
        return Some(HostListUpdate::List(rows));
    }
    // In a merge an empty field says nothing (rule 11).
    rows.iter_mut().for_each(|row| row.blocked_by = row.blocked_by.take().filter(|keys| !keys.is_empty()));
    Some(HostListUpdate::Merge(rows))
}

fn row(item: &Value) -> Option<HostRow> {
    item.as_object()?;
    Some(HostRow {
        uid: None,
        key: key(item, &["id"]),
        content: text(item, &["content", "step", "description", "title", "subject"]).unwrap_or_default(),
        active_form: text(item, &["activeForm", "active_form"]),
        description: None,
        status: string(item, &["status"]).map(HostStatus::read).unwrap_or_default(),
        priority: priority(item),
        blocked_by: keys(item, "blockedBy").or_else(|| keys(item, "dependencies")),
        unshown: false,
        unsaid: string(item, &["status"]).is_none_or(str::is_empty),
    })
}

/// `2. [in_progress] Write the tests`, the list of an agent that writes it as one text.
fn line(said: &str) -> Option<HostRow> {
    let said = said.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let (status, content) = said.strip_prefix('[')?.split_once(']')?;
    row(&serde_json::json!({"content": content.trim(), "status": status}))
}

fn created(input: &Value, output: &Value) -> Option<HostRow> {
    Some(HostRow {
        key: number(output),
        content: text(input, &["subject", "title"])?,
        active_form: text(input, &["activeForm"]),
        description: text(input, &["description"]),
        ..HostRow::default()
    })
}

/// `Task #1 created successfully: …`, or the task itself.
fn number(output: &Value) -> Option<String> {
    let task = output.get("task").unwrap_or(output);
    if let Some(key) = key(task, &["id", "taskId"]) {
        return Some(key);
    }
    texts(output).into_iter().find_map(|text| {
        let (_, rest) = text.split_once("Task #")?;
        let (number, after) = rest.split_once(' ')?;
        (after.starts_with("created") && !number.is_empty() && number.len() <= 100).then(|| number.to_owned())
    })
}

fn updated(input: &Value) -> Option<HostRowChange> {
    let status = string(input, &["status"]);
    Some(HostRowChange {
        key: key(input, &["taskId", "task_id", "id"])?,
        content: text(input, &["subject"]),
        active_form: text(input, &["activeForm"]),
        description: text(input, &["description"]),
        status: status.filter(|word| *word != "deleted").map(HostStatus::read),
        deleted: status == Some("deleted"),
        blocks: keys(input, "addBlocks").unwrap_or_default(),
        blocked_by: keys(input, "addBlockedBy").unwrap_or_default(),
    })
}

fn text(item: &Value, names: &[&str]) -> Option<String> {
    string(item, names).map(|text| punch_core::text::clip(text, LONGEST).into_owned())
}

fn key(item: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| item.get(name))?;
    let key = found.as_str().map(str::to_owned).or_else(|| found.as_u64().map(|number| number.to_string()))?;
    (!key.is_empty() && key.len() <= 400).then_some(key)
}

fn keys(item: &Value, name: &str) -> Option<Vec<String>> {
    let list = item.get(name)?.as_array()?;
    Some(list.iter().take(100).filter_map(|one| key(&serde_json::json!({"id": one}), &["id"])).collect())
}

fn priority(item: &Value) -> Option<u8> {
    match item.get("priority")? {
        Value::String(word) => match word.as_str() {
            "high" => Some(2),
            "medium" => Some(3),
            "low" => Some(4),
            _ => None,
        },
        _ => None,
    }
}

/// Every text in a value, nearest to the top first.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    let mut queue = std::collections::VecDeque::from([value]);
    let (mut out, mut looked) = (Vec::new(), 0);
    while let Some(value) = queue.pop_front().filter(|_| looked < LOOKED_AT) {
        looked += 1;
        match value {
            Value::String(text) => out.push(text.as_str()),
            Value::Array(items) => queue.extend(items.iter().take(LOOKED_AT)),
            Value::Object(map) => queue.extend(map.values().take(LOOKED_AT)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    out
}
