//! Tool definitions in the formats of the model providers.

use punch_engine::call::{Dialect, Tool};
use punch_engine::{OfferedTool, ToolGroup, ToolOffers, guide};
use serde_json::{Value, json};

use crate::Session;

/// The form of tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// `{name, description, input_schema}`: Anthropic Messages.
    Anthropic,
    /// `{type: function, function: {name, description, parameters}}`: OpenAI Chat Completions and compatible APIs.
    OpenAi,
    /// `{type: function, name, description, parameters}`: OpenAI Responses.
    OpenAiResponses,
    /// `{name, description, inputSchema, annotations}`: the Model Context Protocol.
    Mcp,
    /// `{name, description, parametersJsonSchema}`: what Gemini takes in `functionDeclarations`.
    Gemini,
}

impl Shape {
    /// Every shape.
    pub const ALL: &'static [Self] = &[Self::Anthropic, Self::OpenAi, Self::OpenAiResponses, Self::Mcp, Self::Gemini];

    fn of(self, tool: &OfferedTool) -> Value {
        let OfferedTool { name, description, input_schema, .. } = tool;
        match self {
            Self::Anthropic => json!({"name": name, "description": description, "input_schema": input_schema}),
            Self::OpenAi => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": input_schema},
            }),
            // Strict is the default there, and takes no optional properties.
            Self::OpenAiResponses => json!({
                "type": "function", "name": name, "description": description, "parameters": input_schema,
                "strict": false,
            }),
            Self::Gemini => {
                json!({"name": name, "description": description, "parametersJsonSchema": input_schema})
            }
            Self::Mcp => json!({
                "name": name,
                "description": description,
                "inputSchema": input_schema,
                "annotations": {
                    "readOnlyHint": tool.tool == Tool::Read, "destructiveHint": false, "openWorldHint": false,
                },
            }),
        }
    }
}

/// The tools of a dialect, with groups.
///
/// ```
/// use punchlist::{Dialect, Shape, tools};
///
/// let tools = tools(Dialect::Todowrite, &[], Shape::Anthropic);
/// assert_eq!(tools[0]["name"], "TodoWrite");
/// assert_eq!(tools[0]["input_schema"]["type"], "object");
/// ```
pub fn tools(dialect: Dialect, groups: &[ToolGroup], shape: Shape) -> Vec<Value> {
    ToolOffers::new(dialect, groups).tools.iter().map(|tool| shape.of(tool)).collect()
}

impl Session {
    /// The tools of this session; none if its role or a setting takes them away.
    pub fn tools(&self, shape: Shape) -> Vec<Value> {
        self.offer.tools.iter().map(|tool| shape.of(tool)).collect()
    }

    /// Whether a tool of that name is one of these.
    pub fn has_tool(&self, name: &str) -> bool {
        self.offer.find(name).is_some()
    }

    /// The few lines about the list for a system prompt; empty for a session without tools.
    pub fn instructions(&self) -> String {
        let dialect = self.offer.dialect;
        let text = match (self.offer.tools.is_empty(), self.settings.reminders_shell.value) {
            (true, _) => String::new(),
            (false, true) => guide::instructions(dialect),
            (false, false) => guide::embedded(dialect, self.is_lasting()),
        };
        self.wording.instructions(dialect, text)
    }
}
