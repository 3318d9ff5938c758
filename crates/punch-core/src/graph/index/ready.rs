//! The ready set, ordered by (effective priority, position, node), for a handful of instructions a change.
//!
//! A node has a rank, its place by position when ranks were last given, and is a bit in the set of its priority.
//! Ranks equal handles while todos come in list order, and then nothing is stored. A node that moved, or came in
//! between, is loose: kept in a tree, until enough are loose to be worth ranking all anew.

use std::collections::BTreeSet;

use super::bits::Bits;
use super::node::{LOOSE, NONE, Node};

#[derive(Clone, Debug, Default)]
pub(super) struct Ready {
    buckets: [Bits; 5],
    loose: BTreeSet<(u8, i64, u32)>,
    /// Rank of each node and back; both empty while they are the identity.
    rank: Vec<u32>,
    at: Vec<u32>,
    /// The position of the last rank.
    last: Option<i64>,
    loose_nodes: usize,
}

impl Ready {
    #[inline]
    pub fn insert(&mut self, n: u32, node: &Node) {
        if node.is(LOOSE) {
            self.loose.insert((node.effective(), node.position, n));
        } else {
            let rank = self.rank(n);
            self.buckets[bucket(node.effective())].insert(rank);
        }
    }

    /// `node` as it was when inserted.
    #[inline]
    pub fn remove(&mut self, n: u32, node: &Node) {
        if node.is(LOOSE) {
            self.loose.remove(&(node.effective(), node.position, n));
        } else {
            let rank = self.rank(n);
            self.buckets[bucket(node.effective())].remove(rank);
        }
    }

    fn rank(&self, n: u32) -> u32 {
        if self.rank.is_empty() { n } else { self.rank[n as usize] }
    }

    fn node(&self, rank: u32) -> u32 {
        if self.at.is_empty() { rank } else { self.at[rank as usize] }
    }

    /// Ranks a new node (the one with the highest handle), or makes it loose.
    pub fn append(&mut self, n: u32, node: &mut Node) {
        let in_order = self.last.is_none_or(|last| last <= node.position);
        if !self.rank.is_empty() {
            self.rank.push(if in_order { self.at.len() as u32 } else { NONE });
            if in_order {
                self.at.push(n);
            }
        }
        if in_order {
            self.last = Some(node.position);
        } else {
            self.loosen(node);
        }
    }

    /// Its position no longer follows from its rank. The node must not be in the set just now.
    pub fn loosen(&mut self, node: &mut Node) {
        if !node.is(LOOSE) {
            node.bits |= LOOSE;
            self.loose_nodes += 1;
        }
    }

    /// So many are loose that ranking all costs less than going on.
    pub fn is_untidy(&self, nodes: usize) -> bool {
        self.loose_nodes > 64 + nodes / 8
    }

    /// Ranks all nodes and fills the set.
    pub fn rebuild(&mut self, nodes: &mut [Node]) {
        self.loose.clear();
        self.loose_nodes = 0;
        self.buckets.iter_mut().for_each(Bits::clear);
        self.rank = Vec::new();
        self.at = Vec::new();
        if !nodes.is_sorted_by_key(|node| node.position) {
            self.at = (0..nodes.len() as u32).collect();
            self.at.sort_unstable_by_key(|&n| (nodes[n as usize].position, n));
            self.rank = vec![0; nodes.len()];
            for (rank, &n) in self.at.iter().enumerate() {
                self.rank[n as usize] = rank as u32;
            }
        }
        self.last = nodes.len().checked_sub(1).map(|top| nodes[self.node(top as u32) as usize].position);
        for (n, node) in nodes.iter_mut().enumerate() {
            node.bits &= !LOOSE;
            if node.is_ready() {
                self.insert(n as u32, node);
            }
        }
    }

    /// The first of [`Self::iter`], without its set-up.
    pub fn first(&self, nodes: &[Node]) -> Option<u32> {
        (1..=5).find_map(|priority| {
            let ranked = self.buckets[bucket(priority)].first().map(|rank| self.node(rank));
            if self.loose.is_empty() {
                return ranked;
            }
            let loose = self.loose.range((priority, i64::MIN, 0)..(priority + 1, i64::MIN, 0)).next();
            ranked.into_iter().chain(loose.map(|l| l.2)).min_by_key(|&n| (nodes[n as usize].position, n))
        })
    }

    pub fn iter<'a>(&'a self, nodes: &'a [Node]) -> impl Iterator<Item = u32> + 'a {
        (1..=5).flat_map(move |priority| {
            let bits = &self.buckets[bucket(priority)];
            let ranked = std::iter::successors(bits.first(), |&rank| bits.next(rank + 1)).map(|rank| self.node(rank));
            let key = move |n: &u32| (nodes[*n as usize].position, *n);
            let loose = self.loose.range((priority, i64::MIN, 0)..(priority + 1, i64::MIN, 0)).map(|&(_, _, n)| n);
            merge(ranked, loose, key)
        })
    }

    pub fn memory(&self) -> usize {
        let ranks = (self.rank.capacity() + self.at.capacity()) * size_of::<u32>();
        // Half-full tree nodes: about two entries' room for one.
        let loose = self.loose.len() * 2 * size_of::<(u8, i64, u32)>();
        self.buckets.iter().map(Bits::memory).sum::<usize>() + ranks + loose
    }
}

const fn bucket(priority: u8) -> usize {
    priority as usize - 1
}

/// Two sorted runs as one.
fn merge<K: Ord>(
    a: impl Iterator<Item = u32>,
    b: impl Iterator<Item = u32>,
    key: impl Fn(&u32) -> K,
) -> impl Iterator<Item = u32> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if key(y) < key(x) => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
}
