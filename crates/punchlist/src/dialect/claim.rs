//! `todo_claim`, which [`crate::ToolGroup::Claim`] adds to every dialect.

use serde::{Deserialize, Serialize};

/// Arguments of `todo_claim`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Call {
    /// The todo; without it the best ready one is claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The owner that works on the todo, if not the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How long the claim lasts unless renewed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<i64>,
}

/// The structured answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Answer {
    /// A todo was claimed.
    #[serde(rename_all = "camelCase")]
    Claimed {
        /// The todo.
        id: String,
        /// The number of the claim: every new claim of the todo has a higher one.
        fence: u64,
        /// When the claim ends unless renewed, in milliseconds since the epoch.
        lease_until: Option<i64>,
    },
    /// Nothing is ready.
    Nothing {
        /// Null.
        todo: (),
    },
}
