//! What is measured of a model: built-in sentences, embedded.

use memorist_embed::Embedder;

use super::model::CosineScale;
use super::query::Known;
use super::statements::{Statements, sentences};
use crate::error::{Error, Result};
use crate::types::embedding::{is_one, length};

/// A language is known if its level is within so many spreads of the lowest.
const KNOWN_SPREADS: f64 = 2.0;
/// No model tells unrelated texts apart better than this: a smaller spread is one of equal vectors.
const LEAST_SPREAD: f64 = 0.005;

impl CosineScale {
    /// Measures a model. Takes as long as it takes to embed 225 short texts.
    ///
    /// # Errors
    /// Those of the model.
    pub fn measure(embedder: &dyn Embedder, model: String) -> Result<Self> {
        let statements = sentences("statement");
        let questions = sentences("question");
        let texts: Vec<&str> = statements.iter().flat_map(|(_, texts)| texts.iter().copied()).collect();
        let vectors = checked(embedder.embed_batch(&texts)?, texts.len())?;
        let dims = vectors.first().map_or(0, Vec::len);
        let kept = Statements::new(dims, vectors.concat());
        let mut languages = Vec::with_capacity(questions.len());
        for (language, texts) in &questions {
            let mut asked = Vec::with_capacity(texts.len());
            for text in texts {
                asked.push(embedder.embed_query(text)?);
            }
            let asked = checked(asked, texts.len())?;
            let group = statements.iter().position(|(group, _)| group == language).unwrap_or_default();
            let cosines = asked.iter().flat_map(|vector| kept.cosines(vector, group)).collect();
            languages.push(Language { cosines, asked });
        }
        Ok(CosineScale { model, known: Known::of(&languages, &kept), statements: kept })
    }
}

/// The vectors, if the model made as many as it was given texts, and each of the length 1.
fn checked(vectors: Vec<Vec<f32>>, count: usize) -> Result<Vec<Vec<f32>>> {
    let dims = vectors.first().map_or(0, Vec::len);
    let is_sound = |vector: &Vec<f32>| vector.len() == dims && is_one(length(vector));
    match vectors.len() == count && vectors.iter().all(is_sound) {
        true => Ok(vectors),
        false => Err(Error::bad_vector("it made no vectors of length 1 of the built-in sentences")),
    }
}

/// The questions of one language.
struct Language {
    /// Their cosines to the statements of the same language.
    cosines: Vec<f64>,
    asked: Vec<Vec<f32>>,
}

impl Known {
    fn of(languages: &[Language], statements: &Statements) -> Self {
        let spread_of = |cosines: &[f64]| {
            let mean = mean(cosines.iter().copied());
            mean_of_squares(cosines, mean).sqrt().max(LEAST_SPREAD)
        };
        let level = |language: &Language, spread: f64| {
            mean(language.asked.iter().map(|vector| statements.level(vector, spread)))
        };
        let levels: Vec<f64> = languages.iter().map(|one| level(one, spread_of(&one.cosines))).collect();
        let best = (0..levels.len()).min_by(|a, b| levels[*a].total_cmp(&levels[*b])).unwrap_or_default();
        let limit = levels[best] + KNOWN_SPREADS * spread_of(&languages[best].cosines);
        let known: Vec<usize> = (0..levels.len()).filter(|at| levels[*at] <= limit).collect();
        let all: Vec<f64> = known.iter().flat_map(|at| languages[*at].cosines.iter().copied()).collect();
        // Within each language: how far apart the means of languages are is no spread of unrelated texts.
        let squares = known.iter().map(|at| {
            let cosines = &languages[*at].cosines;
            mean_of_squares(cosines, mean(cosines.iter().copied())) * cosines.len() as f64
        });
        let spread = (squares.sum::<f64>() / all.len() as f64).sqrt().max(LEAST_SPREAD);
        Known { mean: mean(all.iter().copied()), spread, level: mean(known.iter().map(|at| levels[*at])) }
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn mean_of_squares(values: &[f64], from: f64) -> f64 {
    mean(values.iter().map(|value| (value - from).powi(2)))
}
