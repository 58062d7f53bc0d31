//! Hybrid search.
//!
//! | file | job |
//! |---|---|
//! | `view.rs` | one consistent view of records, both indexes and the unapplied tail |
//! | `tail.rs` | the unapplied tail of the log, searched exactly |
//! | `sets.rs` | a cache of sets of records that are live but not results |
//! | `at_once.rs` | two parts of a search at the same time |
//! | `gathering.rs` | the view and the candidates of a query |
//! | `why.rs` | how one record fares in a search, wherever it ranks |
//! | `candidates.rs` | the candidates of both indexes, and the missing scores |
//! | `neighbors.rs` | the records nearest to one of them |
//! | `threads.rs` | a candidate judged with its neighbors in a thread |
//! | `merge.rs` | one ranking of all candidates |
//! | `relevance.rs` | how likely a record answers the query |
//! | `timing.rs` | how long a step took |
//! | `parts.rs` | the last resort: parts of words, in the texts themselves |
//! | `missing.rs` | the codes of the query that no memory has |
//! | `rerank.rs` | the first results once more, by a model that reads query and memory together |
//! | `order.rs` | the order that is shown, and the reasons for it |
//! | `near_miss.rs` | the best memory, where a threshold excluded it |
//! | `named.rs` | the memory that the query names by its id |

mod at_once;
mod candidates;
mod gathering;
mod merge;
mod missing;
mod named;
mod near_miss;
mod neighbors;
pub mod order;
mod parts;
mod relevance;
mod rerank;
mod sets;
mod tail;
mod threads;
mod timing;
mod view;
mod why;

use std::sync::Arc;
use std::time::Instant;

pub use gathering::{Embedded, NoVector, QueryVector};
use gathering::{Gathered, gather};
use memorist_embed::Reranker;
use merge::{Candidate, Ranked};
use near_miss::Missed;
pub use neighbors::neighbors;
pub use tail::TailCache;
use timing::micros;
pub use view::{SearchContext, SearchSets, View};
pub use why::judge;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::keywords::{has_only_codes, pieces};
use crate::types::{
    DOUBTFUL, Hit, LinkKind, MatchSource, Millis, Mode, NearMiss, Parts, Placed, Query, Scale, SearchReply, Tier,
    Weights,
};

/// The warning of a search for parts of words in a store with more text than one search reads.
const NEWEST_ONLY: &str = "substring search covered the newest memories only: the store has more text than one search \
     reads";

/// The share of the query that a record has within its words, from which it is what was looked for.
const ENOUGH: f64 = 0.2;

/// A best logit below which the reranker has read no answer. Then a relevance below this is doubtful, unless words single out
/// what has it.
const NO_ANSWER: f32 = -6.0;
const DOUBTFUL_IF_READ: f64 = 0.5;

