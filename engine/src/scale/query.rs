//! How the cosines of one query are read.

/// Statistics of the cosines in the languages that a model knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineStats {
    /// Mean cosine of a question and a statement that it is not about.
    pub mean: f64,
    /// Its standard deviation.
    pub spread: f64,
    /// Mean level of a question.
    pub level: f64,
}

/// [`CosineStats`] of the default model, whose scale this is: for it, similarities of English texts are its cosines.
const STANDARD: CosineStats = CosineStats { mean: 0.0584, spread: 0.0785, level: 0.0 };
/// The level of a query may be below the known one by this much by chance, or above it: to believe too much is worse.
const CHANCE_BELOW: f64 = 0.06;
const CHANCE_ABOVE: f64 = 0.03;
/// From here on, a text that is nearest to a language that the model does not know is in it.
const FOREIGN: f64 = 0.1;

/// How the cosines of one query are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryScale {
    /// The cosine of unrelated texts.
    mean: f64,
    stretch: f64,
    /// The share of the query that the model reads.
    read: f64,
    is_foreign: bool,
    /// Whether the query may be in English.
    is_english: bool,
}

impl QueryScale {
    /// Cosines as they are, where nothing is known of the model.
    pub const PLAIN: QueryScale =
        QueryScale { mean: STANDARD.mean, stretch: 1.0, read: 1.0, is_foreign: false, is_english: true };

    /// Each cosine as that of unrelated texts, until the model is measured.
    pub const MEASURING: QueryScale = QueryScale { stretch: 0.0, ..QueryScale::PLAIN };

    /// Adjusts the scale to a query of which the model reads only this share.
    pub fn reading(self, share: f64) -> Self {
        QueryScale { read: share.clamp(0.0, 1.0), ..self }
    }

    /// The scale of a query whose level is `level`, by a model with these statistics; `is_foreign`: nearest to a language that
    /// the model does not know.
    pub fn of(known: CosineStats, level: f64, is_foreign: bool) -> Self {
        let stretch = STANDARD.spread / known.spread;
        let above = (level - known.level) * stretch;
        let shift = above - above.clamp(-CHANCE_BELOW, CHANCE_ABOVE);
        QueryScale {
            mean: known.mean + shift / stretch,
            stretch,
            read: 1.0,
            is_foreign: is_foreign && shift >= FOREIGN,
            is_english: true,
        }
    }

    /// Sets whether the query is nearest to English, or to another language.
    pub fn in_english(self, is_english: bool) -> Self {
        QueryScale { is_english, ..self }
    }

    /// The similarity that a cosine stands for, -1 to 1.
    pub fn similarity(&self, cosine: f64) -> f64 {
        let above = (cosine - self.mean) * self.stretch;
        (STANDARD.mean + self.read * above).clamp(-1.0, 1.0)
    }

    /// Whether the query may be in English: nothing says that it is not.
    pub fn is_english(&self) -> bool {
        self.is_english && !self.is_foreign()
    }

    /// Whether the model does not know the language of the query: then words say more than its cosines.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign || self.read < 0.5
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn similarity_never_falls_as_the_cosine_rises(
            mean in -0.5f64..0.9, spread in 0.02f64..0.5, level in -0.5f64..1.0, read in 0.0f64..1.0,
            cosine in -1.0f64..1.0, more in 0.0f64..1.0,
        ) {
            let scale = QueryScale::of(CosineStats { mean, spread, level: mean }, level, false).reading(read);
            prop_assert!((-1.0..=1.0).contains(&scale.similarity(cosine)));
            prop_assert!(scale.similarity(cosine + more) >= scale.similarity(cosine));
        }
    }

    #[test]
    fn cosines_are_placed_as_those_of_the_default_model() {
        let known = CosineStats { mean: 0.75, spread: 0.04, level: 0.76 };
        let of = |level: f64, cosine: f64| QueryScale::of(known, level, false).similarity(cosine);
        assert!(
            (of(0.76, 0.75) - STANDARD.mean).abs() < 1e-9
                && (of(0.76, 0.79) - STANDARD.mean - STANDARD.spread).abs() < 1e-9
        );
        assert_eq!(of(0.765, 0.8), of(0.76, 0.8), "by chance");
        assert!(of(0.8, 0.8) < of(0.76, 0.8) - 0.04 && of(0.7, 0.8) > of(0.76, 0.8) + 0.04);
    }

    #[test]
    fn an_unreadable_query_is_as_similar_as_unrelated_texts() {
        let unread = QueryScale::PLAIN.reading(0.0);
        assert_eq!(unread.similarity(1.0), STANDARD.mean);
        assert!(unread.is_foreign() && !QueryScale::PLAIN.is_foreign());
        assert!((QueryScale::PLAIN.similarity(0.4) - 0.4).abs() < 1e-9);
    }
}
