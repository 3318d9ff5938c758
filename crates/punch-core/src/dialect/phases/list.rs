//! The list as the dialect shows it, and its JSON.

use serde_json::{Map, Value, json};

use crate::{PhaseUid, Refusal, Status, Uid};

/// A phase with its tasks; names may repeat and tasks may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPhase {
    /// The phase of the plan it came from, or none if it is new.
    pub uid: Option<PhaseUid>,
    /// The name as given, white space included.
    pub name: String,
    /// The tasks of the phase, in order.
    pub tasks: Vec<PhaseTask>,
}

/// One task, named by its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseTask {
    /// The todo of the plan it came from, or none if it is new.
    pub uid: Option<Uid>,
    /// The content as given, white space included.
    pub content: String,
    /// Never `failed`: this format has no word for it.
    pub status: Status,
    /// Oldest first.
    pub notes: Vec<String>,
}

impl TaskPhase {
    /// A new phase without tasks.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl PhaseTask {
    /// A new task without notes.
    pub fn new(content: impl Into<String>, status: Status) -> Self {
        Self { content: content.into(), status, ..Self::default() }
    }
}

/// The word of this format for a status.
pub const fn status_name(status: Status) -> &'static str {
    match status {
        // A failed todo is shown as the nearest closed state this format has.
        Status::Cancelled | Status::Failed => "abandoned",
        other => other.name(),
    }
}

fn status_from(word: &str) -> Option<Status> {
    [Status::Pending, Status::InProgress, Status::Completed, Status::Cancelled]
        .into_iter()
        .find(|status| status_name(*status) == word)
}

/// Reads `[{name, tasks: [{content, status, notes?}]}]`.
pub fn phases_from_json(value: &Value) -> Result<Vec<TaskPhase>, Refusal> {
    let phases = value.as_array().ok_or_else(|| invalid("phases", "must be an array"))?;
    phases.iter().enumerate().map(|(i, phase)| phase_from_json(phase, &format!("phases[{i}]"))).collect()
}

fn phase_from_json(value: &Value, at: &str) -> Result<TaskPhase, Refusal> {
    let name = string_at(value, "name", at)?;
    let tasks = value.get("tasks").and_then(Value::as_array);
    let tasks = tasks.ok_or_else(|| invalid(format!("{at}.tasks"), "must be an array"))?;
    let tasks = tasks.iter().enumerate().map(|(i, task)| task_from_json(task, &format!("{at}.tasks[{i}]")));
    Ok(TaskPhase { uid: None, name, tasks: tasks.collect::<Result<_, _>>()? })
}

fn task_from_json(value: &Value, at: &str) -> Result<PhaseTask, Refusal> {
    let content = string_at(value, "content", at)?;
    let word = string_at(value, "status", at)?;
    let status = status_from(&word)
        .ok_or_else(|| invalid(format!("{at}.status"), "must be one of pending, in_progress, completed, abandoned"))?;
    let notes = match value.get("notes") {
        None => Vec::new(),
        Some(notes) => notes
            .as_array()
            .and_then(|notes| notes.iter().map(|note| note.as_str().map(str::to_owned)).collect())
            .ok_or_else(|| invalid(format!("{at}.notes"), "must be an array of strings"))?,
    };
    Ok(PhaseTask { uid: None, content, status, notes })
}

fn string_at(value: &Value, key: &str, at: &str) -> Result<String, Refusal> {
    let text = value.get(key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| invalid(format!("{at}.{key}"), "must be a string"))
}

/// Writes what [`phases_from_json`] reads; tasks without notes have no `notes`.
pub fn phases_to_json(phases: &[TaskPhase]) -> Value {
    phases.iter().map(|phase| json!({"name": phase.name, "tasks": tasks_to_json(&phase.tasks)})).collect()
}

fn tasks_to_json(tasks: &[PhaseTask]) -> Value {
    let task_json = |task: &PhaseTask| {
        let mut fields = Map::new();
        fields.insert("content".into(), task.content.as_str().into());
        fields.insert("status".into(), status_name(task.status).into());
        if !task.notes.is_empty() {
            fields.insert("notes".into(), task.notes.as_slice().into());
        }
        Value::Object(fields)
    };
    tasks.iter().map(task_json).collect()
}

/// A refusal for a place of the wrong shape.
pub(super) fn invalid(at: impl Into<String>, what: impl Into<String>) -> Refusal {
    Refusal::Invalid { at: at.into(), what: what.into() }
}
