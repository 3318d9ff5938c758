//! Announces what a write will read.

use punch_core::Footprint;

use crate::SessionKey;

/// A hint to the store: a backend on a server fetches what it names together with the lock of the plan, in one round trip;
/// the others ignore it. What it leaves out is loaded when it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead<'a> {
    /// The part of the plan that is loaded first.
    pub footprint: Option<&'a Footprint>,
    /// What depends on the todos of that part: for writes that close or reopen them.
    pub dependents: bool,
    /// The best todos that are ready, and the offers: for writes that give one out.
    pub ready: bool,
    /// The todos in progress: for writes that look at what their caller, or everybody, works on.
    pub running: bool,
    /// A session.
    pub session: Option<&'a SessionKey>,
    /// The answer under an idempotency key.
    pub answer: Option<&'a str>,
    /// The latest lease on the plan: for writes of a runner, which holds it.
    pub run_lease: bool,
    /// The record of a run, by its number.
    pub run: Option<u64>,
}

impl<'a> Ahead<'a> {
    /// Says that the write begins with loading this part of the plan.
    pub fn load(footprint: &'a Footprint) -> Self {
        Self { footprint: Some(footprint), ..Self::default() }
    }
}
