//! The answer to a tool call: the one type for the engine, the MCP server and the library.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to a tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// The text for the model: short, at most [`Answer::CAP`] bytes, with untrusted text neutralised where the form of
    /// the dialect allows it.
    pub text: String,
    /// The answer for programs; null where the caller did not ask for it.
    pub structured: Value,
    /// The call was refused or had errors; the text says what to do.
    pub is_error: bool,
    /// The revision of the plan after the call: its receipt.
    pub revision: u64,
    /// A text for the model besides the answer, such as a reminder of its list: put it after the result, or drop it.
    #[serde(skip)]
    pub reminder: Option<String>,
}

impl Answer {
    /// The most bytes that a text has: about 2,000 tokens.
    pub const CAP: usize = 8_000;

    /// An answer to a call that was not refused.
    pub(super) fn new(text: String, structured: Value, revision: u64) -> Self {
        Self { text, structured, revision, ..Self::default() }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// The call was answered.
    Answered(Answer),
    /// Nothing happened yet: the check of the todo with this id has to pass first.
    Wants(String),
}