/// Answers `query` from the store of `context`. `vector` is the query's embedding, or `None` for a keyword search. `reranker`
/// reads the first results of a hybrid search.
///
/// # Errors
/// Errors of the indexes and of the database. An unusable index is a warning, not an error.
pub fn search(
    context: &SearchContext<'_>,
    query: &Query,
    vector: Option<QueryVector>,
    reranker: Option<&Arc<dyn Reranker>>,
    config: &Config,
    now: Millis,
) -> Result<SearchReply> {
    let started = Instant::now();
    let gathered = gather(context, query, vector, None, config, now)?;
    let Gathered {
        view,
        candidates,
        mut terms,
        mut explain,
        mut warnings,
        remedy,
        has_vector,
        by_words,
        is_within_words,
        is_foreign,
        is_english,
    } = gathered;
    let found_nothing = candidates.is_empty();
    let merging = Instant::now();
    let Ranking { ranked, near_miss, dropped } = rank(&view, query, candidates, (explain.weights, explain.scale), now)?;
    explain.merge_us += micros(merging);

    let loading = Instant::now();
    // Those of the previous pages are loaded too: which of them are results decides where this page begins.
    let end = query.offset + query.limit;
    let is_ranked = query.mode == Mode::Hybrid && explain.scale == Scale::Theoretical;
    let reranker = reranker.filter(|_| is_ranked && has_vector && is_english);
    let needed = if reranker.is_some() { rerank::NEEDED } else { 0 };
    let most = (end + 1).max(order::needed(end)).max(needed);
    let mut hits = load(&view, &ranked, query, most, now)?;
    let mut tier = match (has_vector, query.mode) {
        (false, Mode::Hybrid | Mode::Vector) => Tier::Keyword,
        _ => Tier::Full,
    };
    let is_guess = !has_vector && (explain.only_corrected || is_within_words);
    if (found_nothing || is_guess) && by_words && query.substring_tier {
        let pieces = pieces(&query.text);
        let (found, complete) = parts::find(&view, query, &pieces, now, most)?;
        if !complete {
            warnings.push(NEWEST_ONLY.to_owned());
        }
        if !found.is_empty() {
            hits = found.into_iter().map(unscored).collect();
            (tier, terms) = (Tier::Substring, pieces);
        }
    }
    if query.mode == Mode::Vector && !has_vector {
        // A keyword search replaces the vector search: the similarity of a result is unknown.
        hits.iter_mut().for_each(|hit| (hit.score, hit.parts) = (0.0, Parts::default()));
    }
    let (mut best_logit, mut is_reranked) = (None, false);
    if let Some(reranker) = reranker.filter(|_| tier == Tier::Full) {
        let reading = Instant::now();
        match rerank::rerank(&view, &mut hits, query, reranker, now) {
            Ok(best) => (best_logit, is_reranked) = (best, true),
            Err(Error::Embedding(error)) => warnings.push(not_reranked(&error)),
            Err(error) => return Err(error),
        }
        explain.rerank_us = micros(reading);
    }
    if is_ranked {
        order::put_newer_first(&mut hits);
    }
    if is_reranked {
        rerank::scale(&mut hits);
    }
    if query.include_superseded {
        put_after_successors(&view, &mut hits, query, now)?;
    }
    let named = named::memory(&view, query, now)?;
    let is_named = named.is_some();
    if let Some(record) = named {
        hits.retain(|hit| hit.record.id != record.id);
        hits.insert(0, Hit { score: 1.0, relevance: 1.0, placed: Some(Placed::Exact), ..unscored(record) });
    }
    let missing = if is_named { Vec::new() } else { missing::missing_codes(&view, query)? };
    // Whatever is near resembles a code by chance.
    let is_unknown = !missing.is_empty() && has_only_codes(&query.text);
    let has_no_answer = best_logit.is_some_and(|best| best < NO_ANSWER);
    let no_answer = tier != Tier::Substring
        && (has_vector || by_words)
        && !is_named
        && (is_unknown || is_nothing(&ranked, query, is_within_words, has_no_answer));
    let more = cut_page(&mut hits, query);
    let weaker = dropped.min(query.limit - hits.len());
    add_contradictions(&view, &mut hits, query, now)?;
    add_neighbors(&view, &mut hits, query, now)?;
    explain.load_us = micros(loading);
    explain.total_us = micros(started);
    Ok(SearchReply {
        hits,
        more,
        reserved: 0,
        no_answer,
        tier,
        warnings,
        near_miss,
        remedy,
        terms,
        missing,
        is_foreign,
        weaker,
        explain,
    })
}

/// The warning of a search whose results no reranker has read, though there is one.
pub fn not_reranked(error: &memorist_embed::Error) -> String {
    format!("the results are not reranked: {error}")
}

/// The candidates in order, as far as they reach the thresholds of the query.
struct Ranking {
    /// The candidates that do, best first.
    ranked: Vec<Ranked>,
    /// The best of those that do not.
    near_miss: Option<NearMiss>,
    /// How many are less relevant than the query requires.
    dropped: usize,
}

fn rank(
    view: &View,
    query: &Query,
    mut candidates: Vec<Candidate>,
    (weights, scale): (Weights, Scale),
    now: Millis,
) -> Result<Ranking> {
    let mut missed = None;
    if let Some(least) = query.min_similarity {
        missed = Missed::similarity(&mut candidates, least);
    }
    let mut ranked = merge::merge(candidates, weights, scale);
    if let Some(least) = query.min_score {
        missed = Missed::score(&mut ranked, least).or(missed);
    }
    let reached = ranked.len();
    if let Some(least) = query.min_relevance {
        missed = Missed::relevance(&mut ranked, least).or(missed);
    }
    let dropped = reached - ranked.len();
    let near_miss = missed.map(|missed| missed.load(view, query, now)).transpose()?.flatten();
    Ok(Ranking { ranked, near_miss, dropped })
}

