//! Estimates what a todo will cost, and how much a context window may hold.

use serde::{Deserialize, Serialize};

use crate::{Complexity, Todo};

/// Tokens that a todo is expected to need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimated tokens.
    pub tokens: u64,
    /// Its size was not given.
    pub assumed: bool,
}

/// The explicit estimate, else the size table, else medium (rule 30); times what was learned from actual use.
pub fn estimate(todo: &Todo, calibration: f64) -> Estimate {
    let given = todo.estimated_tokens.or(todo.complexity.map(Complexity::tokens));
    let tokens = given.unwrap_or(Complexity::Medium.tokens());
    Estimate { tokens: calibrated(tokens, calibration), assumed: given.is_none() }
}

/// A ratio that is none (not a number, zero, below) changes nothing. Conversion from float saturates.
fn calibrated(tokens: u64, calibration: f64) -> u64 {
    // Kept out of the floats: they cannot hold every large number.
    if calibration == 1.0 || !calibration.is_finite() || calibration <= 0.0 {
        return tokens;
    }
    (tokens as f64 * calibration).round() as u64
}

/// 70 % of a context window, rounded down: what a batch of work may fill (rule 28).
pub fn budget(context: u64) -> u64 {
    context / 10 * 7 + context % 10 * 7 / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_per_cent_without_floats() {
        for (context, expected) in [(0, 0), (1, 0), (2, 1), (10, 7), (99, 69), (200_000, 140_000)] {
            assert_eq!(budget(context), expected);
        }
        assert_eq!(budget(u64::MAX), 12_912_720_851_596_686_130);
    }

    #[test]
    fn a_ratio_that_is_none_changes_nothing() {
        for ratio in [1.0, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(calibrated(u64::MAX - 1, ratio), u64::MAX - 1);
        }
        assert_eq!(calibrated(10, 1.25), 13);
        assert_eq!(calibrated(u64::MAX, 2.0), u64::MAX);
    }
}
