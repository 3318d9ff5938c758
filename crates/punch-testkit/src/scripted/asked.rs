//! A client's request, without its wire format: what the model would read and which tools it could call.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a request says.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The model's name.
    pub model: String,
    /// Everything the model would read, one string per line.
    pub text: String,
    /// The part that came since the model's last answer.
    pub news: String,
    /// The tools, by the full name under which the client offers them.
    pub tools: BTreeMap<String, ToolOffer>,
    /// The answer is to come as a stream.
    pub stream: bool,
}

/// How a tool was offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOffer {
    /// Its name inside a namespace; empty if there is none.
    pub bare: String,
    /// The namespace.
    pub namespace: String,
    /// It takes free text instead of JSON.
    pub free_text: bool,
}

impl ModelRequest {
    /// The offered tool that a script means. `mcp:SERVER/TOOL` fits the name that ends in the tool and has the server
    /// in front of it: every client joins them in its own way.
    pub fn find(&self, wanted: &str) -> Option<&str> {
        let Some((server, tool)) = wanted.strip_prefix("mcp:").and_then(|rest| rest.split_once('/')) else {
            return self.tools.get_key_value(wanted).map(|(name, _)| name.as_str());
        };
        let fits = |name: &&String| name.strip_suffix(tool).is_some_and(|front| front.contains(server));
        self.tools.keys().find(fits).map(String::as_str)
    }
}

/// All strings of a value, one per line: what the model would read. Iterative, because the value comes from outside.
pub fn flat(value: &Value) -> String {
    let mut out = String::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => {
                // Names of parts, not words to the model.
                let read = |key: &str| !matches!(key, "type" | "role" | "id" | "signature" | "call_id" | "tool_use_id");
                open.extend(fields.iter().rev().filter(|(key, _)| read(key)).map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    out
}

/// The strings of those messages that came after the last one by the model.
pub fn flat_since(messages: Option<&Value>, by_model: impl Fn(&Value) -> bool) -> String {
    let messages = messages.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let from = messages.iter().rposition(by_model).map_or(0, |last| last + 1);
    messages[from..].iter().map(flat).collect()
}
