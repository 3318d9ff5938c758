//! Entries that Punchlist wants in a JSON file, and how its own entries are recognized among those of others.

use serde_json::Value;

/// One wanted entry. Paths are member names from the top of the file.
#[derive(Clone, Debug)]
pub enum Entry {
    /// This member, at the end of the path. If the value is an object, other members inside it are left alone.
    Member(Vec<String>, Value),
    /// Our MCP server, at the end of the path. A server of the same name that starts another program is never touched.
    Server(Vec<String>, Value),
    /// This member only if there is none yet. It stays at uninstall unless it is all that is left in a file we made.
    Default(Vec<String>, Value),
    /// One scalar item of the array at the end of the path.
    Item(Vec<String>, Value),
    /// The hooks of one agent, below `hooks`.
    Hooks(Hooks),
}

/// The hooks of one agent: one group for each event. A hook of ours for an event that is not listed here comes from
/// another version and is removed.
#[derive(Clone, Debug)]
pub struct Hooks {
    /// The agent's name, as in `punch hook --agent NAME`.
    pub agent: &'static str,
    /// Events with the group that belongs into the array of each.
    pub events: Vec<(String, Value)>,
}

/// Where all agents keep their hooks.
pub const HOOKS: &str = "hooks";

impl Entry {
    /// The path to it; for hooks, to the object that holds the events.
    pub fn path(&self) -> Vec<&str> {
        match self {
            Self::Member(path, _) | Self::Server(path, _) | Self::Default(path, _) | Self::Item(path, _) => {
                path.iter().map(String::as_str).collect()
            }
            Self::Hooks(_) => vec![HOOKS],
        }
    }
}

/// Turns names into a path.
pub fn path<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// Returns true if every command in a group of hooks calls `punch hook` for this agent.
pub fn is_our_group(group: &Value, agent: &str) -> bool {
    match &group[HOOKS] {
        Value::Array(handlers) => !handlers.is_empty() && handlers.iter().all(|handler| is_our_handler(handler, agent)),
        _ => is_our_handler(group, agent),
    }
}

/// Returns true if a hook calls `punch hook` for this agent.
pub fn is_our_handler(handler: &Value, agent: &str) -> bool {
    handler["command"].as_str().and_then(called_agent) == Some(agent)
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
