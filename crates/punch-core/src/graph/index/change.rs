//! Single changes. Each leaves every counter, level, pull and the ready set as a rebuild would give them.

use super::edges::{Arc, next_active_dep, next_dependent};
use super::node::{LIVE, Node, OPEN, SATISFIED};
use super::ready::Ready;
use super::{Index, Spec, State, slim_push};
use crate::graph::{find_path, relevel};

impl Index {
    /// Adds a todo that depends on `deps` (each at most once) and on which nothing depends yet: it cannot close a
    /// cycle.
    pub fn append(&mut self, spec: &Spec, deps: &[u32]) -> u32 {
        let n = self.nodes.len() as u32;
        slim_push(&mut self.nodes, Node::new(spec));
        let reach = self.nodes[n as usize].reach();
        for &d in deps {
            self.edges.link(&mut self.nodes, n, d, false);
            if self.nodes[d as usize].ask(reach) {
                self.seeds.push(d);
            }
            let (level, met) = (self.nodes[d as usize].level + 1, self.nodes[d as usize].is(SATISFIED));
            let node = &mut self.nodes[n as usize];
            node.level = node.level.max(level);
            node.unmet += u32::from(!met);
        }
        let node = &mut self.nodes[n as usize];
        self.ready.append(n, node);
        if node.is_ready() {
            self.ready.insert(n, node);
        }
        self.spread();
        self.tidy();
        n
    }

    /// Changes the status; the dependents that became ready by it are appended to `freed`.
    pub fn set_status(&mut self, n: u32, state: State, freed: &mut Vec<u32>) {
        if state.open() && !self.nodes[n as usize].is(OPEN) {
            self.count_asking(n);
        }
        let node = &mut self.nodes[n as usize];
        let (was_ready, was_met, reach) = (node.is_ready(), node.is(SATISFIED), node.reach());
        node.set_state(state);
        if was_ready != node.is_ready() {
            if was_ready { self.ready.remove(n, node) } else { self.ready.insert(n, node) }
        }
        let mut cursor = node.dependents;
        if state.satisfied() && !was_met {
            let (nodes, arcs, first) = (&mut self.nodes[..], self.edges.arcs(), freed.len());
            while let Some(arc) = next_dependent(arcs, &mut cursor) {
                let node = &mut nodes[arc.from as usize];
                node.unmet -= 1;
                if node.is_ready() {
                    freed.push(arc.from);
                }
            }
            for &d in &freed[first..] {
                self.ready.insert(d, &nodes[d as usize]);
            }
        } else if was_met && !state.satisfied() {
            while let Some(arc) = next_dependent(self.edges.arcs(), &mut cursor) {
                self.unmet_by_one(arc.from);
            }
        }
        self.reach_from(n, reach);
    }

    /// Changes the todo's own priority.
    pub fn set_priority(&mut self, n: u32, priority: u8) {
        let before = self.nodes[n as usize].reach();
        self.re_key(n, |node| node.own = priority.clamp(1, 5));
        self.reach_from(n, before);
    }

    /// Moves the todo in the list.
    pub fn set_position(&mut self, n: u32, position: i64) {
        let node = &mut self.nodes[n as usize];
        if node.position == position {
            return;
        }
        if node.is_ready() {
            self.ready.remove(n, node);
        }
        node.position = position;
        self.ready.loosen(node);
        if node.is_ready() {
            self.ready.insert(n, node);
        }
        self.tidy();
    }

    /// Sets how many of its dependencies are on ids that nobody has.
    pub fn set_dangling(&mut self, n: u32, dangling: u32) {
        self.re_key(n, |node| {
            node.unmet = node.unmet - node.dangling + dangling;
            node.dangling = dangling;
        });
    }