/// The records of the best `most` candidates. One that has been deleted meanwhile is skipped; the record itself decides
/// whether it passes the filter.
fn load(view: &View, ranked: &[Ranked], query: &Query, most: usize, now: Millis) -> Result<Vec<Hit>> {
    let mut hits = Vec::with_capacity(most.min(ranked.len()));
    for chunk in ranked.chunks(most) {
        let ids: Vec<_> = chunk.iter().map(|ranked| ranked.candidate.id).collect();
        let mut records = view.records.records(&ids, now)?.into_iter().peekable();
        for one in chunk {
            let Ranked { candidate, score, parts, relevance, .. } = one;
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
                    parts: *parts,
                    relevance: *relevance,
                    placed: order::placed(one),
                    matched_by: candidate.found_by.clone(),
                    vector_score: candidate.cosine,
                    similarity: candidate.similarity,
                    keyword_score: candidate.bm25,
                    word_share: candidate.share,
                    rarest_word: candidate.rarest,
                    logit: None,
                    boosted_by: candidate
                        .in_session
                        .as_ref()
                        .map(|session| session.lenders.clone())
                        .unwrap_or_default(),
                    neighbors: Vec::new(),
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
        parts: Parts::default(),
        relevance: 0.0,
        placed: None,
        matched_by: Vec::new(),
        vector_score: None,
        similarity: None,
        keyword_score: None,
        word_share: None,
        rarest_word: None,
        logit: None,
        boosted_by: Vec::new(),
        neighbors: Vec::new(),
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
                hits[at].placed = Some(Placed::Superseded);
                hits[at..=last].rotate_left(1);
            }
        }
    }
    Ok(())
}

/// Whether nothing that was found seems to answer the query, the words of which may be found within other words alone.
/// `has_no_answer`: the reranker has read the first results, and says so.
fn is_nothing(ranked: &[Ranked], query: &Query, is_within_words: bool, has_no_answer: bool) -> bool {
    let asks_for_less = query.min_relevance.is_none_or(|least| least < DOUBTFUL);
    let doubtful = |ranked: &Ranked| {
        let is_read = has_no_answer && ranked.relevance < DOUBTFUL_IF_READ && !ranked.is_exact();
        asks_for_less && (ranked.relevance < DOUBTFUL || is_read)
    };
    // What has enough of the query within its words was looked for, however far its meaning is.
    let is_part = |ranked: &Ranked| {
        let Candidate { found_by, share, .. } = &ranked.candidate;
        is_within_words && found_by.contains(&MatchSource::Part) && share.is_some_and(|share| share >= ENOUGH)
    };
    ranked.iter().all(|ranked| doubtful(ranked) && !is_part(ranked))
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
fn add_neighbors(view: &View, hits: &mut [Hit], query: &Query, now: Millis) -> Result<()> {
    for hit in hits.iter_mut().filter(|hit| query.neighbors > 0 && hit.record.session.is_some()) {
        hit.neighbors = view.records.around(hit.record.id, query.neighbors, now)?;
        hit.neighbors.retain(|record| query.filter.allows(record) && !view.hidden.contains(record.id.key()));
    }
    Ok(())
}

/// Adds to each result the records that contradict it, if this search could have found them.
fn add_contradictions(view: &View, hits: &mut [Hit], query: &Query, now: Millis) -> Result<()> {
    let ids: Vec<_> = hits.iter().map(|hit| hit.record.id).collect();
    let mut by = view.records.linked_from(&ids, LinkKind::Contradicts, &query.filter.viewer, now)?;
    for hit in hits {
        hit.contradicted_by = by.remove(&hit.record.id).unwrap_or_default();
        hit.contradicted_by.retain(|id| !view.gone.contains(id.key()));
    }
    Ok(())
}
