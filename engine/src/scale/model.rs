//! The scale of a model.

use super::query::{CosineStats, QueryScale};
use super::statements::Statements;

/// A group that is so many spreads less near than the nearest counts less by the factor e.
const SHARPNESS: f64 = 1.0 / 3.0;
/// Texts that are in no language are a little nearer to everything than others: a group that is no language prevails only if
/// it is nearer by so many spreads.
const NO_LANGUAGE: f64 = 1.5;

/// The group of English, the first one.
const ENGLISH: usize = 0;

/// The properties of a group of statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trait {
    /// The mean level of statements of other groups in this one: some are near to everything.
    pub bias: f64,
    /// Whether the model does not know the language.
    pub is_foreign: bool,
}

/// The scale of a model. Shared by all its queries.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineScale {
    /// The identity of the model, as in the vector index.
    pub(super) model: String,
    pub(super) known: CosineStats,
    /// The properties of each group.
    pub(super) traits: Vec<Trait>,
    pub(super) statements: Statements,
}

/// The language of a text, by where it stands among the groups.
pub(super) struct DetectedLanguage {
    /// How near unrelated texts in its language are to it.
    pub level: f64,
    /// Whether it is in a language, and the model does not know that. Numbers, symbols and code are in none.
    pub is_foreign: bool,
    /// Whether it is nearest to English, or in no language.
    pub is_english: bool,
}

impl CosineScale {
    /// The identity of the model that it is of.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How the cosines of a query with this vector are read.
    pub fn of_query(&self, vector: &[f32]) -> QueryScale {
        match self.detect_language(vector) {
            Some(language) => {
                QueryScale::of(self.known, language.level, language.is_foreign).in_english(language.is_english)
            }
            None => QueryScale::PLAIN,
        }
    }

    /// Whether the text of this vector is in a language that the model does not know. Code and numbers are in none.
    pub fn is_foreign_language(&self, vector: &[f32]) -> bool {
        self.of_query(vector).is_foreign()
    }

    /// `None` for a vector of other dimensions.
    fn detect_language(&self, vector: &[f32]) -> Option<DetectedLanguage> {
        (vector.len() == self.statements.dims())
            .then(|| detect_language(&self.statements, &self.traits, self.known.spread, vector))
    }
}

/// Groups count by how much nearer they are than they are to other texts.
pub(super) fn detect_language(
    statements: &Statements,
    traits: &[Trait],
    spread: f64,
    vector: &[f32],
) -> DetectedLanguage {
    let levels = statements.levels(vector);
    let nearness = |group: usize| levels[group] - traits[group].bias;
    let (languages, others): (Vec<usize>, Vec<usize>) =
        (0..levels.len()).partition(|group| statements.is_language(*group));
    let nearest = |groups: &[usize]| groups.iter().copied().max_by(|a, b| nearness(*a).total_cmp(&nearness(*b)));
    let (language, other) = (nearest(&languages).unwrap_or_default(), nearest(&others).unwrap_or_default());
    if nearness(other) > nearness(language) + NO_LANGUAGE * spread {
        return DetectedLanguage { level: levels[other], is_foreign: false, is_english: true };
    }
    let (mut sum, mut level, mut foreign) = (0.0, 0.0, 0.0);
    for group in languages {
        let weight = ((nearness(group) - nearness(language)) / (SHARPNESS * spread)).exp();
        sum += weight;
        level += weight * levels[group];
        foreign += if traits[group].is_foreign { weight } else { 0.0 };
    }
    DetectedLanguage { level: level / sum, is_foreign: foreign > sum / 2.0, is_english: language == ENGLISH }
}
