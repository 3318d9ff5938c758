//! What the algorithms see of a graph. Two things implement it: the dense [`super::Index`] over a whole plan, and
//! the draft of a write over a plan that may be partial, so the rules of propagation are written once.

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
}
