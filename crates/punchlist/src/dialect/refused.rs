//! The structured answer to a call that was refused, in every dialect.

use serde::{Deserialize, Serialize};

/// The structured answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// Why the call was refused.
    pub error: Refusal,
}

/// Why a call was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Refusal {
    /// A code that stays; `docs/errors.md` lists them.
    pub code: String,
    /// What is wrong, with which values.
    pub message: String,
    /// The action to take next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
