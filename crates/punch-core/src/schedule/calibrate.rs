//! Calibrates estimates with actual use: one ratio for all of them, and their average error.

use serde::Serialize;

use crate::Complexity;

/// Tokens of work that are taken to have come out as estimated before anything is known: one large project day does not
/// turn every estimate around.
const PRIOR: u64 = 100_000;

/// No history makes an estimate more than ten times larger or smaller.
const WIDEST: f64 = 10.0;

/// A finished todo: what it was estimated at, without calibration, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Estimated tokens.
    pub estimated: u64,
    /// Actual tokens, all attempts together.
    pub actual: u64,
    /// Its size, where it has one.
    pub complexity: Option<Complexity>,
}

/// Actual over estimated, with a prior; 1 without samples.
pub fn calibration(samples: &[Sample]) -> f64 {
    let sum = |of: fn(&Sample) -> u64| samples.iter().map(|sample| of(sample) as f64).sum::<f64>() + PRIOR as f64;
    (sum(|sample| sample.actual) / sum(|sample| sample.estimated)).clamp(1.0 / WIDEST, WIDEST)
}

/// The fit of estimates to actual use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fit {
    /// Todos.
    pub count: usize,
    /// Sum.
    pub estimated: u64,
    /// Sum.
    pub actual: u64,
    /// Actual over estimated tokens of all; null without estimates.
    pub bias: Option<f64>,
    /// Of the ratios of single todos: the lower quartile,
    pub low: Option<f64>,
    /// the one in the middle,
    pub median: Option<f64>,
    /// the upper quartile.
    pub high: Option<f64>,
}

impl Fit {
    /// Computes the fit of some samples.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let samples: Vec<&Sample> = samples.into_iter().collect();
        let sum = |of: fn(&Sample) -> u64| samples.iter().fold(0u64, |sum, sample| sum.saturating_add(of(sample)));
        let (estimated, actual) = (sum(|sample| sample.estimated), sum(|sample| sample.actual));
        let ratio = |sample: &&&Sample| sample.actual as f64 / sample.estimated as f64;
        let mut ratios: Vec<f64> = samples.iter().filter(|sample| sample.estimated > 0).map(|s| ratio(&s)).collect();
        ratios.sort_by(f64::total_cmp);
        let at = |quarters: usize| quantile(&ratios, quarters);
        Self {
            count: samples.len(),
            estimated,
            actual,
            bias: (estimated > 0).then(|| actual as f64 / estimated as f64),
            low: at(1),
            median: at(2),
            high: at(3),
        }
    }
}

/// The value below which that number of quarters of the sorted values lies, between two values where it has to be.
fn quantile(sorted: &[f64], quarters: usize) -> Option<f64> {
    let place = sorted.len().checked_sub(1)? * quarters;
    let (below, above) = (sorted[place / 4], sorted[place.div_ceil(4)]);
    #[expect(clippy::cast_precision_loss, reason = "0 to 3")]
    let share = (place % 4) as f64 / 4.0;
    Some(below + (above - below) * share)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(estimated: u64, actual: u64) -> Sample {
        Sample { estimated, actual, complexity: None }
    }

    #[test]
    fn few_samples_still_have_a_middle_and_quarters() {
        let ratios = |given: &[u64]| {
            let samples: Vec<Sample> = given.iter().map(|actual| sample(100, *actual)).collect();
            let fit = Fit::of(&samples);
            (fit.low.unwrap(), fit.median.unwrap(), fit.high.unwrap())
        };
        assert_eq!(ratios(&[50]), (0.5, 0.5, 0.5));
        assert_eq!(ratios(&[100, 200]), (1.25, 1.5, 1.75));
        assert_eq!(ratios(&[300, 100, 200]), (1.5, 2.0, 2.5));
        assert_eq!(ratios(&[500, 100, 200, 400, 300]), (2.0, 3.0, 4.0));
    }

    #[test]
    fn without_samples_nothing_changes() {
        assert_eq!(calibration(&[]), 1.0);
        let fit = Fit::of(&[]);
        assert_eq!((fit.count, fit.bias, fit.median), (0, None, None));
    }

    #[test]
    fn one_small_surprise_changes_little_and_many_change_much() {
        assert!((calibration(&[sample(2_000, 20_000)]) - 120.0 / 102.0).abs() < 1e-9);
        assert!(calibration(&vec![sample(20_000, 40_000); 100]) > 1.9);
    }

    #[test]
    fn quartiles_are_those_of_single_todos() {
        let samples: Vec<Sample> = [1, 2, 3, 4, 50].map(|n| sample(10, n * 10)).to_vec();
        let fit = Fit::of(&samples);
        assert_eq!((fit.bias, fit.low, fit.median, fit.high), (Some(12.0), Some(2.0), Some(3.0), Some(4.0)));
    }

    proptest! {
        #[test]
        fn the_ratio_is_always_usable(pairs in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..20)) {
            let samples: Vec<Sample> = pairs.into_iter().map(|(e, a)| sample(e, a)).collect();
            let ratio = calibration(&samples);
            prop_assert!((0.1..=10.0).contains(&ratio));
            Fit::of(&samples);
        }
    }
}
