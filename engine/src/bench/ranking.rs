//! How well a ranking answers a query whose answers are known.

use std::collections::BTreeMap;

/// Results that count, from the first on.
pub const DEPTH: usize = 10;

/// The quality of a query's results, in measures of 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Whether the first result is an answer.
    pub recall_at_1: f64,
    /// The share of the answers that are among the first five results: of as many as there is room for.
    pub recall_at_5: f64,
    /// The share of the answers that are among the first ten.
    pub recall_at_10: f64,
    /// 1 divided by the rank of the first answer, 0 without one. Its mean is the MRR.
    pub reciprocal_rank: f64,
    /// The gain of the answers among the first ten, discounted by their ranks, as a share of that of the best ranking.
    /// An answer of grade g gains 2^g - 1.
    pub ndcg_at_10: f64,
}

impl Measures {
    /// Names of the means of the measures, in the order of [`Measures::values`].
    pub const NAMES: [&str; 5] = ["recall@1", "recall@5", "recall@10", "MRR", "nDCG@10"];

    /// Measures a ranking without repeats. `answers` has the grade of each answer; grade 0 is no answer. Without any answer,
    /// all measures are 0.
    pub fn of<Id: Ord>(found: &[Id], answers: &BTreeMap<Id, u8>) -> Self {
        let found = &found[..found.len().min(DEPTH)];
        let grade = |id: &Id| answers.get(id).copied().unwrap_or_default();
        let mut best: Vec<u8> = answers.values().copied().filter(|grade| *grade > 0).collect();
        if best.is_empty() {
            return Measures::default();
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
        let within = |most: usize| {
            let right = found.iter().take(most).filter(|id| grade(id) > 0).count();
            right as f64 / best.len().min(most) as f64
        };
        let first = found.iter().position(|id| grade(id) > 0);
        Measures {
            recall_at_1: within(1),
            recall_at_5: within(5),
            recall_at_10: within(DEPTH),
            reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
            ndcg_at_10: gain(found.iter().map(grade)) / gain(best.into_iter()),
        }
    }

    /// The measures in the order of [`Measures::NAMES`].
    pub fn values(&self) -> [f64; Self::NAMES.len()] {
        [self.recall_at_1, self.recall_at_5, self.recall_at_10, self.reciprocal_rank, self.ndcg_at_10]
    }
}

/// The discounted gain of results with these grades.
fn gain(grades: impl Iterator<Item = u8>) -> f64 {
    let gains = grades.take(DEPTH).enumerate();
    let gains = gains.map(|(place, grade)| (f64::from(grade).exp2() - 1.0) / ((place + 2) as f64).log2());
    // The sum of nothing is -0.
    0.0 + gains.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(found: &[u32], answers: &[(u32, u8)]) -> [f64; 5] {
        let measures = Measures::of(found, &answers.iter().copied().collect());
        measures.values().map(|value| (value * 1e4).round() / 1e4)
    }

    #[test]
    fn a_single_relevant_answer_scores_by_its_rank() {
        assert_eq!(rounded(&[7, 1, 2], &[(7, 1)]), [1.0; 5]);
        assert_eq!(rounded(&[1, 2, 7], &[(7, 1)]), [0.0, 1.0, 1.0, 0.3333, 0.5]);
        assert_eq!(rounded(&[1, 2, 3, 4, 5, 7], &[(7, 1)]), [0.0, 0.0, 1.0, 0.1667, 0.3562]);
        assert_eq!(rounded(&[1, 2, 3], &[(7, 1)]), [0.0; 5]);
        assert_eq!(rounded(&[], &[(7, 1)]), [0.0; 5]);
        assert!(rounded(&[], &[(7, 1)]).iter().all(|value| value.is_sign_positive()));
    }

    #[test]
    fn results_after_the_tenth_do_not_count() {
        let found: Vec<u32> = (1..=11).collect();
        assert_eq!(rounded(&found, &[(11, 1)]), [0.0; 5]);
        assert_eq!(rounded(&found, &[(10, 1)]), [0.0, 0.0, 1.0, 0.1, 0.2891]);
    }

    #[test]
    fn recall_is_of_the_answers_that_there_is_room_for() {
        let six: Vec<_> = (1..=6).map(|id| (id, 1)).collect();
        assert_eq!(rounded(&[1, 2, 3, 4, 5, 6], &six), [1.0; 5]);
        let [one, five, ten, ..] = rounded(&[1, 90, 2, 91, 92, 3], &six);
        assert_eq!([one, five, ten], [1.0, 0.4, 0.5]);
    }

    #[test]
    fn higher_grades_gain_more() {
        let answers = [(1, 3), (2, 1), (3, 0)];
        assert_eq!(rounded(&[1, 2], &answers)[4], 1.0);
        // (1 + 7 / log2(3)) / (7 + 1 / log2(3)), and grade 0 is no answer.
        assert_eq!(rounded(&[2, 1], &answers)[4], 0.7098);
        assert_eq!(rounded(&[3, 2, 1], &answers)[..4], [0.0, 1.0, 1.0, 0.5]);
    }

    #[test]
    fn metrics_stay_finite_without_answers_and_at_any_grade() {
        assert_eq!(rounded(&[1, 2], &[]), [0.0; 5]);
        assert_eq!(rounded(&[1, 2], &[(1, 0)]), [0.0; 5]);
        assert_eq!(rounded(&[1, 2], &[(1, u8::MAX)]), [1.0; 5]);
    }
}
