//! The TodoWrite tool as its proposal describes it: a list in memory that every valid call replaces.

use serde_json::{Value, json};

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedRefusal {
    /// The shape.
    Invalid,
    /// More than one in progress.
    Many,
}

/// Runs one call on the list of `{content, status, activeForm}`.
pub fn call(list: &mut Vec<Value>, call: &Value) -> Result<(), SeedRefusal> {
    let todos = call["todos"].as_array().filter(|todos| todos.len() <= 20).ok_or(SeedRefusal::Invalid)?;
    let mut next = Vec::new();
    for todo in todos {
        let words = |key: &str| {
            let text = todo[key].as_str().filter(|text| (1..=500).contains(&text.encode_utf16().count()));
            text.ok_or(SeedRefusal::Invalid)
        };
        let status = todo["status"].as_str().unwrap_or_default();
        if !["pending", "in_progress", "completed"].contains(&status) {
            return Err(SeedRefusal::Invalid);
        }
        if !matches!(todo.get("id"), None | Some(Value::Null | Value::String(_))) {
            return Err(SeedRefusal::Invalid);
        }
        next.push(json!({"content": words("content")?, "status": status, "activeForm": words("activeForm")?}));
    }
    if next.iter().filter(|todo| todo["status"] == "in_progress").count() > 1 {
        return Err(SeedRefusal::Many);
    }
    *list = next;
    Ok(())
}

/// Completed, total, and per cent rounded half up; nothing of nothing is 0.
pub fn progress(list: &[Value]) -> Value {
    let completed = list.iter().filter(|todo| todo["status"] == "completed").count();
    let total = list.len();
    let percent = if total == 0 { 0 } else { (completed * 200 + total) / (total * 2) };
    json!({"completed": completed, "total": total, "percent": percent})
}

/// The rendered list.
pub fn render(list: &[Value]) -> String {
    let mut lines = Vec::new();
    for todo in list {
        let content = todo["content"].as_str().unwrap_or_default();
        lines.push(match todo["status"].as_str() {
            Some("completed") => format!("[x] {content}"),
            Some("in_progress") => format!("[>] {content} <- {}", todo["activeForm"].as_str().unwrap_or_default()),
            _ => format!("[ ] {content}"),
        });
    }
    if list.is_empty() {
        return "No todos.".to_owned();
    }
    let completed = list.iter().filter(|todo| todo["status"] == "completed").count();
    lines.push(format!("\n({completed}/{} completed)", list.len()));
    lines.join("\n")
}
