//! Single changes. Each leaves every counter, level, pull and the ready set as a rebuild would give them.

use super::node::{LIVE, Node, SATISFIED};
use super::{Index, Spec, State, slim_push};
use crate::graph::{find_path, relevel, repull};

impl Index {
    /// Adds a todo that depends on `deps` (each at most once) and on which nothing depends yet: it cannot close a
    /// cycle.
    pub fn append(&mut self, spec: &Spec, deps: &[u32]) -> u32 {
        let n = self.nodes.len() as u32;
        slim_push(&mut self.nodes, Node::new(spec));
        let reach = self.nodes[n as usize].reach();
        let mut seeds = std::mem::take(&mut self.seeds);
        for &d in deps {
            self.link_counted(n, d, false);
            let level = self.nodes[d as usize].level + 1;
            let node = &mut self.nodes[n as usize];
            node.level = node.level.max(level);
            self.ask(d, reach, &mut seeds);
        }
        self.ready.append(n, &mut self.nodes[n as usize]);
        if self.nodes[n as usize].is_ready() {
            self.ready.insert(n, &self.nodes[n as usize]);
        }
        self.spread(seeds);
        self.tidy();
        n
    }

    /// Changes the status; the dependents that became ready by it are appended to `freed`.
    pub fn set_status(&mut self, n: u32, state: State, freed: &mut Vec<u32>) {
        let before = self.nodes[n as usize];
        self.re_key(n, |node| node.set_state(state));
        if before.is(SATISFIED) != state.satisfied {
            let mut cursor = before.dependents;
            while let Some(arc) = self.next_dependent(&mut cursor) {
                if state.satisfied {
                    self.met(arc.from, freed);
                } else {
                    self.unmet_by(arc.from, 1);
                }
            }
        }
        self.reach_from(n, before.reach());
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
        let old = self.find(from, to);
        if old.is_some_and(|e| !self.arc(e).suspended()) {
            return Ok(false);
        }
        let Ok(path) = find_path(self, from, to);
        if let Some(path) = path {
            return Err(path);
        }
        match old {
            Some(e) => self.activate(e),
            None => self.link_late(from, to, false),
        }
        if self.nodes[to as usize].level >= self.nodes[from as usize].level {
            let Ok(()) = relevel(self, &[from]);
        }
        let mut seeds = std::mem::take(&mut self.seeds);
        self.ask(to, self.nodes[from as usize].reach(), &mut seeds);
        self.spread(seeds);
        Ok(true)
    }

    /// Adds an edge outside the active graph: counted unmet only. False if there is an edge already.
    pub fn suspend_edge(&mut self, from: u32, to: u32) -> bool {
        let new = self.find(from, to).is_none();
        if new {
            self.link_late(from, to, true);
        }
        new
    }

    /// Takes an edge away; false if there is none.
    pub fn remove_edge(&mut self, from: u32, to: u32) -> bool {
        let Some(e) = self.find(from, to) else { return false };
        let active = !self.arc(e).suspended();
        self.kill(e);
        if !self.nodes[to as usize].is(SATISFIED) {
            self.re_key(from, |node| node.unmet -= 1);
        }
        if active {
            if self.nodes[to as usize].level + 1 == self.nodes[from as usize].level {
                let Ok(()) = relevel(self, &[from]);
            }
            let mut seeds = std::mem::take(&mut self.seeds);
            self.unask(to, self.nodes[from as usize].reach(), &mut seeds);
            self.spread(seeds);
        }
        self.sweep();
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
        while let Some(arc) = self.next_dependent(&mut cursor) {
            if !node.is(SATISFIED) {
                self.met(arc.from, freed);
            }
            if !arc.suspended() && arc.from != n {
                above.push(arc.from);
            }
        }
        let mut seeds = std::mem::take(&mut self.seeds);
        cursor = node.deps;
        while let Some(arc) = self.next_dep(&mut cursor) {
            if !arc.suspended() {
                self.unask(arc.to(), node.reach(), &mut seeds);
            }
        }
        self.re_key(n, |node| node.bits &= !LIVE);
        // A suspended edge on itself may just have freed it.
        freed.retain(|&f| f != n);
        self.kill_all(n);
        let gone = &mut self.nodes[n as usize];
        *gone = Node { unmet: 0, dangling: 0, level: 1, pull: crate::NO_PULL, asking: [0; 5], ..*gone };
        let Ok(()) = relevel(self, &above);
        self.spread(seeds);
        self.sweep();
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

    /// One dependency of `n` is met now.
    fn met(&mut self, n: u32, freed: &mut Vec<u32>) {
        let node = &mut self.nodes[n as usize];
        node.unmet -= 1;
        if node.is_ready() {
            self.ready.insert(n, node);
            freed.push(n);
        }
    }

    /// `count` more dependencies of `n` are unmet.
    fn unmet_by(&mut self, n: u32, count: u32) {
        let node = &mut self.nodes[n as usize];
        if node.is_ready() {
            self.ready.remove(n, node);
        }
        node.unmet += count;
    }

    /// Links between nodes that are already in the ready set, or not.
    fn link_late(&mut self, from: u32, to: u32, suspended: bool) {
        self.link(from, to, suspended);
        if !self.nodes[to as usize].is(SATISFIED) {
            self.unmet_by(from, 1);
        }
    }

    /// A new dependent with this reach asks `d`.
    fn ask(&mut self, d: u32, reach: u8, seeds: &mut Vec<u32>) {
        let node = &mut self.nodes[d as usize];
        if let Some(count) = node.asking(reach) {
            *count += 1;
        }
        if reach < node.pull {
            seeds.push(d);
        }
    }

    /// A dependent with this reach asks `d` no longer.
    fn unask(&mut self, d: u32, reach: u8, seeds: &mut Vec<u32>) {
        let node = &mut self.nodes[d as usize];
        if let Some(count) = node.asking(reach) {
            *count -= 1;
            if *count == 0 && reach == node.pull {
                seeds.push(d);
            }
        }
    }

    /// The reach of `n` was `before`: its dependencies count it anew, and pulls follow.
    fn reach_from(&mut self, n: u32, before: u8) {
        let after = self.nodes[n as usize].reach();
        if after == before {
            return;
        }
        let mut seeds = std::mem::take(&mut self.seeds);
        let mut cursor = self.nodes[n as usize].deps;
        while let Some(arc) = self.next_dep(&mut cursor) {
            if !arc.suspended() {
                self.unask(arc.to(), before, &mut seeds);
                self.ask(arc.to(), after, &mut seeds);
            }
        }
        self.spread(seeds);
    }

    /// The counting half of [`Self::reach_from`], for the spread itself.
    pub(super) fn recount(&mut self, n: u32, before: u8) {
        let after = self.nodes[n as usize].reach();
        if after == before {
            return;
        }
        let mut cursor = self.nodes[n as usize].deps;
        while let Some(arc) = self.next_dep(&mut cursor) {
            if !arc.suspended() {
                let node = &mut self.nodes[arc.to() as usize];
                if let Some(count) = node.asking(before) {
                    *count -= 1;
                }
                if let Some(count) = node.asking(after) {
                    *count += 1;
                }
            }
        }
    }

    fn spread(&mut self, mut seeds: Vec<u32>) {
        if !seeds.is_empty() {
            let Ok(()) = repull(self, &seeds);
            seeds.clear();
        }
        self.seeds = seeds;
    }

    fn tidy(&mut self) {
        if self.ready.is_untidy(self.nodes.len()) {
            self.ready.rebuild(&mut self.nodes);
        }
    }
}
