//! Todos that were handed out: batches, offers, and what their files held when they were completed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use punch_core::Uid;

use crate::{PlanId, SessionKey};

/// How many batches of one plan are kept: the newest.
pub const BATCHES_KEPT: usize = 32;

/// How many offers of one plan are kept: the newest.
pub const OFFERS_KEPT: usize = 64;

/// How many completed todos of a store keep what their files held: those that were completed last.
pub const COMPLETED_FILES_KEPT: u64 = 10_000;

/// How many announced calls of a store are kept: the newest.
pub const EXPECTED_CALLS_KEPT: u64 = 32;

/// Todos that were handed out together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandOut {
    /// Who got them.
    pub owner: String,
    /// The todos.
    pub todos: BTreeSet<Uid>,
    /// When they were handed out.
    pub at: i64,
}

/// What the files of a todo held when it was completed. It can be forgotten: then git alone says whether the work is
/// still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedFiles {
    /// The todo.
    pub todo: Uid,
    /// When it was completed.
    pub at: i64,
    /// The contents of its files: JSON of the engine, kept as it is.
    pub blobs: String,
}

/// A call of one of our tools that a hook has announced and that has not reached a server yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCall {
    /// Its number among the announced calls. The store assigns it: what a caller puts here is ignored.
    pub seq: u64,
    /// The session that makes the call.
    pub session: SessionKey,
    /// The plan of the session.
    pub plan: PlanId,
    /// The id that the agent gave to the call.
    pub call: Option<String>,
    /// The fingerprint of its arguments.
    pub fingerprint: String,
    /// When it was announced.
    pub at: i64,
}
