//! Answers to tool calls.

use punch_engine::call::CallError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Answer {
    /// The text for the model: at most 8,000 bytes, with untrusted text neutralized.
    pub text: String,
    /// The answer for programs; [`crate::dialect`] has types for it.
    pub structured: Value,
    /// The call was refused or had errors; the text says what to do.
    pub is_error: bool,
    /// The call changed the plan. A call with errors may have been applied in part.
    pub changed: bool,
    /// What of the call was not applied, and why.
    pub errors: Vec<CallError>,
    /// The revision of the plan after the call.
    pub revision: u64,
    /// A text for the model besides the answer: put it after the result, or drop it.
    pub reminder: Option<String>,
}

impl Answer {
    /// The most bytes that a text has: about 2,000 tokens.
    pub const CAP: usize = punch_engine::call::ToolAnswer::CAP;
}

impl From<punch_engine::call::ToolAnswer> for Answer {
    fn from(answer: punch_engine::call::ToolAnswer) -> Self {
        let punch_engine::call::ToolAnswer { text, structured, is_error, changed, errors, revision, reminder } = answer;
        Self { text, structured, is_error, changed, errors, revision, reminder }
    }
}
