//! The inputs of a ranking: a view of the store, and the candidates of a query in it.

use super::candidates::{self, Collected};
use super::merge::Candidate;
use super::rerank::may_be_english;
use super::view::{SearchContext, View, without_vector};
use crate::config::Config;
use crate::error::{Error, Remedy, Result};
use crate::keywords::has_only_codes;
use crate::records::ModelId;
use crate::scale::QueryScale;
use crate::types::{Explain, MAX_POOL, Millis, Mode, Period, Query, RecordId, Scale, Weights};

/// The vector of a query, or why there is none.
pub type QueryVector = std::result::Result<Embedded, NoVector>;

/// A query as a model sees it.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The model.
    pub model: ModelId,
    /// The vector that it made.
    pub vector: Vec<f32>,
    /// How its cosines are read.
    pub scale: QueryScale,
}

/// Why a query has no vector.
#[derive(Debug, Clone)]
pub struct NoVector {
    why: String,
    remedy: Option<Remedy>,
}

impl NoVector {
    /// For a reason that nothing can be done about.
    pub fn because(why: &str) -> Self {
        NoVector { why: why.to_owned(), remedy: None }
    }
}

impl From<Error> for NoVector {
    fn from(error: Error) -> Self {
        NoVector { why: error.to_string(), remedy: error.remedy() }
    }
}

/// The inputs that were gathered for a query.
pub struct Gathered {
    /// The store as it was.
    pub view: View,
    /// The candidates, by id.
    pub candidates: Vec<Candidate>,
    /// The terms of the keyword index that were searched for.
    pub terms: Vec<String>,
    /// Times, and numbers of candidates.
    pub explain: Explain,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The remedy for a missing vector.
    pub remedy: Option<Remedy>,
    /// Whether the vector index was searched.
    pub has_vector: bool,
    /// Whether the keyword index was.
    pub by_words: bool,
    /// Whether the model does not know the language of the query.
    pub is_foreign: bool,
    /// Whether the query may be in English.
    pub is_english: bool,
    /// Whether the words of the query were found only within other words.
    pub is_within_words: bool,
}

/// Gathers the candidates of `query` and the `wanted` record, whether that passes the filter or not.
///
/// # Errors
/// Errors of the indexes and of the database.
pub fn gather(
    context: &SearchContext<'_>,
    query: &Query,
    vector: Option<QueryVector>,
    wanted: Option<RecordId>,
    config: &Config,
    now: Millis,
) -> Result<Gathered> {
    let scale = query.scale.unwrap_or(config.scale);
    let period = query.period.filter(|_| scale == Scale::Theoretical);
    let pool = match (query.pool, period) {
        // What lies in a period may rank far behind before it is lifted.
        (None, Some(_)) => (4 * query.pool()).min(MAX_POOL.max(query.pool())),
        _ => query.pool(),
    };
    let weights = query.weights.unwrap_or(config.weights).normalised()?;
    let mut explain = Explain { pool, weights, scale, ..Explain::default() };
    let mut warnings = Vec::new();
    let mut remedy = None;
    let vector = match vector {
        Some(Ok(vector)) => Some(vector),
        Some(Err(missing)) => {
            warnings.push(without_vector(query, &missing.why));
            remedy = missing.remedy;
            None
        }
        None => None,
    };
    let view = context.open_view(query, vector.as_ref().map(|embedded| embedded.model), now)?;
    warnings.extend(view.warnings().iter().cloned());
    remedy = remedy.or(view.remedy());
    explain.tail = view.tail.entries;

    let by_words = query.has_text() && (query.mode != Mode::Vector || vector.is_none() || view.vectors.is_none());
    let vector = vector.filter(|_| view.vectors.is_some());
    if vector.is_some() {
        warnings.extend(pending_warning(&view, by_words, now)?);
    }
    let has_vector = vector.is_some();
    let scale = vector.as_ref().map_or(QueryScale::PLAIN, |embedded| embedded.scale);
    let vector = vector.as_ref().map(|embedded| (&*embedded.vector, context.store.config().quality, scale));
    let collected = candidates::collect(&view, query, vector, by_words, wanted, now, &mut explain)?;
    let Collected { mut candidates, terms, is_within_words } = collected;
    candidates.iter_mut().for_each(|candidate| candidate.calibrate_cosines(&scale));
    if let Some(period) = period {
        place_in(period, &mut candidates, &view)?;
    }
    explain.weights = match (has_vector, by_words) {
        (true, true) => explain.weights,
        (true, false) => Weights { vector: 1.0, keyword: 0.0 },
        (false, _) => Weights { vector: 0.0, keyword: 1.0 },
    };
    Ok(Gathered {
        view,
        candidates,
        terms,
        explain,
        warnings,
        remedy,
        has_vector,
        by_words,
        is_within_words,
        is_foreign: scale.is_foreign() && !has_only_codes(&query.text),
        is_english: scale.is_english() && may_be_english(&query.text),
    })
}

/// Says of each candidate whether it is of the period that the query is about.
fn place_in(period: Period, candidates: &mut [Candidate], view: &View) -> Result<()> {
    let ids: Vec<_> = candidates.iter().map(|candidate| candidate.id).collect();
    let of_period = view.records.of_period(period, &ids)?;
    for candidate in candidates {
        candidate.in_period = Some(of_period.contains(&candidate.id));
    }
    Ok(())
}

/// A warning about records that a vector search cannot find yet.
fn pending_warning(view: &View, by_words: bool, now: Millis) -> Result<Option<String>> {
    let waiting = view.records.pending_count(now)?;
    let count = match waiting {
        0 if view.records.has_pending_passages()? => "parts of long memories are not embedded yet".to_owned(),
        0 => return Ok(None),
        1 => "1 memory is not embedded yet".to_owned(),
        some => format!("{some} memories are not embedded yet"),
    };
    let until_then = if by_words { "keyword search only" } else { "not in vector results" };
    Ok(Some(format!("{count}: {until_then}")))
}
