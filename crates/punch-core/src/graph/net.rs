//! The view of a graph that the algorithms use. The draft of a write implements it on a plan that may be partial, and
//! tests on a plain list of edges.

use crate::NO_PULL;

/// A graph of todos: node `n` depends on `deps(n)`; only active edges count.
pub trait Net {
    /// A handle.
    type Node: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug;
    /// What must be loaded before an answer is possible; `Infallible` where everything is here.
    type Need;

    /// Appends what `n` depends on (active edges).
    fn deps(&self, n: Self::Node, out: &mut Vec<Self::Node>) -> Result<(), Self::Need>;
    /// Appends what depends on `n` (active edges).
    fn dependents(&self, n: Self::Node, out: &mut Vec<Self::Node>) -> Result<(), Self::Need>;
    /// 1 + longest path; the stored value.
    fn level(&self, n: Self::Node) -> Result<u32, Self::Need>;
    /// Stores it.
    fn set_level(&mut self, n: Self::Node, level: u32) -> Result<(), Self::Need>;
    /// The todo's own priority.
    fn own(&self, n: Self::Node) -> Result<u8, Self::Need>;
    /// Pending or in progress.
    fn open(&self, n: Self::Node) -> Result<bool, Self::Need>;
    /// Best priority of open transitive dependents; the stored value.
    fn pull(&self, n: Self::Node) -> Result<u8, Self::Need>;
    /// Stores it.
    fn set_pull(&mut self, n: Self::Node, pull: u8) -> Result<(), Self::Need>;

    /// What `n` asks of the todos it depends on. A closed todo asks for nothing: what waits behind it no longer
    /// waits for what came before it.
    fn reach(&self, n: Self::Node) -> Result<u8, Self::Need> {
        if self.open(n)? { Ok(self.pull(n)?.min(self.own(n)?)) } else { Ok(NO_PULL) }
    }

    /// The pull of `n` from scratch: the best reach among its dependents, [`NO_PULL`] without any or when closed.
    /// An implementation that keeps counts overrides this: a hub has 100,000 dependents.
    fn best_reach(&self, n: Self::Node) -> Result<u8, Self::Need> {
        let mut best = NO_PULL;
        if !self.open(n)? {
            return Ok(best);
        }
        let mut dependents = Vec::new();
        self.dependents(n, &mut dependents)?;
        for d in dependents {
            best = best.min(self.reach(d)?);
            if best <= 1 {
                break;
            }
        }
        Ok(best)
    }
}
