//! How the cosines of one query are read.

/// How unrelated texts compare in the languages that a model knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Mean cosine of a question and a statement.
    pub mean: f64,
    /// Its standard deviation.
    pub spread: f64,
    /// Mean level of a question.
    pub level: f64,
}

/// [`Known`] of the default model, whose scale this is: for it, similarities of English texts are its cosines.
const STANDARD: Known = Known { mean: 0.095, spread: 0.085, level: 0.117 };
/// The level of a query may be this much above the known one by chance.
const CHANCE: f64 = 0.04;
/// From here on, it is above for a reason.
const FOREIGN: f64 = 0.14;

/// How the cosines of one query are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryScale {
    mean: f64,
    stretch: f64,
    /// What all similarities lose, since the model finds such texts alike.
    lost: f64,
    /// The share of the query that the model reads.
    read: f64,
}

impl QueryScale {
    /// Cosines as they are, where nothing is known of the model.
    pub const PLAIN: QueryScale = QueryScale { mean: STANDARD.mean, stretch: 1.0, lost: 0.0, read: 1.0 };

    /// The same for a query of which the model reads only this share.
    pub fn reading(self, share: f64) -> Self {
        QueryScale { read: share.clamp(0.0, 1.0), ..self }
    }

    /// That of a query by a model of which this is known, whose level is `level`.
    pub fn of(known: Known, level: f64) -> Self {
        let stretch = STANDARD.spread / known.spread;
        let above = (level - known.level) * stretch;
        let share = ((above - CHANCE) / (FOREIGN - CHANCE)).clamp(0.0, 1.0);
        QueryScale { mean: known.mean, stretch, lost: share * above.max(0.0), read: 1.0 }
    }

    /// The similarity that a cosine stands for, -1 to 1.
    pub fn similarity(&self, cosine: f64) -> f64 {
        let above = (cosine - self.mean) * self.stretch - self.lost;
        (STANDARD.mean + self.read * above).clamp(-1.0, 1.0)
    }

    /// Whether the model does not know the language of the query: then words say more than its cosines.
    pub fn is_foreign(&self) -> bool {
        self.lost >= FOREIGN || self.read < 0.5
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn similarity_never_falls_as_the_cosine_rises(
            mean in -0.5f64..0.9, stretch in 0.5f64..6.0, lost in 0.0f64..1.0, read in 0.0f64..1.0,
            cosine in -1.0f64..1.0, more in 0.0f64..1.0,
        ) {
            let scale = QueryScale { mean, stretch, lost, read };
            prop_assert!((-1.0..=1.0).contains(&scale.similarity(cosine)));
            prop_assert!(scale.similarity(cosine + more) >= scale.similarity(cosine));
        }
    }

    #[test]
    fn what_a_model_cannot_read_is_as_similar_as_unrelated_texts() {
        let unread = QueryScale::PLAIN.reading(0.0);
        assert_eq!(unread.similarity(1.0), STANDARD.mean);
        assert!(unread.is_foreign() && !QueryScale::PLAIN.is_foreign());
        assert_eq!(QueryScale::PLAIN.similarity(0.4), 0.4);
    }
}
