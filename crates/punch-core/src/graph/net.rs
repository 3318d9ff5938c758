//! What the algorithms see of a graph. Two things implement it: the dense [`super::Index`] over a whole plan, and
//! the draft of a write over a plan that may be partial, so the rules of propagation are written once.

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

    /// What `n` asks of the todos it depends on: its pull, and its own priority while it is open.
    fn reach(&self, n: Self::Node) -> Result<u8, Self::Need> {
        let pull = self.pull(n)?;
        Ok(if self.open(n)? { pull.min(self.own(n)?) } else { pull })
    }

    /// The best reach among the dependents of `n`, [`NO_PULL`] without any. An implementation that keeps counts,
    /// or can ask a database for one witness, overrides this: a hub has 100,000 dependents.
    fn best_reach(&self, n: Self::Node) -> Result<u8, Self::Need> {
        let mut dependents = Vec::new();
        self.dependents(n, &mut dependents)?;
        let mut best = NO_PULL;
        for d in dependents {
            best = best.min(self.reach(d)?);
            if best <= 1 {
                break;
            }
        }
        Ok(best)
    }
}
