//! One scale for the cosines of every model.
//!
//! Two unrelated texts have a cosine of 0.1 by one model, of 0.4 or 0.75 by others, and of 0.6 by the first one too if both are in a
//! language that it does not know. So a cosine alone says nothing about relevance. [`similarity`](QueryScale::similarity) places it
//! on the scale of the default model in English, for which the constants of relevance, recall and duplicates were fitted.
//!
//! When a store adopts a model, [`CosineScale::measure`] embeds the sentences of `sentences.tsv`: unrelated statements in 40
//! languages, hexadecimal numbers, emoji and code, and unrelated questions in ten of the languages. It keeps
//!
//! - the *level* of each question: the mean cosine to the statements of the group that is nearest to it, without the best of them;
//! - the *known* languages: those whose level is within two spreads of the lowest;
//! - the *mean* and the *spread* (standard deviation) of the cosines between questions and statements of a known language;
//! - the vectors of the statements, so that each query gets a level of its own.
//!
//! A cosine is then shifted and stretched so that mean and spread are those of the default model in English
//! ([`STANDARD`]). If the level of the query is above that of the known languages by more than chance, as with a language that the
//! model does not know, all its cosines are lower by the same difference. The share of a query that the model reads as unknown
//! tokens pulls its similarities towards the mean. The map never falls as the cosine rises.
//!
//! | file | job |
//! |---|---|
//! | `measure.rs` | what is measured of a model |
//! | `file.rs` | the file that keeps it |

mod file;
mod measure;

use file::Statements;

/// What the scale has of a model. Shared by all its queries.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineScale {
    /// The identity of the model, as in the vector index.
    model: String,
    known: Known,
    statements: Statements,
}

/// How unrelated texts compare in the languages that a model knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Mean cosine of a question and a statement.
    mean: f64,
    /// Its standard deviation.
    spread: f64,
    /// Mean level of a question.
    level: f64,
}

/// [`Known`] of the default model, whose scale this is: for it, similarities of English texts are its cosines.
const STANDARD: Known = Known { mean: 0.095, spread: 0.085, level: 0.117 };
/// The level of a query may be this much above the known one by chance.
const CHANCE: f64 = 0.06;
/// From here on, it is above for a reason.
const FOREIGN: f64 = 0.18;

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

impl CosineScale {
    /// The identity of the model that it is of.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How the cosines of a query with this vector are read.
    pub fn of_query(&self, vector: &[f32]) -> QueryScale {
        let Known { mean, spread, level } = self.known;
        let stretch = STANDARD.spread / spread;
        let above = (self.statements.level(vector, spread) - level) * stretch;
        let share = ((above - CHANCE) / (FOREIGN - CHANCE)).clamp(0.0, 1.0);
        QueryScale { mean, stretch, lost: share * above.max(0.0), read: 1.0 }
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
