//! What a write is about to read.

use punch_core::Footprint;

/// A hint to the store: a backend on a server fetches what it names together with the lock of the plan, in one round trip;
/// the others ignore it. What it leaves out is loaded when it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead<'a> {
    /// The part of the plan that is loaded first.
    pub footprint: Option<&'a Footprint>,
}

impl<'a> Ahead<'a> {
    /// Says that the write begins with loading this part of the plan.
    pub const fn load(footprint: &'a Footprint) -> Self {
        Self { footprint: Some(footprint) }
    }
}
