//! Topological sort of a whole graph: levels in O(n + m), or an actual cycle.

/// Lists of numbers in two arrays. As a graph over `0..len()`, row `n` is what `n` depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csr {
    start: Vec<u32>,
    to: Vec<u32>,
}

impl Csr {
    /// From `(dependent, dependency)` pairs in any order; pairs of one node keep theirs.
    pub fn from_edges(len: usize, edges: &[(u32, u32)]) -> Self {
        Self::sorted(len, edges.len(), || edges.iter().copied())
    }

    /// From one list per node; edge numbers count through the lists in order.
    pub fn from_lists<L: AsRef<[u32]>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut out = Self { start: vec![0], to: Vec::new() };
        for list in lists {
            out.to.extend_from_slice(list.as_ref());
            out.start.push(out.to.len() as u32);
        }
        out
    }

    /// Returns the graph with every edge reversed: row `n` is what depends on `n`.
    pub fn reversed(&self) -> Self {
        Self::sorted(self.len(), self.to.len(), || self.edges().map(|(from, to)| (to, from)))
    }

    /// Counting sort by the first of each pair; `pairs` must give the same ones twice.
    #[inline(never)]
    pub(crate) fn sorted<I: Iterator<Item = (u32, u32)>>(len: usize, edges: usize, pairs: impl Fn() -> I) -> Self {
        // Counted two slots further on, so that filling a row moves the slot before it to where the next row begins.
        let mut start = vec![0u32; len + 2];
        pairs().for_each(|(row, _)| start[row as usize + 2] += 1);
        let mut end = 0;
        for slot in &mut start {
            end += *slot;
            *slot = end;
        }
        let mut to = vec![0; edges];
        pairs().for_each(|(row, value)| {
            let at = &mut start[row as usize + 1];
            to[*at as usize] = value;
            *at += 1;
        });
        start.pop();
        Self { start, to }
    }

    /// Nodes.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// No nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of a node.
    pub fn row(&self, n: u32) -> &[u32] {
        &self.to[self.span(n)]
    }

    /// The edge numbers of a node's row.
    pub fn span(&self, n: u32) -> std::ops::Range<usize> {
        self.start[n as usize] as usize..self.start[n as usize + 1] as usize
    }

    /// The node at the far end of an edge number.
    pub fn target(&self, edge: usize) -> u32 {
        self.to[edge]
    }

    /// Every `(node, row entry)` in order of edge numbers.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.len() as u32).flat_map(|n| self.row(n).iter().map(move |&to| (n, to)))
    }
}

/// A graph without cycles, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortedGraph {
    /// 1 + longest path, per node.
    pub levels: Vec<u32>,
    /// Dependencies before dependents.
    pub order: Vec<u32>,
}

/// Levels by Kahn's algorithm, or the residue: every node that is in a cycle or waits for one.
/// Rows are what depends on a node, that is the graph [reversed](Csr::reversed).
pub fn sort(dependents: &Csr) -> Result<SortedGraph, Vec<u32>> {
    let len = dependents.len();
    let mut waiting = vec![0u32; len];
    for &n in &dependents.to {
        waiting[n as usize] += 1;
    }
    let mut order = Vec::with_capacity(len);
    order.extend((0..len as u32).filter(|&n| waiting[n as usize] == 0));
    let mut levels = vec![1u32; len];
    let mut next = 0;
    while let Some(&n) = order.get(next) {
        next += 1;
        let above = levels[n as usize] + 1;
        for &d in dependents.row(n) {
            let at = d as usize;
            levels[at] = levels[at].max(above);
            waiting[at] -= 1;
            if waiting[at] == 0 {
                order.push(d);
            }
        }
    }
    if order.len() == len {
        return Ok(SortedGraph { levels, order });
    }
    Err((0..len as u32).filter(|&n| waiting[n as usize] > 0).collect())
}

/// Levels by Kahn's algorithm, or the residue of [`sort`].
pub fn levels(deps: &Csr) -> Result<Vec<u32>, Vec<u32>> {
    sort(&deps.reversed()).map(|sorted| sorted.levels)
}

/// A real cycle `[a, b, …, a]` (each depends on the next) out of a residue; empty for an empty residue.
/// Every node of a residue depends on another of it, so walking on must come back to where it was.
pub fn cycle(deps: &Csr, residue: &[u32]) -> Vec<u32> {
    const NEVER: usize = usize::MAX;
    let mut inside = vec![false; deps.len()];
    for &n in residue {
        inside[n as usize] = true;
    }
    let mut seen = vec![NEVER; deps.len()];
    let mut path = Vec::new();
    let mut at = residue.first().copied();
    while let Some(n) = at {
        let before = seen[n as usize];
        if before != NEVER {
            path.push(n);
            return path.split_off(before);
        }
        seen[n as usize] = path.len();
        path.push(n);
        at = deps.row(n).iter().copied().find(|&d| inside[d as usize]);
    }
    Vec::new()
}
