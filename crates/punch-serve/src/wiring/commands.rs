//! Recognizes our own entries in a JSON file among those of others.

pub use punch_agents::settings::{HOOKS, Hooks, SERVER_VERB, SettingsEntry};
use serde_json::Value;

/// Returns true if every command in a group of hooks calls `punch hook` for this agent.
pub fn is_our_group(group: &Value, agent: &str) -> bool {
    match &group[HOOKS] {
        Value::Array(handlers) => !handlers.is_empty() && handlers.iter().all(|handler| is_our_handler(handler, agent)),
        _ => is_our_handler(group, agent),
    }
}

/// Returns true if a hook calls `punch hook` for this agent. One agent has the command under the name of its shell.
pub fn is_our_handler(handler: &Value, agent: &str) -> bool {
    let command = handler["command"].as_str().or_else(|| handler["bash"].as_str());
    command.and_then(called_agent) == Some(agent)
}

/// Returns true if an MCP server starts `punch`, wherever that is installed.
pub fn is_our_server(server: &Value) -> bool {
    let command = match &server["command"] {
        Value::Array(words) => words.first().and_then(Value::as_str),
        command => command.as_str(),
    };
    command.is_some_and(names_punch)
}

/// Our server entry, with the arguments of the existing one unless others are requested, because the user may have
/// chosen a dialect or more tools.
pub fn with_kept_arguments(wanted: &Value, there: &Value) -> Value {
    let mut out = wanted.clone();
    let (list, first) = if wanted["command"].is_array() { ("command", 1) } else { ("args", 0) };
    let words = |server: &Value| server[list].as_array().and_then(|words| words.get(first..)).map(<[Value]>::to_vec);
    if let (Some(ours), Some(theirs)) = (words(wanted), words(there))
        && is_default_call(&ours)
        && theirs.first() == ours.first()
        && let Some(all) = out[list].as_array_mut()
    {
        all.truncate(first);
        all.extend(theirs);
    }
    out
}

/// Returns true if these arguments start the server and choose nothing.
pub fn is_default_call(arguments: &[Value]) -> bool {
    matches!(arguments, [Value::String(verb)] if verb == SERVER_VERB)
}

/// Returns true if a path leads to a program called `punch`.
pub fn names_punch(program: &str) -> bool {
    let name = program.rsplit(['/', '\\', ' ', '\'', '"']).next().unwrap_or_default();
    name.trim_end_matches(".exe") == "punch"
}

/// The agent in `… punch hook --agent NAME …`.
fn called_agent(command: &str) -> Option<&str> {
    let (program, rest) = command.split_once(" hook --agent ")?;
    let name = rest.split(' ').next()?;
    names_punch(program.trim_end_matches(['\'', '"', ' '])).then_some(name)
}
