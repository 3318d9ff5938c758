//! The schema of a call: typed ops, or a refusal of the whole call.

use serde_json::{Map, Value};

use super::list::invalid;
use crate::{Refusal, text};

/// One op that passed the schema. An empty string counts as absent, as the format requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhaseOp {
    /// Replaces the whole list.
    Init {
        /// The new phases; absent is an error of the op, not of the call.
        list: Option<Vec<PhaseInput>>,
    },
    /// Makes one task the active one.
    Start {
        /// The content of the task.
        task: Option<String>,
    },
    /// Completes.
    Done(PhasesTarget),
    /// Abandons.
    Drop(PhasesTarget),
    /// Removes tasks; phases stay.
    Rm(PhasesTarget),
    /// Adds tasks at the end of a phase.
    Append {
        /// The name; a missing phase is made.
        phase: Option<String>,
        /// Contents in order.
        items: Option<Vec<String>>,
    },
    /// Adds a note.
    Note {
        /// The content of the task.
        task: Option<String>,
        /// The note.
        text: Option<String>,
    },
}

/// A phase as `init` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseInput {
    /// The name, possibly empty.
    pub name: String,
    /// Contents in order, at least one.
    pub items: Vec<String>,
}

/// What `done`, `drop` and `rm` act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhasesTarget {
    /// The first task with this content.
    Task(String),
    /// Every task of the first phase with this name.
    Phase(String),
    /// Every task.
    All,
}

/// Reads the parameters of the tool, `{"ops": [...]}`.
pub fn parse_params(params: &Value) -> Result<Vec<PhaseOp>, Refusal> {
    let params = params.as_object().ok_or_else(|| invalid("", "the parameters must be an object with `ops`"))?;
    parse_ops(params.get("ops").unwrap_or(&Value::Null))
}

/// Reads the `ops` array alone.
pub fn parse_ops(ops: &Value) -> Result<Vec<PhaseOp>, Refusal> {
    let ops = full_array(ops, "ops")?;
    ops.iter().enumerate().map(|(i, op)| parse_op(op, &format!("ops[{i}]"))).collect()
}

/// Every known field is checked whatever the op is, because one schema covers all of them.
fn parse_op(value: &Value, at: &str) -> Result<PhaseOp, Refusal> {
    let fields = value.as_object().ok_or_else(|| invalid(at, "must be an object"))?;
    let op = fields.get("op").and_then(Value::as_str);
    let op = op.ok_or_else(|| invalid(format!("{at}.op"), format!("must be one of {OPS}")))?;
    let list = fields.get("list").map(|list| parse_list(list, &format!("{at}.list"))).transpose()?;
    let items = fields.get("items").map(|items| strings(items, &format!("{at}.items"))).transpose()?;
    let task = optional_string(fields, "task", at)?;
    let phase = optional_string(fields, "phase", at)?;
    let text = optional_string(fields, "text", at)?;
    Ok(match op {
        "init" => PhaseOp::Init { list },
        "start" => PhaseOp::Start { task },
        "done" => PhaseOp::Done(target(task, phase)),
        "drop" => PhaseOp::Drop(target(task, phase)),
        "rm" => PhaseOp::Rm(target(task, phase)),
        "append" => PhaseOp::Append { phase, items },
        "note" => PhaseOp::Note { task, text },
        other => {
            let what = format!("unknown op `{}`, must be one of {OPS}", text::clip(other, 80));
            return Err(invalid(format!("{at}.op"), what));
        }
    })
}

const OPS: &str = "init, start, done, drop, rm, append, note";

fn target(task: Option<String>, phase: Option<String>) -> PhasesTarget {
    match (task, phase) {
        (Some(task), _) => PhasesTarget::Task(task),
        (None, Some(phase)) => PhasesTarget::Phase(phase),
        (None, None) => PhasesTarget::All,
    }
}

fn parse_list(value: &Value, at: &str) -> Result<Vec<PhaseInput>, Refusal> {
    let list = value.as_array().ok_or_else(|| invalid(at, "must be an array"))?;
    let entry = |(i, value): (usize, &Value)| {
        let at = format!("{at}[{i}]");
        let fields = value.as_object().ok_or_else(|| invalid(&at, "must be an object"))?;
        let name = fields.get("phase").and_then(Value::as_str);
        let name = name.ok_or_else(|| invalid(format!("{at}.phase"), "must be a string"))?.to_owned();
        let items = strings(fields.get("items").unwrap_or(&Value::Null), &format!("{at}.items"))?;
        Ok(PhaseInput { name, items })
    };
    list.iter().enumerate().map(entry).collect()
}

fn strings(value: &Value, at: &str) -> Result<Vec<String>, Refusal> {
    let item = |(i, item): (usize, &Value)| {
        item.as_str().map(str::to_owned).ok_or_else(|| invalid(format!("{at}[{i}]"), "must be a string"))
    };
    full_array(value, at)?.iter().enumerate().map(item).collect()
}

fn full_array<'a>(value: &'a Value, at: &str) -> Result<&'a [Value], Refusal> {
    match value.as_array() {
        Some(array) if !array.is_empty() => Ok(array),
        _ => Err(invalid(at, "must be an array with at least one entry")),
    }
}

fn optional_string(fields: &Map<String, Value>, key: &str, at: &str) -> Result<Option<String>, Refusal> {
    match fields.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(invalid(format!("{at}.{key}"), "must be a string")),
    }
}
