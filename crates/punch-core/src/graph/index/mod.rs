//! The dense index of a whole plan: who waits for whom, and what is ready, over `u32` handles.
//!
//! For long-lived servers, the scheduler and bulk writes. Handles count up and are never reused; after many
//! removals a new index is cheaper than keeping the old one.

mod bits;
mod build;
mod change;
mod edges;
mod node;
mod of;
mod ready;

use std::convert::Infallible;

pub use node::{Edge, Spec, State};
pub use of::Uids;

use super::Net;
use edges::{Edges, next_dep, next_dependent};
use node::Node;
use ready::Ready;

/// The graph of a plan with its counters, levels, pulls and the ready set, all current after every change.
#[derive(Clone, Debug, Default)]
pub struct Index {
    nodes: Vec<Node>,
    edges: Edges,
    ready: Ready,
    /// Nodes whose pull is to follow; empty between changes, kept for its memory.
    seeds: Vec<u32>,
}

impl Index {
    /// Handles given so far, removed todos included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Nothing was ever added.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Not removed.
    pub fn is_live(&self, n: u32) -> bool {
        self.nodes[n as usize].is(node::LIVE)
    }

    /// Its status, as far as the graph cares.
    pub fn state(&self, n: u32) -> State {
        self.nodes[n as usize].state()
    }

    /// Dependencies not satisfied: active, suspended and dangling.
    pub fn unmet(&self, n: u32) -> u32 {
        self.nodes[n as usize].unmet
    }

    /// parallelGroup: 1 + longest path over active edges.
    pub fn level_of(&self, n: u32) -> u32 {
        self.nodes[n as usize].level
    }

    /// The best priority among open transitive dependents, [`crate::NO_PULL`] without any.
    pub fn pull_of(&self, n: u32) -> u8 {
        self.nodes[n as usize].pulled()
    }

    /// Best of its own priority and that of everything open that waits for it.
    pub fn effective(&self, n: u32) -> u8 {
        let node = &self.nodes[n as usize];
        node.own.min(node.pulled())
    }

    /// List order.
    pub fn position(&self, n: u32) -> i64 {
        self.nodes[n as usize].position
    }

    /// Eligible and nothing unmet.
    pub fn is_ready(&self, n: u32) -> bool {
        self.nodes[n as usize].is_ready()
    }

    /// What is ready, by (effective priority, position, handle).
    pub fn ready(&self) -> impl Iterator<Item = u32> + '_ {
        self.ready.iter(&self.nodes)
    }

    /// The first of [`Self::ready`].
    pub fn first_ready(&self) -> Option<u32> {
        self.ready.first(&self.nodes)
    }

    /// What `n` waits for, and whether that edge is suspended; in no order.
    pub fn deps_of(&self, n: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let mut cursor = self.nodes[n as usize].deps;
        std::iter::from_fn(move || next_dep(self.edges.arcs(), &mut cursor).map(|arc| (arc.to(), arc.suspended())))
    }

    /// What waits for `n`, and whether that edge is suspended; in no order.
    pub fn dependents_of(&self, n: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let mut cursor = self.nodes[n as usize].dependents;
        std::iter::from_fn(move || {
            next_dependent(self.edges.arcs(), &mut cursor).map(|arc| (arc.from, arc.suspended()))
        })
    }

    /// For every handle the weight of the heaviest chain that starts with it and goes on through open dependents;
    /// 0 for what is not open. Computed on demand, since keeping it current would cost a whole chain per append.
    pub fn longest_remaining(&self, weight: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).filter(|&n| self.is_live(n)).collect();
        order.sort_unstable_by_key(|&n| std::cmp::Reverse(self.level_of(n)));
        let mut out = vec![0u64; self.nodes.len()];
        for n in order.into_iter().filter(|&n| self.state(n).open()) {
            // Everything above has already raised this slot to the heaviest chain among its dependents.
            let total = out[n as usize].saturating_add(weight(n));
            out[n as usize] = total;
            for (d, suspended) in self.deps_of(n) {
                if !suspended && self.state(d).open() {
                    out[d as usize] = out[d as usize].max(total);
                }
            }
        }
        out
    }

    /// Bytes held, spare room included.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.edges.memory()
            + self.seeds.capacity() * size_of::<u32>()
            + self.ready.memory()
    }
}

impl Net for Index {
    type Node = u32;
    type Need = Infallible;

    fn deps(&self, n: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend(self.deps_of(n).filter(|(_, suspended)| !suspended).map(|(d, _)| d));
        Ok(())
    }

    fn dependents(&self, n: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend(self.dependents_of(n).filter(|(_, suspended)| !suspended).map(|(d, _)| d));
        Ok(())
    }

    fn level(&self, n: u32) -> Result<u32, Infallible> {
        Ok(self.nodes[n as usize].level)
    }

    fn set_level(&mut self, n: u32, level: u32) -> Result<(), Infallible> {
        self.nodes[n as usize].level = level;
        Ok(())
    }

    fn own(&self, n: u32) -> Result<u8, Infallible> {
        Ok(self.nodes[n as usize].own)
    }

    fn open(&self, n: u32) -> Result<bool, Infallible> {
        Ok(self.nodes[n as usize].is(node::OPEN))
    }

    fn pull(&self, n: u32) -> Result<u8, Infallible> {
        Ok(self.nodes[n as usize].pulled())
    }

    fn set_pull(&mut self, n: u32, pull: u8) -> Result<(), Infallible> {
        self.pull_to(n, pull);
        Ok(())
    }

    fn reach(&self, n: u32) -> Result<u8, Infallible> {
        Ok(self.nodes[n as usize].reach())
    }

    fn best_reach(&self, n: u32) -> Result<u8, Infallible> {
        Ok(self.nodes[n as usize].best_asked())
    }
}

/// Grows by an eighth instead of doubling: a plan of 100,000 todos should not hold room for 200,000.
fn slim_push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
    list.push(item);
}
