//! Seeded plans of sized work in layers, as agents get them: for comparing schedules, always the same for a seed.

/// One piece of work; pieces depend on earlier ones only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// `trivial` … `epic`.
    pub complexity: &'static str,
    /// 1 to 5.
    pub priority: u8,
    /// Earlier pieces, by number.
    pub deps: Vec<usize>,
}

/// A small generator of numbers (splitmix64): the same everywhere, without a dependency.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// From a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    /// One of the values, by weights out of their sum.
    pub fn weighted<T: Copy>(&mut self, values: &[(T, usize)]) -> T {
        let mut at = self.below(values.iter().map(|(_, weight)| weight).sum());
        for (value, weight) in values {
            if at < *weight {
                return *value;
            }
            at -= weight;
        }
        values[0].0
    }
}

const COMPLEXITY: [(&str, usize); 5] = [("trivial", 20), ("small", 30), ("medium", 30), ("large", 15), ("epic", 5)];
const PRIORITY: [(u8, usize); 5] = [(1, 10), (2, 20), (3, 40), (4, 20), (5, 10)];

/// 20 to 200 pieces in 3 to 8 layers, each beyond the first layer with 1 to 3 dependencies. Small plans are more common
/// than large ones: the logarithm of the size is spread evenly.
pub fn seeded(seed: u64) -> Vec<Piece> {
    let mut random = SplitMix::new(seed);
    let count = (20.0 * 10f64.powf(random.below(10_001) as f64 / 10_000.0)).round() as usize;
    layered(&mut random, count)
}

/// This many pieces in 3 to 8 layers.
pub fn layered(random: &mut SplitMix, count: usize) -> Vec<Piece> {
    let layers = 3 + random.below(6);
    let first = |layer: usize| layer * count / layers;
    let mut pieces = Vec::with_capacity(count);
    for layer in 0..layers {
        for _ in first(layer)..first(layer + 1) {
            pieces.push(Piece {
                complexity: random.weighted(&COMPLEXITY),
                priority: random.weighted(&PRIORITY),
                deps: dependencies(random, layer, &first),
            });
        }
    }
    pieces
}

/// One in the layer before, which makes the layer, and others anywhere earlier.
fn dependencies(random: &mut SplitMix, layer: usize, first: &impl Fn(usize) -> usize) -> Vec<usize> {
    let Some(before) = layer.checked_sub(1) else { return Vec::new() };
    let mut deps = vec![first(before) + random.below(first(layer) - first(before))];
    for _ in 0..random.below(3) {
        let other = random.below(first(layer));
        if !deps.contains(&other) {
            deps.push(other);
        }
    }
    deps
}
