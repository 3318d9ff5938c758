//! Parts of a JSON file that are wanted, and how ours are recognised among others.

use serde_json::Value;

/// One wanted part.
#[derive(Clone, Debug)]
pub enum Entry {
    /// This member, at the end of a path of names. Members beside ours inside it are left alone.
    Member(Vec<&'static str>, Value),
    /// This member only if there is none yet; it stays when we go, unless the file was ours.
    Default(Vec<&'static str>, Value),
    /// One item of the array at the end of a path.
    Item(Vec<&'static str>, Value),
}

impl Entry {
    /// The names that lead to it.
    pub fn path(&self) -> &[&'static str] {
        match self {
            Self::Member(path, _) | Self::Default(path, _) | Self::Item(path, _) => path,
        }
    }
}

/// Whether an item of an array is one of ours, given the item that is wanted there: the same word, or a hook that calls
/// `punch hook --agent` for the same agent.
pub fn is_ours(item: &Value, wanted: &Value) -> bool {
    match (item, wanted) {
        (Value::Object(_), Value::Object(_)) => {
            let handlers = handlers(item);
            !handlers.is_empty() && handlers.iter().all(|handler| calls_punch(handler, wanted))
        }
        _ => item == wanted,
    }
}

/// Whether a handler in a group of several is ours.
pub fn is_our_handler(handler: &Value, wanted: &Value) -> bool {
    calls_punch(handler, wanted)
}

fn handlers(item: &Value) -> Vec<&Value> {
    match &item["hooks"] {
        Value::Array(handlers) => handlers.iter().collect(),
        _ => vec![item],
    }
}

fn calls_punch(handler: &Value, wanted: &Value) -> bool {
    let command = |handler: &Value| handler["command"].as_str().and_then(agent);
    command(handler).is_some() && command(handler) == handlers(wanted).first().and_then(|handler| command(handler))
}

/// The agent in `… hook --agent NAME …`.
fn agent(command: &str) -> Option<String> {
    let (program, rest) = command.split_once(" hook --agent ")?;
    let program = program.trim_end_matches(['\'', '"', ' ']).trim_end_matches(".exe");
    let name = rest.split(' ').next()?;
    program.ends_with("punch").then(|| name.to_owned())
}
