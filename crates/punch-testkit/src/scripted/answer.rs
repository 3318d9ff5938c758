//! What the model says in one turn, before it is put into anyone's wire format.

use serde_json::Value;

use super::asked::ToolOffer;

/// One turn of the model.
#[derive(Clone, Debug)]
pub struct ModelTurn {
    /// Distinguishes this answer from all others of all servers with different tags.
    pub id: String,
    /// The model that was asked for.
    pub model: String,
    /// Words.
    pub text: String,
    /// Thoughts.
    pub thinking: String,
    /// Tool calls.
    pub calls: Vec<ScriptedToolUse>,
    /// Why the message ends, in Anthropic's words; none: by itself or with the calls.
    pub stop: Option<String>,
    /// Tokens.
    pub usage: RequestTokens,
}

/// A tool call, named as the client names the tool.
#[derive(Clone, Debug)]
pub struct ScriptedToolUse {
    /// Its own number.
    pub id: String,
    /// The tool's full name.
    pub name: String,
    /// Arguments.
    pub input: Value,
    /// How the client offered the tool; none if it did not.
    pub tool: Option<ToolOffer>,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug)]
pub struct RequestTokens {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

impl ModelTurn {
    /// The words, never nothing where there are no calls: clients take an empty message for an error.
    pub fn words(&self) -> &str {
        if self.text.is_empty() && self.calls.is_empty() { "ok" } else { &self.text }
    }

    /// Whether the model ran out of room.
    pub fn cut(&self) -> bool {
        self.stop.as_deref() == Some("max_tokens")
    }
}
