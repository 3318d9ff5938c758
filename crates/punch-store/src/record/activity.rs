//! Activity: what happens around a plan without changing it.

use punch_core::Uid;
use serde::{Deserialize, Serialize};

/// How many activities of one plan are kept: the newest.
pub const ACTIVITY_KEPT: u64 = 10_000;

/// How long activities are kept: 14 days.
pub const ACTIVITY_LIFETIME_MS: i64 = 14 * 24 * 60 * 60 * 1000;

/// Old activities are cleared away with every write whose number is a multiple of this.
pub const ACTIVITY_SWEEP: u64 = 64;

/// Something that happened around a plan and is not a change of it: a session, a decision, a seat of a run, a failed
/// write. Not an event: it can be pruned at any time, and no rule depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Its number in the plan, growing by one and never reused. The store assigns it: what a caller puts here is ignored.
    pub seq: u64,
    /// When it happened.
    pub at: i64,
    /// What kind of activity, as a short word.
    pub kind: String,
    /// The session or seat that it comes from.
    pub source: Option<String>,
    /// The todo that it is about.
    pub todo: Option<Uid>,
    /// JSON of the engine, kept as it is.
    pub body: String,
}

/// The numbers of the activities that a plan still has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActivitySpan {
    /// The oldest that is still there, 0 if there was never any. A reader that has seen less than the one before it has
    /// missed some.
    pub oldest: u64,
    /// The newest, 0 if there was never any.
    pub newest: u64,
}

impl ActivitySpan {
    /// Returns true if activities after `seen` are no longer there.
    pub const fn has_gap_after(self, seen: u64) -> bool {
        self.oldest > seen.saturating_add(1)
    }
}
