//! Chance that is the same in every arm: each draw follows from the seed, what is drawn, for which todo and for which
//! time. An arm that asks more often than another does not shift the draws of the others.

#[derive(Clone, Copy, Debug)]
pub enum Draw {
    Turns,
    User,
    False,
    Untick,
    Stop,
    Remember,
    Repair,
    Check,
    Reveal,
    LookBack,
    Judge,
    Look,
    Promise,
}

#[derive(Clone, Copy, Debug)]
pub struct Draws {
    pub seed: u64,
}

impl Draws {
    /// Returns true with the given probability.
    pub fn hits(self, what: Draw, todo: usize, time: u32, probability: f64) -> bool {
        self.unit(what, todo, time) < probability
    }

    /// A number from 0 to 1, evenly distributed.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(self, what: Draw, todo: usize, time: u32) -> f64 {
        let mut state = mix(self.seed ^ 0x9e37_79b9_7f4a_7c15);
        for part in [what as u64, todo as u64, u64::from(time)] {
            state = mix(state.wrapping_add(part.wrapping_mul(0xbf58_476d_1ce4_e5b9)).wrapping_add(1));
        }
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finalizer of splitmix64.
const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_independent_of_each_other() {
        let share = |what, probability: f64| {
            let hits = (0..4_000).filter(|seed| Draws { seed: *seed }.hits(what, 3, 1, probability)).count();
            f64::from(u32::try_from(hits).unwrap_or_default()) / 4_000.0
        };
        for probability in [0.05, 0.25, 0.7] {
            for what in [Draw::Stop, Draw::False, Draw::Repair] {
                assert!((share(what, probability) - probability).abs() < 0.03);
            }
        }
        let both = |seed: &u64| {
            let draws = Draws { seed: *seed };
            draws.hits(Draw::Stop, 1, 0, 0.5) && draws.hits(Draw::Stop, 2, 0, 0.5)
        };
        let together = (0..4_000).filter(both).count();
        assert!((900..1_100).contains(&together), "{together}");
    }
}
