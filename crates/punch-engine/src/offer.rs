//! The tools of each dialect, as clients see them. They are written by hand in `tools/`: every word of them is paid
//! for in every conversation.

use serde_json::{Map, Value};

use crate::call::{Dialect, Tool};

punch_core::words! {
    /// Tools beyond a dialect's own, on demand.
    #[non_exhaustive]
    pub enum ToolGroup {
        /// `todo_claim`.
        Claim = "claim",
        /// `todo_checkpoint`.
        Checkpoint = "checkpoint",
        /// The rarely used fields of `todo_write` and `todo_read`.
        Fields = "fields",
    }
}

/// One tool.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// The name of the tool.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The kind of tool.
    pub tool: Tool,
    /// JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
}

/// The tools of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffers {
    /// The dialect of the tools.
    pub dialect: Dialect,
    /// In the order in which they are listed.
    pub tools: Vec<OfferedTool>,
}

impl ToolOffers {
    /// The tools of a dialect, with groups.
    pub fn new(dialect: Dialect, groups: &[ToolGroup]) -> Self {
        let fields = groups.contains(&ToolGroup::Fields);
        let read = |text| read(text, fields);
        let mut tools = read(match dialect {
            Dialect::Native => include_str!("../tools/native.json"),
            Dialect::Cursor => include_str!("../tools/cursor.json"),
            Dialect::Phases => include_str!("../tools/phases.json"),
            Dialect::Todowrite => include_str!("../tools/todowrite.json"),
            Dialect::Extended => include_str!("../tools/extended.json"),
        });
        if groups.contains(&ToolGroup::Claim) {
            tools.extend(read(include_str!("../tools/claim.json")));
        }
        if groups.contains(&ToolGroup::Checkpoint) {
            tools.extend(read(include_str!("../tools/checkpoint.json")));
        }
        Self { dialect, tools }
    }

    /// No tools at all: they are switched off, or the caller's role has none.
    pub const fn none(dialect: Dialect) -> Self {
        Self { dialect, tools: Vec::new() }
    }

    /// The tool of that name.
    pub fn find(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl OfferedTool {
    /// What a model pays for: name, description and schema as compact JSON.
    pub fn priced(&self) -> String {
        let mut map = Map::new();
        map.insert("name".into(), Value::String(self.name.clone()));
        map.insert("description".into(), Value::String(self.description.clone()));
        map.insert("inputSchema".into(), Value::Object(self.input_schema.clone()));
        Value::Object(map).to_string()
    }
}

/// The files are part of the program and a test reads each of them, so what does not parse cannot be met here.
fn read(text: &str, fields: bool) -> Vec<OfferedTool> {
    let list: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    list.into_iter().filter_map(|value| tool(value, fields)).collect()
}

fn tool(mut value: Value, fields: bool) -> Option<OfferedTool> {
    // Every call may use the fields under `more`; only their definitions are left out, because each conversation pays for
    // them.
    let more = value["more"].take();
    if let (true, Some(at), Value::Object(more)) = (fields, more["at"].as_str(), more["fields"].clone()) {
        value["inputSchema"].pointer_mut(at)?.as_object_mut()?.extend(more);
    }
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    Some(OfferedTool {
        name: text(&value, "name")?,
        description: text(&value, "description")?,
        tool: match value["kind"].as_str()? {
            "write" => Tool::Write,
            "read" => Tool::Read,
            "claim" => Tool::Claim,
            "checkpoint" => Tool::Checkpoint,
            _ => return None,
        },
        input_schema: match value["inputSchema"].take() {
            Value::Object(schema) => schema,
            _ => return None,
        },
    })
}
