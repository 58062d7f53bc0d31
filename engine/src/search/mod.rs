//! Hybrid search.
//!
//! | file | job |
//! |---|---|
//! | `view.rs` | one consistent view of records, both indexes and the unapplied tail |
//! | `tail.rs` | the unapplied tail of the log, searched exactly |
//! | `superseded.rs` | a cache of the superseded records, which are live but not results |
//! | `at_once.rs` | two parts of a search at the same time |
//! | `candidates.rs` | the candidates of both indexes, and the missing scores |
//! | `threads.rs` | a candidate judged with its neighbours in a thread |
//! | `merge.rs` | one ranking of all candidates |
//! | `relevance.rs` | how likely a record answers the query |
//! | `timing.rs` | how long a step took |
//! | `parts.rs` | the last resort: parts of words |
//! | `near_miss.rs` | the best memory, where a threshold excluded it |

mod at_once;
mod candidates;
mod merge;
mod near_miss;
mod parts;
mod relevance;
mod superseded;
mod tail;
mod threads;
mod timing;
mod view;

use std::time::Instant;

use merge::{Candidate, Ranked};
use near_miss::Missed;
pub use superseded::SupersededCache;
pub use tail::TailCache;
use timing::micros;
use view::keyword_fallback;
pub use view::{SearchContext, View};

use crate::config::Config;
use crate::error::{Error, Remedy, Result};
use crate::records::ModelId;
use crate::types::{
    DOUBTFUL, Explain, Hit, LinkKind, MAX_POOL, Millis, Mode, NearMiss, Period, Query, Scale, SearchReply, Tier,
    Weights,
};

/// The warning of a search for parts of words in a store with more text than one search reads.
const NEWEST_ONLY: &str = "parts of words were looked for in the newest memories only: the store has more text than one search \
     reads";

/// The vector of a query and the model that made it, or why there is none.
pub type QueryVector = std::result::Result<(ModelId, Vec<f32>), NoVector>;

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

