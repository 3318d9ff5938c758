//! The edges: one arena, each edge in two singly linked lists (of its dependent and of its dependency).
//!
//! Removing an edge marks it, so it costs nothing like the degree of a hub; marked edges are swept out together
//! once they are an eighth.

use super::node::{NONE, Node, SATISFIED};
use super::slim_push;
use crate::graph::kahn::Csr;

const SUSPENDED: u32 = 1 << 31;
const DEAD: u32 = 1 << 30;

#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub from: u32,
    /// The dependency, and two marks in the highest bits.
    target: u32,
    next_dep: u32,
    next_dependent: u32,
}

impl Arc {
    pub const fn to(self) -> u32 {
        self.target & !(SUSPENDED | DEAD)
    }

    pub const fn suspended(self) -> bool {
        self.target & SUSPENDED != 0
    }

    const fn dead(self) -> bool {
        self.target & DEAD != 0
    }
}

/// All edges. The heads of the lists are in the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    arcs: Vec<Arc>,
    /// Marked as gone but still in the lists.
    dead: usize,
}

impl Edges {
    /// Puts an edge into both lists; counters are the caller's.
    #[inline]
    pub fn link(&mut self, nodes: &mut [Node], from: u32, to: u32, suspended: bool) {
        let e = self.arcs.len() as u32;
        let target = if suspended { to | SUSPENDED } else { to };
        let next_dep = std::mem::replace(&mut nodes[from as usize].deps, e);
        let next_dependent = std::mem::replace(&mut nodes[to as usize].dependents, e);
        slim_push(&mut self.arcs, Arc { from, target, next_dep, next_dependent });
    }

    /// Links all active edges of nodes that have none yet, and counts unmet. They come to lie in the order of
    /// dependencies: the list that completing walks is in one piece.
    #[inline(never)]
    pub fn link_all(nodes: &mut [Node], dependents: &Csr, spare: usize) -> Self {
        let mut arcs = Vec::with_capacity(dependents.edges_len() + spare);
        // Filled in place: pushing one by one takes twice the instructions.
        arcs.resize(dependents.edges_len(), Arc { from: 0, target: 0, next_dep: NONE, next_dependent: NONE });
        for to in 0..nodes.len() as u32 {
            let unmet = u32::from(!nodes[to as usize].is(SATISFIED));
            let (span, mut last) = (dependents.span(to), NONE);
            let places = span.start as u32..;
            for ((&from, arc), e) in dependents.row(to).iter().zip(&mut arcs[span]).zip(places) {
                let node = &mut nodes[from as usize];
                node.unmet += unmet;
                *arc = Arc { from, target: to, next_dep: node.deps, next_dependent: last };
                node.deps = e;
                last = e;
            }
            nodes[to as usize].dependents = last;
        }
        Self { arcs, dead: 0 }
    }

    /// For the walks below.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The edge of a pair. Both lists are walked in step, so the cost follows the shorter one.
    pub fn find(&self, nodes: &[Node], from: u32, to: u32) -> Option<u32> {
        let mut out = nodes[from as usize].deps;
        let mut back = nodes[to as usize].dependents;
        while out != NONE && back != NONE {
            let (a, b) = (self.arcs[out as usize], self.arcs[back as usize]);
            if !a.dead() && a.to() == to {
                return Some(out);
            }
            if !b.dead() && b.from == from {
                return Some(back);
            }
            (out, back) = (a.next_dep, b.next_dependent);
        }
        None
    }

    pub fn get(&self, e: u32) -> Arc {
        self.arcs[e as usize]
    }

    /// A suspended edge joins the active graph.
    pub fn activate(&mut self, e: u32) {
        self.arcs[e as usize].target &= !SUSPENDED;
    }

    /// Marks an edge as gone; counters are the caller's, and so is [`Self::sweep`] when no cursor is in use.
    pub fn kill(&mut self, e: u32) {
        let arc = &mut self.arcs[e as usize];
        if !arc.dead() {
            arc.target |= DEAD;
            self.dead += 1;
        }
    }

    /// Marks every edge of a node as gone.
    pub fn kill_all(&mut self, node: &Node) {
        let mut e = node.deps;
        while e != NONE {
            self.kill(e);
            e = self.arcs[e as usize].next_dep;
        }
        e = node.dependents;
        while e != NONE {
            self.kill(e);
            e = self.arcs[e as usize].next_dependent;
        }
    }

    /// Drops the dead edges for good once there are many.
    pub fn sweep(&mut self, nodes: &mut [Node]) {
        if self.dead <= 64 + self.arcs.len() / 8 {
            return;
        }
        let old = std::mem::take(&mut self.arcs);
        self.arcs.reserve_exact(old.len() - self.dead);
        self.dead = 0;
        for node in nodes.iter_mut() {
            (node.deps, node.dependents) = (NONE, NONE);
        }
        for arc in old.into_iter().filter(|arc| !arc.dead()) {
            self.link(nodes, arc.from, arc.to(), arc.suspended());
        }
    }

    pub fn memory(&self) -> usize {
        self.arcs.capacity() * size_of::<Arc>()
    }
}

/// The next living edge of a dependency list; `cursor` starts at the node's `deps`.
#[inline]
pub(super) fn next_dep(arcs: &[Arc], cursor: &mut u32) -> Option<Arc> {
    while *cursor != NONE {
        let arc = arcs[*cursor as usize];
        *cursor = arc.next_dep;
        if !arc.dead() {
            return Some(arc);
        }
    }
    None
}

/// The next dependency of the active graph; `cursor` starts at the node's `deps`.
#[inline]
pub(super) fn next_active_dep(arcs: &[Arc], cursor: &mut u32) -> Option<u32> {
    while *cursor != NONE {
        let arc = arcs[*cursor as usize];
        *cursor = arc.next_dep;
        // Either mark makes it larger than any handle.
        if arc.target < DEAD {
            return Some(arc.target);
        }
    }
    None
}

/// The next living edge of a dependents list; `cursor` starts at the node's `dependents`.
#[inline]
pub(super) fn next_dependent(arcs: &[Arc], cursor: &mut u32) -> Option<Arc> {
    while *cursor != NONE {
        let arc = arcs[*cursor as usize];
        *cursor = arc.next_dependent;
        if !arc.dead() {
            return Some(arc);
        }
    }
    None
}
