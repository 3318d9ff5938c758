//! The naive answers: plain lists, whole scans, repeated to a fixed point.

use std::collections::BTreeSet;

use punch_core::NO_PULL;
use punch_core::graph::{Edge, Spec};

/// A graph as nobody would keep it: everything is computed from the lists when asked.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    pub nodes: Vec<Spec>,
    pub live: Vec<bool>,
    pub edges: Vec<Edge>,
}

impl Oracle {
    pub fn new(nodes: Vec<Spec>, edges: Vec<Edge>) -> Self {
        Self { live: vec![true; nodes.len()], nodes, edges }
    }

    pub fn active(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.edges.iter().filter(|e| !e.suspended).map(|e| (e.from, e.to))
    }

    pub fn edge(&self, from: u32, to: u32) -> Option<usize> {
        self.edges.iter().position(|e| e.from == from && e.to == to)
    }

    /// Everything reachable from `n` over active edges by following dependencies, `n` itself only in a cycle.
    pub fn below(&self, n: u32) -> BTreeSet<u32> {
        closure(n, &self.active().collect::<Vec<_>>())
    }

    pub fn above(&self, n: u32) -> BTreeSet<u32> {
        closure(n, &self.active().map(|(from, to)| (to, from)).collect::<Vec<_>>())
    }

    pub fn unmet(&self, n: u32) -> u32 {
        let open = self.edges.iter().filter(|e| e.from == n && !self.nodes[e.to as usize].state.satisfied()).count();
        open as u32 + self.nodes[n as usize].dangling
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

    pub fn effective(&self, n: u32) -> u8 {
        self.nodes[n as usize].priority.min(self.pull(n))
    }

    pub fn ready(&self) -> Vec<u32> {
        let mut out: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&n| self.live[n as usize] && self.nodes[n as usize].state.eligible() && self.unmet(n) == 0)
            .collect();
        out.sort_by_key(|&n| (self.effective(n), self.nodes[n as usize].position, n));
        out
    }

    /// Would `from -> to` close a cycle?
    pub fn closes(&self, from: u32, to: u32) -> bool {
        from == to || self.below(to).contains(&from)
    }

    pub fn is_acyclic(&self) -> bool {
        (0..self.nodes.len() as u32).all(|n| !self.below(n).contains(&n))
    }

    /// Heaviest chain through open dependents, by trying all of them.
    pub fn remaining(&self, n: u32, weight: &dyn Fn(u32) -> u64) -> u64 {
        if !self.nodes[n as usize].state.open() {
            return 0;
        }
        let dependents = self.active().filter(|&(_, to)| to == n).map(|(from, _)| self.remaining(from, weight));
        weight(n) + dependents.max().unwrap_or(0)
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
