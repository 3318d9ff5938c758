//! A whole index at once. Each pass is a function of its own and stays one: together they run out of registers.

use super::edges::{Arc, Edges, next_active_dep};
use super::node::{Node, SATISFIED};
use super::{Edge, Index, Spec};
use crate::graph::kahn::{self, Csr};

impl Index {
    /// Builds from todos (their handles are their places in the list) and their edges, each pair at most once; or
    /// answers a cycle `[a, b, …, a]` of active edges.
    pub fn build(specs: &[Spec], edges: &[Edge]) -> Result<Self, Vec<u32>> {
        let suspended = || edges.iter().filter(|e| e.suspended);
        let spare = suspended().count();
        let active = || edges.iter().filter(|e| !e.suspended).map(|e| (e.to, e.from));
        let dependents = Csr::sorted(specs.len(), edges.len() - spare, active);
        let sorted = kahn::sort(&dependents).map_err(|residue| kahn::cycle(&dependents.reversed(), &residue))?;

        let mut nodes: Vec<Node> = specs.iter().map(Node::new).collect();
        for (node, level) in nodes.iter_mut().zip(sorted.levels) {
            node.level = level;
        }
        let mut arcs = Edges::link_all(&mut nodes, &dependents, spare);
        for edge in suspended() {
            arcs.link(&mut nodes, edge.from, edge.to, true);
            nodes[edge.from as usize].unmet += u32::from(!nodes[edge.to as usize].is(SATISFIED));
        }
        ask_all(&mut nodes, arcs.arcs(), &sorted.order);
        let mut index = Self { nodes, edges: arcs, ..Self::default() };
        index.ready.rebuild(&mut index.nodes);
        Ok(index)
    }
}

/// Pulls, from dependents to dependencies: whoever asks has been asked by all of its own dependents before.
#[inline(never)]
fn ask_all(nodes: &mut [Node], arcs: &[Arc], order: &[u32]) {
    for &n in order.iter().rev() {
        let node = &mut nodes[n as usize];
        node.pull = node.best_asked();
        let (reach, mut cursor) = (node.reach(), node.deps);
        while let Some(d) = next_active_dep(arcs, &mut cursor) {
            nodes[d as usize].ask(reach);
        }
    }
}
