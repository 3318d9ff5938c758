//! A whole index at once.

use super::node::{Node, SATISFIED};
use super::{Edge, Index, Spec};
use crate::graph::kahn::{self, Csr};

impl Index {
    /// Builds from todos (their handles are their places in the list) and their edges, each pair at most once; or
    /// answers a cycle `[a, b, …, a]` of active edges.
    pub fn build(specs: &[Spec], edges: &[Edge]) -> Result<Self, Vec<u32>> {
        let active: Vec<(u32, u32)> = edges.iter().filter(|e| !e.suspended).map(|e| (e.from, e.to)).collect();
        let deps = Csr::from_edges(specs.len(), &active);
        let dependents = deps.reversed();
        let sorted = kahn::sort(&deps, &dependents).map_err(|residue| kahn::cycle(&deps, &residue))?;

        let mut index = Self { nodes: specs.iter().map(Node::new).collect(), ..Self::default() };
        for (node, level) in index.nodes.iter_mut().zip(sorted.levels) {
            node.level = level;
        }
        // In the order of dependencies: the list that completing walks lies in one piece.
        index.edges.reserve_exact(edges.len());
        for (to, from) in dependents.edges() {
            index.link_counted(from, to, false);
        }
        for edge in edges.iter().filter(|e| e.suspended) {
            index.link_counted(edge.from, edge.to, true);
        }
        for &n in sorted.order.iter().rev() {
            let node = &mut index.nodes[n as usize];
            node.pull = node.best_asked();
            let reach = node.reach();
            for &d in deps.row(n) {
                if let Some(count) = index.nodes[d as usize].asking(reach) {
                    *count += 1;
                }
            }
        }
        index.ready.rebuild(&mut index.nodes);
        Ok(index)
    }

    /// Links and counts unmet.
    pub(super) fn link_counted(&mut self, from: u32, to: u32, suspended: bool) {
        self.link(from, to, suspended);
        if !self.nodes[to as usize].is(SATISFIED) {
            self.nodes[from as usize].unmet += 1;
        }
    }
}
