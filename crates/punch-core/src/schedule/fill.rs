//! Chooses among equally urgent todos so that a window is as full as possible. It looks at only a few of them, because
//! perfect packing costs more than it gains.

/// Todos that are looked at.
pub(super) const LOOKED_AT: usize = 12;

/// Sums that are followed; the smaller ones of more are given up.
const SUMS: usize = 64;

/// The first of those that together fill the room best, by its place in `sizes`, which are in order of preference.
pub(super) fn first_of_fullest(sizes: &[u64], room: u64) -> usize {
    if sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size)) <= room {
        return 0;
    }
    // What can be reached, ascending, each with the first that it is made up of.
    let mut sums: Vec<(u64, usize)> = vec![(0, 0)];
    for (n, size) in sizes.iter().enumerate().rev() {
        let with: Vec<(u64, usize)> =
            sums.iter().filter_map(|(sum, _)| Some((sum.checked_add(*size).filter(|sum| *sum <= room)?, n))).collect();
        sums = merged(&sums, &with);
        let over = sums.len().saturating_sub(SUMS);
        sums.drain(1..=over);
    }
    sums.last().map_or(0, |(_, first)| *first)
}

/// Two ascending lists as one; of equal sums the one that has what is preferred.
fn merged(without: &[(u64, usize)], with: &[(u64, usize)]) -> Vec<(u64, usize)> {
    let mut out = Vec::with_capacity(without.len() + with.len());
    let (mut a, mut b) = (without.iter().peekable(), with.iter().peekable());
    while let Some(one) = match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x.0 < y.0 => a.next(),
        (Some(x), Some(y)) if x.0 == y.0 => {
            a.next();
            b.next()
        }
        (_, Some(_)) => b.next(),
        (Some(_), None) => a.next(),
        (None, None) => None,
    } {
        out.push(*one);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_preferred_comes_first_where_all_or_enough_fit() {
        assert_eq!(first_of_fullest(&[5, 3, 2], 10), 0);
        assert_eq!(first_of_fullest(&[5, 3, 2, 9], 10), 0, "5 + 3 + 2");
        assert_eq!(first_of_fullest(&[6, 5, 5], 10), 1, "5 + 5 leaves nothing free");
        assert_eq!(first_of_fullest(&[u64::MAX, u64::MAX], u64::MAX), 0);
        assert_eq!(first_of_fullest(&[], 3), 0);
    }

    proptest! {
        /// Against every subset: the answer begins one that no other is fuller than.
        #[test]
        fn nothing_fuller_is_possible(sizes in prop::collection::vec(1u64..40, 1..7), room in 1u64..100) {
            let sum = |set: usize| -> u64 { sizes.iter().enumerate().filter(|(n, _)| set >> n & 1 == 1).map(|(_, s)| s).sum() };
            let sets: Vec<usize> = (0..1usize << sizes.len()).filter(|set| sum(*set) <= room).collect();
            let most = sets.iter().map(|set| sum(*set)).max().unwrap();
            let first = first_of_fullest(&sizes, room);
            let starts = |set: &&usize| set.trailing_zeros() as usize == first || (most == 0 && first == 0);
            prop_assert!(sets.iter().filter(|set| sum(**set) == most).any(|set| starts(&set)));
        }

        #[test]
        fn many_and_large_ones_end(sizes in prop::collection::vec(any::<u64>(), 0..LOOKED_AT), room: u64) {
            prop_assert!(first_of_fullest(&sizes, room) < sizes.len().max(1));
        }
    }
}
