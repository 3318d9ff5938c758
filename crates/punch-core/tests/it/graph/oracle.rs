//! The naive answers: plain lists, whole scans, repeated to a fixed point.

use std::collections::BTreeSet;

use punch_core::NO_PULL;
use punch_core::graph::NodeState;

/// A node of the oracle.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub priority: u8,
    pub state: NodeState,
}

impl Default for Spec {
    fn default() -> Self {
        Self { priority: 3, state: NodeState::Pending }
    }
}

/// A dependency of `from` on `to`. A suspended one is not a part of levels, pulls and cycles.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub suspended: bool,
}

/// A graph as nobody would keep it: everything is computed from the lists when asked.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    pub nodes: Vec<Spec>,
    pub edges: Vec<Edge>,
}

impl Oracle {
    pub fn new(nodes: Vec<Spec>, edges: Vec<Edge>) -> Self {
        Self { nodes, edges }
    }

    pub fn active(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.edges.iter().filter(|e| !e.suspended).map(|e| (e.from, e.to))
    }

    /// Everything reachable from `n` over active edges by following dependencies, `n` itself only in a cycle.
    pub fn below(&self, n: u32) -> BTreeSet<u32> {
        closure(n, &self.active().collect::<Vec<_>>())
    }

    pub fn above(&self, n: u32) -> BTreeSet<u32> {
        closure(n, &self.active().map(|(from, to)| (to, from)).collect::<Vec<_>>())
    }

    /// Longest path by relaxing all edges until nothing moves; only for acyclic graphs.
    pub fn levels(&self) -> Vec<u32> {
        let mut levels = vec![1; self.nodes.len()];
        loop {
            let before = levels.clone();
            for (from, to) in self.active() {
                levels[from as usize] = levels[from as usize].max(levels[to as usize] + 1);
            }
            if levels == before {
                return levels;
            }
        }
    }

    pub fn pull(&self, n: u32) -> u8 {
        let open = |n: u32| self.nodes[n as usize].state.open();
        if !open(n) {
            return NO_PULL;
        }
        // Closed todos are not walked through: what waits behind them does not wait for what came before.
        let edges: Vec<(u32, u32)> =
            self.active().filter(|(from, to)| open(*from) && open(*to)).map(|(from, to)| (to, from)).collect();
        closure(n, &edges).into_iter().map(|d| self.nodes[d as usize].priority).min().unwrap_or(NO_PULL)
    }

    /// Would `from -> to` close a cycle?
    pub fn closes(&self, from: u32, to: u32) -> bool {
        from == to || self.below(to).contains(&from)
    }

    pub fn is_acyclic(&self) -> bool {
        (0..self.nodes.len() as u32).all(|n| !self.below(n).contains(&n))
    }
}

/// Checks that `path` is `[a, b, …, a]` along `edges`, no edge twice.
pub fn is_cycle(path: &[u32], edges: &[(u32, u32)]) -> bool {
    let inner: BTreeSet<u32> = path.iter().skip(1).copied().collect();
    path.len() >= 2
        && path.first() == path.last()
        && inner.len() == path.len() - 1
        && path.windows(2).all(|pair| edges.contains(&(pair[0], pair[1])))
}

fn closure(n: u32, edges: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    loop {
        let more: Vec<u32> = edges
            .iter()
            .filter(|(from, to)| (*from == n || out.contains(from)) && !out.contains(to))
            .map(|(_, to)| *to)
            .collect();
        if more.is_empty() {
            return out;
        }
        out.extend(more);
    }
}
