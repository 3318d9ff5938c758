//! Cursor's todo tool as its own code does it: a list in memory, merge or replace, ready ids by one scan. On purpose
//! ids are unique: in a replacement the last of several todos with one id counts, at the place of the first; and a
//! dependency named twice is named once.

use serde_json::{Value, json};

/// One todo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorSeedTodo {
    /// As given; the caller names the others.
    pub id: String,
    /// As given.
    pub content: String,
    /// As given, or pending.
    pub status: String,
    /// As given.
    pub dependencies: Vec<String>,
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Runs one well-formed call on the list.
pub fn call(list: &mut Vec<CursorSeedTodo>, call: &Value, make_id: &mut dyn FnMut() -> String) {
    let merge = call["merge"] == true;
    let mut todos = if merge { list.clone() } else { Vec::new() };
    for given in call["todos"].as_array().into_iter().flatten() {
        let mut dependencies: Vec<String> = Vec::new();
        for dep in given["dependencies"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !dependencies.iter().any(|known| known == dep) {
                dependencies.push(dep.to_owned());
            }
        }
        let id = Some(text(given, "id")).filter(|id| !id.is_empty()).unwrap_or_else(&mut *make_id);
        let (content, status) = (text(given, "content"), text(given, "status"));
        match todos.iter_mut().find(|todo| todo.id == id) {
            Some(existing) if merge => {
                if !content.is_empty() {
                    existing.content = content;
                }
                if !status.is_empty() {
                    existing.status = status;
                }
                if !dependencies.is_empty() {
                    existing.dependencies = dependencies;
                }
            }
            found => {
                let status = if status.is_empty() { "pending".to_owned() } else { status };
                let new = CursorSeedTodo { id, content, status, dependencies };
                match found {
                    Some(earlier) => *earlier = new,
                    None => todos.push(new),
                }
            }
        }
    }
    *list = todos;
}

/// `findReadyTasks`, word for word.
pub fn ready(list: &[CursorSeedTodo]) -> Vec<String> {
    let completed = |id: &String| list.iter().any(|todo| todo.status == "completed" && todo.id == *id);
    let ready = list.iter().filter(|todo| todo.status == "pending" && todo.dependencies.iter().all(completed));
    ready.map(|todo| todo.id.clone()).collect()
}

/// Something pending, nothing in progress.
pub fn needs_in_progress(list: &[CursorSeedTodo]) -> bool {
    list.iter().any(|todo| todo.status == "pending") && list.iter().all(|todo| todo.status != "in_progress")
}

/// The list in the tool's own form.
pub fn rows(list: &[CursorSeedTodo]) -> Value {
    let row = |t: &CursorSeedTodo| json!({"id": t.id, "content": t.content, "status": t.status, "dependencies": t.dependencies});
    list.iter().map(row).collect()
}

/// Has the call the shape that the tool's schema asks for? Absent and null are the same.
pub fn valid(call: &Value) -> bool {
    let word = |value: &Value| matches!(value, Value::Null | Value::String(_));
    let words = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.iter().all(Value::is_string),
        _ => false,
    };
    let status = |value: &Value| match value {
        Value::Null => true,
        Value::String(word) => ["", "pending", "in_progress", "completed", "cancelled"].contains(&word.as_str()),
        _ => false,
    };
    let todo = |todo: &Value| {
        todo.is_object()
            && word(&todo["id"])
            && word(&todo["content"])
            && status(&todo["status"])
            && words(&todo["dependencies"])
    };
    matches!(call["merge"], Value::Null | Value::Bool(_))
        && call["todos"].as_array().is_some_and(|todos| todos.iter().all(todo))
}
