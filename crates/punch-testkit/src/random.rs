//! Random numbers that follow from a seed alone (SplitMix64).

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of one stream: every seed and stream has its own.
    pub const fn new(seed: u64, stream: u64) -> Self {
        Self(seed.wrapping_add(stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
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

    /// A span in milliseconds from `low` to just below `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low).max(0).unsigned_abs()).cast_signed()
    }

    /// True in this many of a hundred cases.
    pub const fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// True in this many of 10,000 cases.
    pub const fn per_ten_thousand(&mut self, share: u64) -> bool {
        self.below(10_000) < share
    }

    /// A waiting time with this mean, as for events that come independently of each other.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "milliseconds of hours fit")]
    pub fn exponential(&mut self, mean: i64) -> i64 {
        let unit = (self.below(1 << 53) as f64 + 1.0) / (1u64 << 53) as f64;
        (-unit.ln() * mean as f64) as i64
    }
}
