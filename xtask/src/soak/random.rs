//! Random numbers that follow from a seed alone (SplitMix64).

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of one writer: every seed and writer has its own.
    pub const fn new(seed: u64, writer: u64) -> Self {
        Self(seed.wrapping_add(writer.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.next() % limit }
    }

    /// True in this many of a hundred cases.
    pub const fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}
