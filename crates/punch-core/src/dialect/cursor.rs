//! Cursor's todo tool: merge or replace, dependencies by id, ready ids by subagent mode.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::input::{invalid, list, object, text, texts};
use super::list::{ListItem, SessionList};
use crate::{Dep, MissingDep, OnCycle, OnRemove, Plan, Policy, Refusal, Status, Todo, Uid};

/// How eagerly ready work is handed to subagents (rule 40).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DelegationMode {
    /// No subagents.
    Off,
    /// Allowed, not asked for.
    #[default]
    Conservative,
    /// The ready ids are returned and asked to be handed out.
    Aggressive,
}

impl DelegationMode {
    /// Reads the wire name.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Self::Off),
            "conservative" => Some(Self::Conservative),
            "aggressive" => Some(Self::Aggressive),
            _ => None,
        }
    }
}

/// One todo as this dialect shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorRow {
    /// The handle, if it is known.
    pub uid: Option<Uid>,
    /// The id as given.
    pub id: String,
    /// The content as given, even if empty.
    pub content: String,
    /// `failed` shows as pending.
    pub status: Status,
    /// The dependencies in the order given.
    pub dependencies: Vec<String>,
}

/// A call after reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorCall {
    /// Update by id instead of replacing everything.
    pub merge: bool,
    /// The payload.
    pub todos: Vec<CursorTodo>,
}

/// One todo of a payload; empty means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CursorTodo {
    /// Empty asks for a made one.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// `None` is not given.
    pub status: Option<Status>,
    /// Ids.
    pub dependencies: Vec<String>,
}

/// The answer of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorAnswer {
    /// The list before.
    pub initial: Vec<CursorRow>,
    /// The list after.
    pub list: Vec<CursorRow>,
    /// The call was a merge.
    pub merged: bool,
    /// Ids that a replacement gave more than once; the last one counts.
    pub folded: Vec<String>,
    /// Ids of completed todos that are not in the list, where it is only a part of a large plan.
    pub done_elsewhere: Vec<String>,
}

impl CursorAnswer {
    /// Returns the ids of pending todos whose dependencies are all completed, in list order.
    pub fn ready(&self) -> Vec<&str> {
        ready(&self.list, &self.done_elsewhere)
    }
}

/// The policy of this dialect on a plan.
pub fn policy(plan: Policy) -> Policy {
    Policy {
        on_cycle: OnCycle::Suspend,
        missing_dep: MissingDep::Dangle,
        on_remove: OnRemove::Dangle,
        ..super::list::policy(plan)
    }
}

/// The plan as this dialect shows it.
pub fn project(plan: &Plan) -> Vec<CursorRow> {
    plan.live().into_iter().map(|todo| row(plan, todo)).collect()
}

fn row(plan: &Plan, todo: &Todo) -> CursorRow {
    let name = |dep: &Dep| match dep {
        Dep::On(to) | Dep::Suspended(to) => plan.get(*to).map(|t| t.id.clone()).unwrap_or_default(),
        Dep::Dangling(id) => id.clone(),
    };
    CursorRow {
        uid: Some(todo.uid),
        id: todo.id.clone(),
        content: todo.content.clone(),
        status: if todo.status == Status::Failed { Status::Pending } else { todo.status },
        dependencies: todo.depends_on.iter().map(name).collect(),
    }
}

/// Reads a call.
pub fn read(call: &Value) -> Result<CursorCall, Refusal> {
    let map = object(call, "")?;
    let merge = match map.get("merge") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(merge)) => *merge,
        Some(_) => return Err(invalid("merge", "expected true or false")),
    };
    let mut todos = Vec::new();
    for (n, item) in list(map, "todos", "")?.iter().enumerate() {
        let at = format!("todos[{n}]");
        let map = object(item, &at)?;
        let status = match text(map, "status", &at)? {
            None | Some("") => None,
            Some(word) => Some(Status::parse(word).filter(|s| *s != Status::Failed).ok_or_else(|| {
                let what =
                    format!("`{}` is none of pending, in_progress, completed, cancelled", crate::text::clip(word, 40));
                invalid(format!("{at}.status"), what)
            })?),
        };
        todos.push(CursorTodo {
            id: text(map, "id", &at)?.unwrap_or_default().to_owned(),
            content: text(map, "content", &at)?.unwrap_or_default().to_owned(),
            status,
            dependencies: texts(map, "dependencies", &at)?.unwrap_or_default(),
        });
    }
    Ok(CursorCall { merge, todos })
}

