//! Means with intervals, and how well a score separates two groups.

use memorist_embed::hashed::next_random;
use serde::Serialize;

/// Samples of a bootstrap.
const SAMPLES: usize = 1_000;
/// Samples beyond either end of the interval: 2.5 %.
const BEYOND: usize = SAMPLES / 40;
const SEED: u64 = 42;

/// A mean, and its 95 % interval by bootstrap: the values are drawn again and again, with repeats, and nineteen in
/// twenty of the means of these samples are in it. The same values always give the same interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Estimate {
    /// The mean of `values`; 0 without any.
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Estimate::default();
        }
        let mean = |sum: f64| sum / values.len() as f64;
        let mut random = SEED;
        let mut draw = || {
            random = next_random(random);
            // The upper half of the product is even in 0 to the length.
            values[((u128::from(random) * values.len() as u128) >> 64) as usize]
        };
        let mut samples: Vec<f64> = (0..SAMPLES).map(|_| mean(values.iter().map(|_| draw()).sum())).collect();
        samples.sort_unstable_by(f64::total_cmp);
        Estimate { mean: mean(values.iter().sum()), low: samples[BEYOND], high: samples[SAMPLES - 1 - BEYOND] }
    }

    /// The mean of what changed from `before` to `after`, which have a value of each query in the same order. Its
    /// interval is narrower than those of the two means, as a query that is hard for one is hard for the other, too.
    pub fn of_change(before: &[f64], after: &[f64]) -> Self {
        let changes: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
        Estimate::of(&changes)
    }

    /// Half the width of the interval.
    pub fn margin(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The area under the receiver operating characteristic: the share of all pairs of a positive and a negative in which
/// the positive has the higher score; equal scores count half. 0.5 is chance, and what it is without any pair.
pub fn area_under_the_curve(positives: &[f64], negatives: &[f64]) -> f64 {
    if positives.is_empty() || negatives.is_empty() {
        return 0.5;
    }
    let wins = |positive: &f64| -> f64 {
        let below = negatives.iter().filter(|negative| *negative < positive).count();
        let equal = negatives.iter().filter(|negative| *negative == positive).count();
        below as f64 + equal as f64 / 2.0
    };
    positives.iter().map(wins).sum::<f64>() / (positives.len() * negatives.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_normal_distribution() {
        let values: Vec<f64> = (0..400).map(|at| f64::from(at % 4 == 0)).collect();
        let Estimate { mean, low, high } = Estimate::of(&values);
        assert_eq!(mean, 0.25);
        // 1.96 * sqrt(0.25 * 0.75 / 400)
        let expected = 0.0424;
        assert!((0.25 - low - expected).abs() < 0.006 && (high - 0.25 - expected).abs() < 0.006, "{low} to {high}");
        assert_eq!(Estimate::of(&values), Estimate::of(&values));
    }

    #[test]
    fn equal_values_have_no_interval_and_none_have_no_mean() {
        assert_eq!(Estimate::of(&[0.5; 30]), Estimate { mean: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(Estimate::of(&[]), Estimate::default());
        assert_eq!(Estimate { mean: 0.5, low: 0.25, high: 0.75 }.margin(), 0.25);
    }

    #[test]
    fn an_equal_change_of_every_query_has_no_margin_of_error() {
        let before: Vec<f64> = (0..100).map(|at| f64::from(at) / 128.0).collect();
        let after: Vec<f64> = before.iter().map(|value| value + 0.125).collect();
        assert_eq!(Estimate::of_change(&before, &after), Estimate { mean: 0.125, low: 0.125, high: 0.125 });
        assert!(Estimate::of(&before).margin() > 0.03);
        let swapped: Vec<f64> = before.iter().rev().copied().collect();
        let Estimate { mean, low, high } = Estimate::of_change(&before, &swapped);
        assert!(mean.abs() < 1e-9 && low < -0.05 && high > 0.05, "{low} to {high}");
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        assert_eq!(area_under_the_curve(&[0.9, 0.8], &[0.1, 0.2, 0.3]), 1.0);
        assert_eq!(area_under_the_curve(&[0.1], &[0.2, 0.3]), 0.0);
        assert_eq!(area_under_the_curve(&[0.5, 0.3], &[0.4, 0.3]), 0.625);
        assert_eq!(area_under_the_curve(&[0.7; 3], &[0.7; 2]), 0.5);
        assert_eq!(area_under_the_curve(&[], &[0.1]), 0.5);
    }
}