    /// Lets `from` depend on `to`; false if it already does. Refused with the cycle `[from, to, …, from]` it would
    /// close, and then nothing has changed. A suspended edge between them becomes active.
    pub fn add_edge(&mut self, from: u32, to: u32) -> Result<bool, Vec<u32>> {
        let old = self.edges.find(&self.nodes, from, to);
        if old.is_some_and(|e| !self.edges.get(e).suspended()) {
            return Ok(false);
        }
        let Ok(path) = find_path(self, from, to);
        if let Some(path) = path {
            return Err(path);
        }
        match old {
            Some(e) => self.edges.activate(e),
            None => self.link_late(from, to, false),
        }
        if self.nodes[to as usize].level >= self.nodes[from as usize].level {
            let Ok(()) = relevel(self, &[from]);
        }
        let reach = self.nodes[from as usize].reach();
        if self.nodes[to as usize].ask(reach) {
            self.seeds.push(to);
            self.spread();
        }
        Ok(true)
    }

    /// Adds an edge outside the active graph: counted unmet only. False if there is an edge already.
    pub fn suspend_edge(&mut self, from: u32, to: u32) -> bool {
        let new = self.edges.find(&self.nodes, from, to).is_none();
        if new {
            self.link_late(from, to, true);
        }
        new
    }

    /// Takes an edge away; false if there is none.
    pub fn remove_edge(&mut self, from: u32, to: u32) -> bool {
        let Some(e) = self.edges.find(&self.nodes, from, to) else { return false };
        let active = !self.edges.get(e).suspended();
        self.edges.kill(e);
        if !self.nodes[to as usize].is(SATISFIED) {
            self.re_key(from, |node| node.unmet -= 1);
        }
        if active {
            if self.nodes[to as usize].level + 1 == self.nodes[from as usize].level {
                let Ok(()) = relevel(self, &[from]);
            }
            let reach = self.nodes[from as usize].reach();
            if self.nodes[to as usize].unask(reach) {
                self.seeds.push(to);
                self.spread();
            }
        }
        self.edges.sweep(&mut self.nodes);
        true
    }

    /// Takes a todo with all of its edges out of the graph; the dependents that became ready by it are appended to
    /// `freed`. Dependents that shall go on waiting for its id get [`Self::set_dangling`].
    pub fn remove_node(&mut self, n: u32, freed: &mut Vec<u32>) {
        let node = self.nodes[n as usize];
        if !node.is(LIVE) {
            return;
        }
        let mut above = Vec::new();
        let mut cursor = node.dependents;
        while let Some(arc) = next_dependent(self.edges.arcs(), &mut cursor) {
            if !node.is(SATISFIED) {
                met(&mut self.nodes, &mut self.ready, arc.from, freed);
            }
            if !arc.suspended() && arc.from != n {
                above.push(arc.from);
            }
        }
        cursor = node.deps;
        while let Some(d) = next_active_dep(self.edges.arcs(), &mut cursor) {
            if self.nodes[d as usize].unask(node.reach()) {
                self.seeds.push(d);
            }
        }
        self.re_key(n, |node| node.bits &= !LIVE);
        // A suspended edge on itself may just have freed it.
        freed.retain(|&f| f != n);
        self.edges.kill_all(&node);
        let gone = &mut self.nodes[n as usize];
        *gone = Node { unmet: 0, dangling: 0, level: 1, pull: crate::NO_PULL, asking: [0; 6], ..*gone };
        let Ok(()) = relevel(self, &above);
        self.spread();
        self.edges.sweep(&mut self.nodes);
    }

    /// Changes what the key in the ready set depends on, and keeps the set in step.
    pub(super) fn re_key(&mut self, n: u32, change: impl FnOnce(&mut Node)) {
        let node = &mut self.nodes[n as usize];
        let before = *node;
        change(node);
        let (was, is) = (before.is_ready(), node.is_ready());
        if was && (!is || before.effective() != node.effective()) {
            self.ready.remove(n, &before);
        }
        if is && (!was || before.effective() != node.effective()) {
            self.ready.insert(n, node);
        }
    }

    /// One more dependency of `n` is unmet.
    fn unmet_by_one(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        if node.is_ready() {
            self.ready.remove(n, node);
        }
        node.unmet += 1;
    }