/// Answers `query` from the store of `context`. `vector` is the query's embedding, or `None` for a keyword search.
///
/// # Errors
/// Those of the indexes and of the database. An unusable index is a warning, not an error.
pub fn search(
    context: &SearchContext<'_>,
    query: &Query,
    vector: Option<QueryVector>,
    config: &Config,
    now: Millis,
) -> Result<SearchReply> {
    let started = Instant::now();
    let scale = query.scale.unwrap_or(config.scale);
    let period = query.period.filter(|_| scale == Scale::Theoretical);
    let pool = match (query.pool, period) {
        // What lies in a period may rank far behind before it is lifted.
        (None, Some(_)) => (4 * query.pool()).min(MAX_POOL),
        _ => query.pool(),
    };
    let weights = query.weights.unwrap_or(config.weights).normalised()?;
    let mut explain = Explain { pool, weights, scale, ..Explain::default() };
    let mut warnings = Vec::new();
    let mut remedy = None;
    let vector = match vector {
        Some(Ok(vector)) => Some(vector),
        Some(Err(missing)) => {
            warnings.push(keyword_fallback(&missing.why));
            remedy = missing.remedy;
            None
        }
        None => None,
    };
    let view = context.open_view(query, vector.as_ref().map(|(model, _)| *model), now)?;
    warnings.extend(view.warnings().iter().cloned());
    remedy = remedy.or(view.remedy());
    explain.tail = view.tail.entries;

    let by_words = query.mode != Mode::Vector || vector.is_none() || view.vectors.is_none();
    let vector = vector.map(|(_, vector)| vector).filter(|_| view.vectors.is_some());
    if vector.is_some() {
        warnings.extend(pending_warning(&view, by_words, now)?);
    }
    let vector = vector.as_deref().map(|vector| (vector, context.store.config().quality));
    let mut candidates = candidates::collect(&view, query, vector, by_words, now, &mut explain)?;
    if let Some(period) = period {
        place_in(period, &mut candidates, &view)?;
    }
    let found_nothing = candidates.is_empty();
    let merging = Instant::now();
    explain.weights = match (&vector, by_words) {
        (Some(_), true) => explain.weights,
        (Some(_), false) => Weights { vector: 1.0, keyword: 0.0 },
        (None, _) => Weights { vector: 0.0, keyword: 1.0 },
    };
    let (ranked, near_miss) = rank(&view, query, candidates, (explain.weights, explain.scale), now)?;
    explain.merge_us += micros(merging);

    let loading = Instant::now();
    // Those of the previous pages are loaded too: which of them are results decides where this page begins.
    let most = query.offset + query.limit + 1;
    let mut hits = load(&view, &ranked, query, most, now)?;
    let mut tier = match (&vector, query.mode) {
        (None, Mode::Hybrid | Mode::Vector) => Tier::Keyword,
        _ => Tier::Full,
    };
    if (found_nothing || vector.is_none() && explain.only_corrected) && by_words && query.substring_tier {
        let (found, complete) = parts::find(&view, query, now, most)?;
        if !complete {
            warnings.push(NEWEST_ONLY.to_owned());
        }
        if !found.is_empty() {
            hits = found.into_iter().map(unscored).collect();
            tier = Tier::Substring;
        }
    }
    if query.mode == Mode::Vector && vector.is_none() {
        // A keyword search replaces the vector search: the similarity of a result is unknown.
        hits.iter_mut().for_each(|hit| hit.score = 0.0);
    }
    if query.include_superseded {
        put_after_successors(&view, &mut hits, query, now)?;
    }
    let nothing = tier != Tier::Substring && is_nothing(&ranked, query);
    let more = cut_page(&mut hits, query);
    add_contradictions(&view, &mut hits, query, now)?;
    add_neighbours(&view, &mut hits, query, now)?;
    explain.load_us = micros(loading);
    explain.total_us = micros(started);
    Ok(SearchReply { hits, more, reserved: 0, nothing, tier, warnings, near_miss, remedy, explain })
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
        0 if view.records.has_pending_passages()? => "parts of long memories wait".to_owned(),
        0 => return Ok(None),
        1 => "1 memory waits".to_owned(),
        some => format!("{some} memories wait"),
    };
    let until_then = if by_words { "found by their words alone" } else { "not found by meaning" };
    Ok(Some(format!("{count} for an embedding, until then {until_then}")))
}

/// The candidates that reach the thresholds of the query, best first, and the best of those that do not.
fn rank(
    view: &View,
    query: &Query,
    mut candidates: Vec<Candidate>,
    (weights, scale): (Weights, Scale),
    now: Millis,
) -> Result<(Vec<Ranked>, Option<NearMiss>)> {
    let mut missed = None;
    if let Some(least) = query.min_similarity {
        missed = Missed::similarity(&mut candidates, least);
    }
    let mut ranked = merge::merge(candidates, weights, scale);
    if let Some(least) = query.min_score {
        missed = Missed::score(&mut ranked, least).or(missed);
    }
    if let Some(least) = query.min_relevance {
        missed = Missed::relevance(&mut ranked, least).or(missed);
    }
    let near_miss = missed.map(|missed| missed.load(view, query, now)).transpose()?.flatten();
    Ok((ranked, near_miss))
}

/// The records of the best `most` candidates. One that has been deleted meanwhile is skipped; the record itself decides
/// whether it passes the filter.
fn load(view: &View, ranked: &[Ranked], query: &Query, most: usize, now: Millis) -> Result<Vec<Hit>> {
    let mut hits = Vec::with_capacity(most.min(ranked.len()));
    for chunk in ranked.chunks(most) {
        let ids: Vec<_> = chunk.iter().map(|ranked| ranked.candidate.id).collect();
        let mut records = view.records.records(&ids, now)?.into_iter().peekable();
        for Ranked { candidate, score, relevance, .. } in chunk {
            if let Some(record) = records.next_if(|record| record.id == candidate.id) {
                if !query.filter.allows(&record) {
                    debug_assert!(false, "an index let memory {} through {:?}", record.id, query.filter);
                    tracing::warn!("an index let memory {} through a filter that refuses it", record.id);
                    continue;
                }
                let passage = view.records.passage(record.id, candidate.passage)?;
                hits.push(Hit {
                    record,
                    passage,
                    score: *score,
                    relevance: *relevance,
                    matched_by: candidate.found_by.clone(),
                    vector_score: candidate.vector,
                    keyword_score: candidate.keyword,
                    word_share: candidate.share,
                    rarest_word: candidate.rarest,
                    lent_by: candidate.in_thread.as_ref().map(|thread| thread.lenders.clone()).unwrap_or_default(),
                    neighbours: Vec::new(),
                    contradicted_by: Vec::new(),
                });
            }
        }
        if hits.len() >= most {
            break;
        }
    }
    hits.truncate(most);
    Ok(hits)
}

