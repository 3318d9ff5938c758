//! The TodoWrite tool: full replacement, at most 20 todos, one in progress, a rendered list as the answer.

use serde_json::{Value, json};

use super::input::{invalid, list, object, text};
use super::list::{ListItem, RowName, SessionList, match_rows};
use crate::view::Progress;
use crate::view::checklist;
use crate::{Plan, Refusal, Status, Uid};

pub use super::list::policy;

/// Todos in one call.
pub const MAX_TODOS: usize = 20;
/// UTF-16 units in content and activeForm.
pub const MAX_LENGTH: usize = 500;

/// One todo as this dialect shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoWriteRow {
    /// The handle, if it is known.
    pub uid: Option<Uid>,
    /// The id, if the payload or the plan has one.
    pub id: Option<String>,
    /// Imperative.
    pub content: String,
    /// Pending, in progress or completed.
    pub status: Status,
    /// Present tense.
    pub active_form: String,
}

impl TodoWriteRow {
    fn name(&self) -> RowName<'_> {
        RowName { uid: self.uid, id: self.id.as_deref(), content: &self.content }
    }
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoWriteRefusal {
    /// The shape is wrong.
    Invalid(Refusal),
    /// More than one todo in progress.
    ManyInProgress,
}

impl TodoWriteRefusal {
    /// The seed's own sentence for the second kind.
    pub const MANY: &'static str = "Only one task can be in_progress at a time";
}

/// The plan as this dialect shows it: cancelled todos are left out, failed ones are pending again.
pub fn project(plan: &Plan) -> Vec<TodoWriteRow> {
    let shown = plan.live().into_iter().filter(|todo| todo.status != Status::Cancelled);
    shown
        .map(|todo| TodoWriteRow {
            uid: Some(todo.uid),
            id: Some(todo.id.clone()),
            content: todo.content.clone(),
            status: if todo.status == Status::Failed { Status::Pending } else { todo.status },
            active_form: todo.active_text().to_owned(),
        })
        .collect()
}

/// Reads and validates a call.
pub fn read(call: &Value) -> Result<Vec<TodoWriteRow>, TodoWriteRefusal> {
    let rows = read_rows(call).map_err(TodoWriteRefusal::Invalid)?;
    if rows.iter().filter(|row| row.status == Status::InProgress).count() > 1 {
        return Err(TodoWriteRefusal::ManyInProgress);
    }
    Ok(rows)
}

fn read_rows(call: &Value) -> Result<Vec<TodoWriteRow>, Refusal> {
    let todos = list(object(call, "")?, "todos", "")?;
    if todos.len() > MAX_TODOS {
        return Err(invalid("todos", format!("{} todos, at most {MAX_TODOS} fit in one call", todos.len())));
    }
    let row = |(n, item)| read_row(item).map_err(|refusal| below(refusal, n));
    todos.iter().enumerate().map(row).collect()
}

fn read_row(item: &Value) -> Result<TodoWriteRow, Refusal> {
    let map = object(item, "")?;
    let required = |key: &str| -> Result<String, Refusal> {
        let value = text(map, key, "")?.ok_or_else(|| invalid(key, "missing"))?;
        let length = crate::text::utf16_len(value);
        match length {
            _ if crate::text::is_blank(value) => Err(invalid(key, "must not be empty")),
            // One line: another one could look like a row of the list that the model reads.
            0..=MAX_LENGTH => Ok(crate::text::one_line(value)),
            _ => Err(invalid(key, format!("{length} characters, at most {MAX_LENGTH} fit"))),
        }
    };
    let status = match text(map, "status", "")? {
        Some("pending") => Status::Pending,
        Some("in_progress") => Status::InProgress,
        Some("completed") => Status::Completed,
        Some(word) => {
            let what = format!("`{}` is none of pending, in_progress, completed", crate::text::clip(word, 40));
            return Err(invalid("status", what));
        }
        None => return Err(invalid("status", "missing")),
    };
    let id = text(map, "id", "")?.filter(|id| !id.is_empty()).map(str::to_owned);
    Ok(TodoWriteRow { uid: None, id, content: required("content")?, status, active_form: required("activeForm")? })
}

/// A refusal of the n-th row, with its place in the call.
fn below(refusal: Refusal, n: usize) -> Refusal {
    match refusal {
        Refusal::Invalid { at, what } if at.is_empty() => Refusal::Invalid { at: format!("todos[{n}]"), what },
        Refusal::Invalid { at, what } => Refusal::Invalid { at: format!("todos[{n}].{at}"), what },
        other => other,
    }
}

/// Full replacement: payload rows get the handles of the todos they mean.
pub fn step(shown: &[TodoWriteRow], call: Vec<TodoWriteRow>) -> Vec<TodoWriteRow> {
    let mut rows = call;
    // An id names the first row that has it.
    let mut seen = std::collections::HashSet::new();
    for row in &mut rows {
        if row.id.as_ref().is_some_and(|id| !seen.insert(id.clone())) {
            row.id = None;
        }
    }
    let uids = {
        let (rows, shown): (Vec<_>, Vec<_>) =
            (rows.iter().map(TodoWriteRow::name).collect(), shown.iter().map(TodoWriteRow::name).collect());
        match_rows(&rows, &shown)
    };
    rows.iter_mut().zip(uids).for_each(|(row, uid)| row.uid = uid);
    rows
}

/// The rendered list that the model sees.
pub fn render(rows: &[TodoWriteRow]) -> String {
    checklist::render(rows.iter().map(|row| (row.status, row.content.as_str(), row.active_form.as_str())))
}

/// Completed of total, cancelled ones not shown and not counted.
pub fn progress(rows: &[TodoWriteRow]) -> Value {
    let completed = rows.iter().filter(|row| row.status == Status::Completed).count() as u64;
    let total = rows.len() as u64;
    json!({"completed": completed, "total": total, "percent": Progress { completed, total }.percent()})
}

/// The items in the tool's own form.
pub fn items(rows: &[TodoWriteRow]) -> Value {
    let item = |row: &TodoWriteRow| json!({"content": row.content, "status": row.status.name(), "activeForm": row.active_form});
    rows.iter().map(item).collect()
}

/// The list for [`super::list::diff`].
pub fn to_list(rows: Vec<TodoWriteRow>) -> SessionList {
    let item = |row: TodoWriteRow| ListItem {
        uid: row.uid,
        id: row.id,
        content: row.content,
        active_form: Some(row.active_form),
        status: row.status,
        ..ListItem::default()
    };
    SessionList { phases: Vec::new(), items: rows.into_iter().map(item).collect() }
}