    /// Links between nodes that are already in the ready set, or not.
    fn link_late(&mut self, from: u32, to: u32, suspended: bool) {
        self.edges.link(&mut self.nodes, from, to, suspended);
        if !self.nodes[to as usize].is(SATISFIED) {
            self.unmet_by_one(from);
        }
    }

    /// What the dependents of a closed todo would ask of it, for when it is opened.
    #[inline(never)]
    fn count_asking(&mut self, n: u32) {
        let (mut asking, mut cursor) = ([0; 6], self.nodes[n as usize].dependents);
        while let Some(arc) = next_dependent(self.edges.arcs(), &mut cursor) {
            if !arc.suspended() {
                asking[usize::from(self.nodes[arc.from as usize].reach()) - 1] += 1;
            }
        }
        let node = &mut self.nodes[n as usize];
        node.asking = asking;
        node.pull = node.best_asked();
    }

    /// The reach of `n` was `before`: its dependencies are told, and pulls follow. Most changes end at the check,
    /// so only that is inlined: with nothing unmet, all it depends on is closed and asked for nothing.
    #[inline]
    fn reach_from(&mut self, n: u32, before: u8) {
        let node = &self.nodes[n as usize];
        if node.unmet > 0 && node.reach() != before {
            self.tell(n, before);
        }
    }

    #[inline(never)]
    fn tell(&mut self, n: u32, before: u8) {
        tell(&mut self.nodes, self.edges.arcs(), &mut self.seeds, n, before);
        self.spread();
    }

    /// Pulls follow what is asked. No order is needed, unlike in [`crate::graph::repull`]: the counters are exact at
    /// every step, and one change moves all pulls the same way, so a node is touched at most five times.
    fn spread(&mut self) {
        let (nodes, arcs) = (&mut self.nodes[..], self.edges.arcs());
        while let Some(n) = self.seeds.pop() {
            let node = &mut nodes[n as usize];
            let (pull, before) = (node.best_asked(), node.reach());
            re_pull(&mut self.ready, n, node, pull);
            if node.reach() != before {
                tell(nodes, arcs, &mut self.seeds, n, before);
            }
        }
    }

    /// Sets a pull from outside, as [`crate::graph::repull`] does; what it asks for is counted, but does not spread.
    pub(super) fn pull_to(&mut self, n: u32, pull: u8) {
        let node = &mut self.nodes[n as usize];
        let before = node.reach();
        re_pull(&mut self.ready, n, node, pull);
        if node.reach() != before {
            tell(&mut self.nodes, self.edges.arcs(), &mut Vec::new(), n, before);
        }
    }

    fn tidy(&mut self) {
        if self.ready.is_untidy(self.nodes.len()) {
            self.ready.rebuild(&mut self.nodes);
        }
    }
}

/// One dependency of `n` is met now.
fn met(nodes: &mut [Node], ready: &mut Ready, n: u32, freed: &mut Vec<u32>) {
    let node = &mut nodes[n as usize];
    node.unmet -= 1;
    if node.is_ready() {
        ready.insert(n, node);
        freed.push(n);
    }
}

/// Counts the new reach of `n` with everything it depends on, and marks what may have to follow.
#[inline(always)]
fn tell(nodes: &mut [Node], arcs: &[Arc], seeds: &mut Vec<u32>, n: u32, before: u8) {
    let (after, mut cursor) = (nodes[n as usize].reach(), nodes[n as usize].deps);
    while let Some(d) = next_active_dep(arcs, &mut cursor) {
        let node = &mut nodes[d as usize];
        if node.unask(before) | node.ask(after) {
            seeds.push(d);
        }
    }
}

/// Sets a pull and keeps the ready set in step.
#[inline]
fn re_pull(ready: &mut Ready, n: u32, node: &mut Node, pull: u8) {
    let is_ready = node.is_ready();
    if is_ready {
        ready.remove(n, node);
    }
    node.pull = pull;
    if is_ready {
        ready.insert(n, node);
    }
}