/// The seed's own algorithm on the list. `make_id` answers a fresh id for todos that come without one.
pub fn step(initial: &[CursorRow], call: &CursorCall, make_id: &mut dyn FnMut() -> String) -> CursorAnswer {
    let mut rows: Vec<CursorRow> = if call.merge { initial.to_vec() } else { Vec::new() };
    let known: HashMap<&str, Uid> = initial.iter().filter_map(|row| Some((row.id.as_str(), row.uid?))).collect();
    let mut index: HashMap<String, usize> = rows.iter().enumerate().map(|(n, row)| (row.id.clone(), n)).collect();
    let mut folded = Vec::new();
    for given in &call.todos {
        let id = if given.id.is_empty() { make_id() } else { given.id.clone() };
        let fresh = CursorRow {
            uid: known.get(id.as_str()).copied(),
            id: id.clone(),
            content: given.content.clone(),
            status: given.status.unwrap_or_default(),
            dependencies: given.dependencies.clone(),
        };
        match index.get(&id) {
            None => {
                index.insert(id, rows.len());
                rows.push(fresh);
            }
            Some(n) if call.merge => merge(&mut rows[*n], given),
            Some(n) => {
                folded.push(id);
                rows[*n] = fresh;
            }
        }
    }
    CursorAnswer { initial: initial.to_vec(), list: rows, merged: call.merge, folded, done_elsewhere: Vec::new() }
}

fn merge(row: &mut CursorRow, given: &CursorTodo) {
    if !given.content.is_empty() {
        row.content.clone_from(&given.content);
    }
    if let Some(status) = given.status {
        row.status = status;
    }
    if !given.dependencies.is_empty() {
        row.dependencies.clone_from(&given.dependencies);
    }
}

fn ready<'r>(rows: &'r [CursorRow], elsewhere: &[String]) -> Vec<&'r str> {
    let done = rows.iter().filter(|r| r.status == Status::Completed).map(|r| r.id.as_str());
    let done: HashSet<&str> = done.chain(elsewhere.iter().map(String::as_str)).collect();
    rows.iter()
        .filter(|r| r.status == Status::Pending && r.dependencies.iter().all(|dep| done.contains(dep.as_str())))
        .map(|r| r.id.as_str())
        .collect()
}

/// Something is pending and nothing is in progress.
pub fn needs_in_progress(rows: &[CursorRow]) -> bool {
    rows.iter().any(|r| r.status == Status::Pending) && rows.iter().all(|r| r.status != Status::InProgress)
}

/// The answer in the tool's own form.
pub fn answer(answer: &CursorAnswer, mode: DelegationMode) -> Value {
    let ready = if mode == DelegationMode::Aggressive { answer.ready() } else { Vec::new() };
    json!({
        "success": true,
        "readyTaskIds": ready,
        "needsInProgressTodos": needs_in_progress(&answer.list),
        "finalTodos": rows_json(&answer.list),
        "initialTodos": rows_json(&answer.initial),
        "wasMerge": answer.merged,
    })
}

fn rows_json(rows: &[CursorRow]) -> Value {
    let row = |r: &CursorRow| json!({"id": r.id, "content": r.content, "status": r.status.name(), "dependencies": r.dependencies});
    rows.iter().map(row).collect()
}

/// The list for [`super::list::diff`].
pub fn to_list(rows: &[CursorRow]) -> SessionList {
    let item = |row: &CursorRow| ListItem {
        uid: row.uid,
        id: Some(row.id.clone()),
        content: row.content.clone(),
        status: row.status,
        depends_on: Some(row.dependencies.clone()),
        ..ListItem::default()
    };
    SessionList { phases: Vec::new(), items: rows.iter().map(item).collect() }
}
