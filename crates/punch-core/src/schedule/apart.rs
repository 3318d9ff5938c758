//! Ready todos that touch files, grouped by their set of files. Todos with the same set take turns, because only one of
//! them can run at once. Only those that could be chosen for some amount of room are offered, so a thousand todos about
//! one file cost no more than a few.

use std::collections::{BTreeMap, BTreeSet};

/// The ready todos of one set of files.
#[derive(Clone, Default)]
pub(super) struct FileQueue {
    /// The ranks of the ready todos of a set, by size.
    ready: BTreeMap<u64, BTreeSet<u32>>,
    /// How many of them are not optional.
    pub required: usize,
    /// Something runs that touches these files.
    pub closed: bool,
    /// What is offered of it.
    pub offered: Vec<u32>,
}

impl FileQueue {
    pub fn add(&mut self, rank: u32, tokens: u64, required: bool) {
        self.ready.entry(tokens).or_default().insert(rank);
        self.required += usize::from(required);
    }

    pub fn remove(&mut self, rank: u32, tokens: u64, required: bool) {
        if let Some(ranks) = self.ready.get_mut(&tokens) {
            ranks.remove(&rank);
            if ranks.is_empty() {
                self.ready.remove(&tokens);
            }
        }
        self.required -= usize::from(required);
    }

    /// Ranks and sizes of those that no better one is as small as.
    pub fn best(&self) -> Vec<(u32, u64)> {
        let mut best: Vec<(u32, u64)> = Vec::new();
        for (&tokens, ranks) in &self.ready {
            let first = ranks.first().filter(|&&rank| best.last().is_none_or(|(better, _)| rank < *better));
            best.extend(first.map(|&rank| (rank, tokens)));
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_fits_first_is_among_the_best(sizes in prop::collection::vec(0u64..9, 0..20), gone in 0usize..20) {
            let mut queue = FileQueue::default();
            for (rank, &tokens) in (0u32..).zip(&sizes) {
                queue.add(rank, tokens, rank % 2 == 0);
            }
            let mut left: Vec<(u32, u64)> = (0u32..).zip(sizes).collect();
            if gone < left.len() {
                let (rank, tokens) = left.remove(gone);
                queue.remove(rank, tokens, rank % 2 == 0);
            }
            prop_assert_eq!(queue.required, left.iter().filter(|(rank, _)| rank % 2 == 0).count());
            for room in 0..10 {
                let first = left.iter().find(|(_, tokens)| *tokens <= room);
                let mut best = queue.best();
                best.sort_unstable();
                prop_assert_eq!(best.iter().find(|(_, tokens)| *tokens <= room), first);
            }
        }
    }
}
