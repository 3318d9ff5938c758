//! Picks the best ready todo that is small enough, with a tree of minima over the order of preference, in time
//! logarithmic in the size of the plan.

/// Not ready.
const ABSENT: u64 = u64::MAX;

/// Ready todos by rank.
pub(super) struct Pick {
    /// A complete binary tree: node `n` has the children `2n` and `2n + 1`; the leaves are the ranks.
    least: Vec<u64>,
    leaves: usize,
}

impl Pick {
    pub fn new(len: usize) -> Self {
        let leaves = len.next_power_of_two();
        Self { least: vec![ABSENT; 2 * leaves], leaves }
    }

    /// Makes a rank ready. Sizes near the maximum are not distinguished.
    pub fn insert(&mut self, rank: u32, tokens: u64) {
        self.set(rank, tokens.min(ABSENT - 1));
    }

    /// Takes a rank away.
    pub fn remove(&mut self, rank: u32) {
        self.set(rank, ABSENT);
    }

    fn set(&mut self, rank: u32, value: u64) {
        let mut at = self.leaves + rank as usize;
        self.least[at] = value;
        while at > 1 {
            at /= 2;
            self.least[at] = self.least[2 * at].min(self.least[2 * at + 1]);
        }
    }

    /// The best rank that is ready and needs at most `room`.
    pub fn first(&self, room: u64) -> Option<u32> {
        self.from(0, room)
    }

    /// The best rank, starting at `rank`, that is ready and needs at most `room`.
    pub fn from(&self, rank: u32, room: u64) -> Option<u32> {
        let room = room.min(ABSENT - 1);
        if rank as usize >= self.leaves {
            return None;
        }
        let mut at = self.leaves + rank as usize;
        while self.least[at] > room {
            // The next part to the right: up as long as this is the end of one.
            while at % 2 == 1 {
                at /= 2;
            }
            if at == 0 {
                return None;
            }
            at += 1;
        }
        while at < self.leaves {
            at = 2 * at + usize::from(self.least[2 * at] > room);
        }
        Some((at - self.leaves) as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tree_answers_as_a_scan(steps in prop::collection::vec((0u32..20, prop::option::of(0u64..9), 0u64..9), 0..60)) {
            let mut pick = Pick::new(20);
            let mut plain = vec![None; 20];
            for (rank, tokens, room) in steps {
                plain[rank as usize] = tokens;
                match tokens {
                    Some(tokens) => pick.insert(rank, tokens),
                    None => pick.remove(rank),
                }
                let scan = |from: u32| (from..20u32).find(|&rank| plain[rank as usize].is_some_and(|tokens| tokens <= room));
                prop_assert_eq!(pick.first(room), scan(0));
                for from in [rank, 19, 31, 32, u32::MAX] {
                    prop_assert_eq!(pick.from(from, room), if from < 20 { scan(from) } else { None });
                }
            }
        }
    }

    #[test]
    fn the_largest_size_is_ready_too() {
        let mut pick = Pick::new(1);
        pick.insert(0, u64::MAX);
        assert_eq!((pick.first(u64::MAX), pick.first(5)), (Some(0), None));
    }
}
