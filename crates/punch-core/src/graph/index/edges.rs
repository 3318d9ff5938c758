//! The edges: one arena, each edge in two singly linked lists (of its dependent and of its dependency).
//!
//! Removing an edge marks it, so it costs nothing like the degree of a hub; marked edges are swept out together
//! once they are an eighth.

use super::node::NONE;
use super::{Index, slim_push};

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

impl Index {
    /// Puts an edge into both lists; counters are the caller's.
    pub(super) fn link(&mut self, from: u32, to: u32, suspended: bool) {
        let e = self.edges.len() as u32;
        let target = if suspended { to | SUSPENDED } else { to };
        let next_dep = std::mem::replace(&mut self.nodes[from as usize].deps, e);
        let next_dependent = std::mem::replace(&mut self.nodes[to as usize].dependents, e);
        slim_push(&mut self.edges, Arc { from, target, next_dep, next_dependent });
    }

    /// The next living edge of a dependency list; `cursor` starts at the node's `deps`.
    pub(super) fn next_dep(&self, cursor: &mut u32) -> Option<Arc> {
        while *cursor != NONE {
            let arc = self.edges[*cursor as usize];
            *cursor = arc.next_dep;
            if !arc.dead() {
                return Some(arc);
            }
        }
        None
    }

    /// The next living edge of a dependents list; `cursor` starts at the node's `dependents`.
    pub(super) fn next_dependent(&self, cursor: &mut u32) -> Option<Arc> {
        while *cursor != NONE {
            let arc = self.edges[*cursor as usize];
            *cursor = arc.next_dependent;
            if !arc.dead() {
                return Some(arc);
            }
        }
        None
    }

    /// The edge of a pair. Both lists are walked in step, so the cost follows the shorter one.
    pub(super) fn find(&self, from: u32, to: u32) -> Option<u32> {
        let mut out = self.nodes[from as usize].deps;
        let mut back = self.nodes[to as usize].dependents;
        while out != NONE && back != NONE {
            let (a, b) = (self.edges[out as usize], self.edges[back as usize]);
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

    pub(super) fn arc(&self, e: u32) -> Arc {
        self.edges[e as usize]
    }

    /// A suspended edge joins the active graph.
    pub(super) fn activate(&mut self, e: u32) {
        self.edges[e as usize].target &= !SUSPENDED;
    }

    /// Marks an edge as gone; counters are the caller's, and so is [`Self::sweep`] when no cursor is in use.
    pub(super) fn kill(&mut self, e: u32) {
        self.edges[e as usize].target |= DEAD;
        self.dead += 1;
    }

    /// Marks every edge of a node as gone.
    pub(super) fn kill_all(&mut self, n: u32) {
        let mut e = self.nodes[n as usize].deps;
        while e != NONE {
            if !self.edges[e as usize].dead() {
                self.kill(e);
            }
            e = self.edges[e as usize].next_dep;
        }
        e = self.nodes[n as usize].dependents;
        while e != NONE {
            if !self.edges[e as usize].dead() {
                self.kill(e);
            }
            e = self.edges[e as usize].next_dependent;
        }
    }

    /// Drops the dead edges for good once there are many.
    pub(super) fn sweep(&mut self) {
        if self.dead <= 64 + self.edges.len() / 8 {
            return;
        }
        let old = std::mem::take(&mut self.edges);
        self.edges.reserve_exact(old.len() - self.dead);
        self.dead = 0;
        for node in &mut self.nodes {
            (node.deps, node.dependents) = (NONE, NONE);
        }
        for arc in old.into_iter().filter(|arc| !arc.dead()) {
            self.link(arc.from, arc.to(), arc.suspended());
        }
    }
}
