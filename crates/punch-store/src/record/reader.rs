//! Read markers: how far a reader has looked at a plan.

use serde::{Deserialize, Serialize};

/// How many readers of one plan are kept: those that looked last.
pub const READERS_KEPT: usize = 100;

/// Up to where a reader has looked at a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMarker {
    /// The name of the reader.
    pub reader: String,
    /// The last revision that it has seen.
    pub revision: u64,
    /// When it looked.
    pub at: i64,
}
