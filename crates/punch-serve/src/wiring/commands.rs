//! How our own entries in a JSON file are recognized among those of others.

pub use punch_agents::settings::{Entry, HOOKS, Hooks};
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
