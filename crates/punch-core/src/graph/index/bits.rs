//! An ordered set of small numbers: a bit each, and three rows of summaries above, so that inserting, removing and
//! finding the next one touch at most four words whatever the size.

#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    /// A bit in row `k + 1` says that the word below is not empty.
    rows: [Vec<u64>; 4],
}

impl Bits {
    #[inline]
    pub fn insert(&mut self, number: u32) {
        let at = number as usize;
        // The rows above matter only for the first number of a word.
        match self.rows[0].get_mut(at >> 6) {
            Some(word) if *word != 0 => *word |= 1 << (at & 63),
            _ => self.insert_above(at),
        }
    }

    fn insert_above(&mut self, mut at: usize) {
        if at >> 6 >= self.rows[0].len() {
            self.grow(at);
        }
        for row in &mut self.rows {
            let word = &mut row[at >> 6];
            let before = *word;
            *word |= 1 << (at & 63);
            if before != 0 {
                return;
            }
            at >>= 6;
        }
    }

    #[inline]
    pub fn remove(&mut self, number: u32) {
        let at = number as usize;
        if let Some(word) = self.rows[0].get_mut(at >> 6) {
            *word &= !(1 << (at & 63));
            if *word == 0 {
                self.remove_above(at >> 6);
            }
        }
    }

    fn remove_above(&mut self, mut at: usize) {
        for row in &mut self.rows[1..] {
            let word = &mut row[at >> 6];
            *word &= !(1 << (at & 63));
            if *word != 0 {
                return;
            }
            at >>= 6;
        }
    }

    /// The smallest number not below `from`.
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut at = from as usize;
        let mut height = 0;
        loop {
            let word = self.rows[height].get(at >> 6)? >> (at & 63);
            if word != 0 {
                at += word.trailing_zeros() as usize;
                break;
            }
            at = (at >> 6) + 1;
            // Nothing lies above the top row: there the next word is tried.
            if height + 1 < self.rows.len() {
                height += 1;
            } else {
                at <<= 6;
            }
        }
        Some(self.descend(height, at))
    }

    /// The smallest number; from the top, so an empty set costs one look.
    pub fn first(&self) -> Option<u32> {
        let top = self.rows.len() - 1;
        let word = self.rows[top].iter().position(|&word| word != 0)?;
        Some(self.descend(top, word << 6 | self.rows[top][word].trailing_zeros() as usize))
    }

    /// The smallest number below the bit `at` of a row.
    fn descend(&self, mut height: usize, mut at: usize) -> u32 {
        while height > 0 {
            height -= 1;
            at = at << 6 | self.rows[height][at].trailing_zeros() as usize;
        }
        at as u32
    }

    pub fn clear(&mut self) {
        for row in &mut self.rows {
            row.fill(0);
        }
    }

    #[cold]
    fn grow(&mut self, at: usize) {
        let mut words = (at >> 6) + 1;
        words += words / 8;
        for row in &mut self.rows {
            row.reserve_exact(words.saturating_sub(row.len()));
            row.resize(words, 0);
            words = words.div_ceil(64);
        }
    }

    pub fn memory(&self) -> usize {
        self.rows.iter().map(|row| row.capacity() * size_of::<u64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Bits;

    #[test]
    fn equals_an_ordered_set() {
        let (mut bits, mut set) = (Bits::default(), BTreeSet::new());
        let mut seed = 7u32;
        for round in 0..20_000u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Mostly near, sometimes far, so that every row is crossed.
            let number = if seed & 15 == 0 { (seed >> 8) % 20_000_000 } else { (seed >> 8) % 5_000 };
            if seed >> 31 == 0 {
                bits.insert(number);
                set.insert(number);
            } else {
                bits.remove(number);
                set.remove(&number);
            }
            if round % 16 == 0 {
                assert_eq!(bits.next(number), set.range(number..).next().copied());
                assert_eq!(bits.next(0), set.first().copied());
                assert_eq!(bits.first(), set.first().copied());
            }
        }
        bits.clear();
        assert_eq!(bits.next(0), None);
    }
}
