//! The answer to a tool call, for the engine, the MCP server and the library.

use punch_core::text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::render;

/// The answer to a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolAnswer {
    /// The text for the model: short, at most [`ToolAnswer::CAP`] bytes, with untrusted text neutralized and without
    /// tags that could end the surrounding part of the context.
    pub text: String,
    /// The answer for programs; null where the caller did not ask for it.
    pub structured: Value,
    /// The call was refused or had errors; the text says what to do.
    pub is_error: bool,
    /// The call changed the plan. A call with errors may have been applied in part.
    pub changed: bool,
    /// What of the call was not applied, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<CallError>,
    /// The revision of the plan after the call: its receipt.
    pub revision: u64,
    /// A text for the model besides the answer, such as a reminder of its list: put it after the result, or drop it.
    #[serde(skip)]
    pub reminder: Option<String>,
}

/// A part of a call that was not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct CallError {
    /// The place of the op in the call, where one op failed and others were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// A code that stays.
    pub code: String,
    /// What is wrong, with which values.
    pub message: String,
}

impl CallError {
    /// An error of the call as a whole.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { op: None, code: code.to_owned(), message: message.into() }
    }
}

impl ToolAnswer {
    /// The most bytes that a text has: about 2,000 tokens.
    pub const CAP: usize = 8_000;

    /// Puts a line before the text. A text that gets too long loses its end.
    pub(super) fn begin_with(&mut self, line: &str) {
        self.text = super::render::capped(&format!("{line}\n{}", self.text));
    }

    /// An answer to a call that was not refused.
    pub(super) fn new(text: String, structured: Value, revision: u64) -> Self {
        let text = render::capped(&text::without_tags(&text));
        Self { text, structured, revision, ..Self::default() }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// The call was answered.
    Answered(ToolAnswer),
    /// Nothing happened yet: the check of the todo with this id has to pass first.
    Wants(String),
}