/// A record that only the substring tier found.
fn unscored(record: crate::types::Record) -> Hit {
    Hit {
        record,
        passage: None,
        score: 0.0,
        relevance: 0.0,
        matched_by: Vec::new(),
        vector_score: None,
        keyword_score: None,
        word_share: None,
        rarest_word: None,
        lent_by: Vec::new(),
        neighbours: Vec::new(),
        contradicted_by: Vec::new(),
    }
}

/// Moves each superseded record that ranks above one that supersedes it to the place after that one.
fn put_after_successors(view: &View, hits: &mut [Hit], query: &Query, now: Millis) -> Result<()> {
    let ids: Vec<_> = hits.iter().map(|hit| hit.record.id).collect();
    let by = view.records.linked_from(&ids, LinkKind::Supersedes, &query.filter.viewer, now)?;
    // No record supersedes itself, over whatever others, so that each move is the last for its pair. A damaged store may say
    // otherwise: the moves are limited.
    let (mut at, mut moves) = (0, hits.len() * hits.len());
    while at < hits.len() && moves > 0 {
        moves -= 1;
        let successors = by.get(&hits[at].record.id).map(Vec::as_slice).unwrap_or_default();
        let last = hits.iter().rposition(|hit| successors.contains(&hit.record.id)).filter(|last| *last > at);
        match last {
            None => at += 1,
            Some(last) => {
                let score = hits[last].score;
                hits[at].score = hits[at].score.min(score);
                hits[at..=last].rotate_left(1);
            }
        }
    }
    Ok(())
}

/// Whether nothing that was found seems to answer the query.
fn is_nothing(ranked: &[Ranked], query: &Query) -> bool {
    let doubtful = |ranked: &Ranked| query.min_relevance.is_none() && ranked.relevance < DOUBTFUL;
    ranked.iter().all(doubtful)
}

/// Keeps the page that the query asks for. Returns whether there are more.
fn cut_page(hits: &mut Vec<Hit>, query: &Query) -> bool {
    let end = query.offset + query.limit;
    let more = hits.len() > end;
    hits.truncate(end);
    hits.drain(..query.offset.min(hits.len()));
    more
}

/// Adds to each result the records around it in its thread, if this search could have found them.
fn add_neighbours(view: &View, hits: &mut [Hit], query: &Query, now: Millis) -> Result<()> {
    for hit in hits.iter_mut().filter(|hit| query.neighbours > 0 && hit.record.session.is_some()) {
        hit.neighbours = view.records.around(hit.record.id, query.neighbours, now)?;
        hit.neighbours.retain(|record| query.filter.allows(record) && !view.hidden.contains(record.id.key()));
    }
    Ok(())
}

/// Adds to each result the records that contradict it, if this search could have found them.
fn add_contradictions(view: &View, hits: &mut [Hit], query: &Query, now: Millis) -> Result<()> {
    let ids: Vec<_> = hits.iter().map(|hit| hit.record.id).collect();
    let mut by = view.records.linked_from(&ids, LinkKind::Contradicts, &query.filter.viewer, now)?;
    for hit in hits {
        hit.contradicted_by = by.remove(&hit.record.id).unwrap_or_default();
        hit.contradicted_by.retain(|id| !view.hidden.contains(id.key()));
    }
    Ok(())
}
