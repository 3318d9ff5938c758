//! Workers: processes on any machine that take todos of the plans in a store.

/// How long a worker that is gone is listed: 30 days.
pub const WORKER_LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// What a worker last wrote about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRecord {
    /// Unique in the store.
    pub name: String,
    /// Grows by one whenever a process takes the name. A process that finds a later epoch than its own has been replaced.
    pub epoch: u64,
    /// When it was last seen.
    pub seen_at: i64,
    /// Until when it counts as alive unless it is seen again; `None` after it has left.
    pub until: Option<i64>,
    /// Host, labels, seats, what it has done: JSON of the engine, kept as it is.
    pub body: String,
}
