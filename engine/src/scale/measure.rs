//! Measures a model with built-in sentences.

use memorist_embed::Embedder;

use super::model::{CosineScale, Trait, detect_language};
use super::query::CosineStats;
use super::statements::{Group, Statements, cosine, groups};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::types::embedding::{is_one, length};

/// A language is known if questions and the statements that they are about stand out by this part of what they do in the best one.
const KNOWN_SHARE: f64 = 0.25;
/// A group without questions is one if its statements are not nearer to one another than those of a known language, but for
/// so many spreads.
const TOLERANCE: f64 = 0.7;
/// No model tells texts apart worse than this: smaller ones are those of equal vectors.
const LEAST: f64 = 0.005;

impl CosineScale {
    /// Measures a model. Takes as long as it takes to embed 350 short texts.
    ///
    /// # Errors
    /// Errors of the model, and [`Error::Cancelled`].
    pub fn measure(embedder: &dyn Embedder, model: String, progress: &dyn Progress) -> Result<Self> {
        let groups = groups();
        let texts: Vec<&str> = groups.iter().flat_map(|group| group.statements.iter().copied()).collect();
        let vectors = checked(embedder.embed_batch(&texts)?, texts.len())?;
        let statements = Statements::new(vectors.first().map_or(0, Vec::len), vectors.concat());
        let mut asked = Vec::with_capacity(groups.len());
        for Group { questions, .. } in &groups {
            let embed = |text: &&str| {
                cancel_point(progress)?;
                Ok(embedder.embed_query(text)?)
            };
            let vectors: Result<Vec<_>> = questions.iter().map(embed).collect();
            asked.push(checked(vectors?, questions.len())?);
        }
        let measured: Vec<Option<QuestionStats>> =
            asked.iter().enumerate().map(|(group, vectors)| QuestionStats::of(&statements, group, vectors)).collect();
        let best = measured.iter().flatten().map(|asked| asked.rise).fold(LEAST, f64::max);
        let is_known = |asked: &&QuestionStats| asked.rise >= KNOWN_SHARE * best;
        let known: Vec<usize> =
            (0..groups.len()).filter(|group| measured[*group].as_ref().filter(is_known).is_some()).collect();
        let of_known = |value: fn(&QuestionStats) -> f64| {
            mean(&known.iter().filter_map(|group| measured[*group].as_ref()).map(value).collect::<Vec<_>>())
        };
        let spread = of_known(|asked| asked.spread).max(LEAST);
        let levels: Vec<Vec<Vec<f64>>> = (0..groups.len())
            .map(|group| statements.of_group(group).map(|vector| statements.levels(vector)).collect())
            .collect();
        let dense = |group: usize| density(&statements, group);
        let densest = known.iter().map(|group| dense(*group)).fold(f64::MIN, f64::max);
        let traits: Vec<Trait> = (0..groups.len())
            .map(|group| {
                let others = (0..groups.len()).filter(|other| *other != group && statements.is_language(*other));
                let of_others: Vec<f64> =
                    others.flat_map(|other| levels[other].iter().map(|levels| levels[group])).collect();
                let is_foreign = match &measured[group] {
                    Some(asked) => !is_known(&asked),
                    None => dense(group) > densest + TOLERANCE * spread,
                };
                Trait { bias: mean(&of_others), is_foreign }
            })
            .collect();
        let of_questions = known.iter().flat_map(|group| &asked[*group]);
        let level: Vec<f64> =
            of_questions.map(|vector| detect_language(&statements, &traits, spread, vector).level).collect();
        let known = CosineStats { mean: of_known(|asked| asked.unrelated), spread, level: mean(&level) };
        Ok(CosineScale { model, known, traits, statements })
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

/// Statistics of the questions of a group.
struct QuestionStats {
    /// Mean cosine to the statements that they are not about.
    unrelated: f64,
    /// Its standard deviation.
    spread: f64,
    /// How much higher the mean cosine to their own statements is.
    rise: f64,
}

impl QuestionStats {
    fn of(statements: &Statements, group: usize, questions: &[Vec<f32>]) -> Option<Self> {
        let (mut about, mut unrelated) = (Vec::new(), Vec::new());
        for (at, question) in questions.iter().enumerate() {
            for (other, statement) in statements.of_group(group).take(questions.len()).enumerate() {
                if at == other { &mut about } else { &mut unrelated }.push(cosine(question, statement));
            }
        }
        let middle = (!questions.is_empty()).then(|| mean(&unrelated))?;
        let squares: Vec<f64> = unrelated.iter().map(|cosine| (cosine - middle).powi(2)).collect();
        Some(QuestionStats { unrelated: middle, spread: mean(&squares).sqrt(), rise: mean(&about) - middle })
    }
}

/// Mean cosine of two statements of a group.
fn density(statements: &Statements, group: usize) -> f64 {
    let vectors: Vec<&[f32]> = statements.of_group(group).collect();
    let pairs = (0..vectors.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    mean(&pairs.map(|(a, b)| cosine(vectors[a], vectors[b])).collect::<Vec<_>>())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
