//! The candidates of both indexes, under the same filter, and the scores that an index did not return.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Instant;

use roaring::RoaringTreemap;

use super::merge::Candidate;
use super::tail::Tail;
use super::timing::micros;
use super::view::View;
use crate::error::Result;
use crate::keywords::{KeywordQuery, KeywordSnapshot};
use crate::quality::Quality;
use crate::types::{Explain, MatchSource, Millis, Query, RecordId};
use crate::vectors::exact::{best_first, cosine};
use crate::vectors::{IdFilter, VectorSnapshot};

/// The result of one index: ids with raw scores, best first, and the time it took.
type Ranking = Result<(Vec<(RecordId, f32)>, u64)>;

/// The candidates of both indexes, each with both of its scores if available. `vector` comes with its target recall.
pub fn collect(
    view: &View,
    query: &Query,
    vector: Option<(&[f32], Quality)>,
    by_words: bool,
    now: Millis,
    explain: &mut Explain,
) -> Result<Vec<Candidate>> {
    let vector_side = vector.zip(view.vectors.as_deref()).map(|((vector, quality), index)| VectorSide {
        index,
        vector,
        quality,
        tail: &view.tail,
        hidden: &view.hidden,
    });
    let keywords = view.keywords.as_deref().filter(|_| by_words);
    let keyword_side = keywords.map(|index| KeywordSide {
        index,
        query: KeywordQuery::new(&query.text),
        tail: &view.tail,
        hidden: &view.hidden,
    });

    let filtering = Instant::now();
    let allowed = match &vector_side {
        Some(_) if !query.filter.is_empty() => Some(allowed(view, query, now)?),
        _ => None,
    };
    explain.filter_us = micros(filtering);
    explain.allowed = allowed.as_ref().map(RoaringTreemap::len);

    let pool = explain.pool;
    let search_vectors =
        || vector_side.as_ref().map_or(Ok((Vec::new(), 0)), |side| side.search(pool, allowed.as_ref()));
    let search_words = || keyword_side.as_ref().map_or(Ok((Vec::new(), 0)), |side| side.search(pool, query));
    let has_both = vector_side.is_some() && keyword_side.is_some();
    let (by_vector, by_keyword) = match has_both.then(search_pool).flatten() {
        Some(threads) => threads.join(search_vectors, search_words),
        None => (search_vectors(), search_words()),
    };
    let (by_vector, vector_us) = by_vector?;
    let (by_keyword, keyword_us) = by_keyword?;
    (explain.vector_us, explain.keyword_us) = (vector_us, keyword_us);
    (explain.vector_candidates, explain.keyword_candidates) = (by_vector.len(), by_keyword.len());

    let merging = Instant::now();
    let mut candidates = union(&by_vector, &by_keyword);
    if let Some(side) = &vector_side {
        fill_cosines(&mut candidates, |ids| side.scores(ids))?;
    }
    if let Some(side) = &keyword_side {
        side.judge(&mut candidates)?;
    }
    explain.merge_us = micros(merging);
    Ok(candidates)
}

/// A separate thread pool for searches: a program's own work in rayon's global pool must not keep them waiting.
///
/// `None` if the system gives no threads: then one thread searches both sides.
fn search_pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: LazyLock<Option<rayon::ThreadPool>> = LazyLock::new(|| {
        let name = |at| format!("memorist-search-{at}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build().ok()
    });
    POOL.as_ref()
}

/// The ids that pass the filter: from the fast fields of the keyword index, corrected by the tail, or from the records
/// if that index is unusable.
fn allowed(view: &View, query: &Query, now: Millis) -> Result<RoaringTreemap> {
    let mut allowed = match &view.keywords {
        Some(keywords) => {
            let mut allowed = keywords.matching(&query.filter)?;
            allowed -= &view.tail.keyword_ids;
            let fresh = view.tail.records.values().filter(|record| query.filter.allows(record));
            allowed.extend(fresh.map(|record| record.id.key()));
            allowed
        }
        None => view.records.matching(&query.filter, now)?,
    };
    // Last, as the tail contains some of them too.
    allowed -= &view.hidden;
    Ok(allowed)
}

/// The vector search.
struct VectorSide<'a> {
    index: &'a dyn VectorSnapshot,
    vector: &'a [f32],
    quality: Quality,
    tail: &'a Tail,
    hidden: &'a RoaringTreemap,
}

impl VectorSide<'_> {
    fn search(&self, pool: usize, allowed: Option<&RoaringTreemap>) -> Ranking {
        let started = Instant::now();
        let tail = self.tail;
        let stale = &tail.vector_ids | self.hidden;
        let filter = match allowed {
            Some(allowed) => IdFilter::Only(allowed - &stale),
            None if stale.is_empty() => IdFilter::All,
            None => IdFilter::Except(stale),
        };
        let mut found = self.index.search(self.vector, pool, &filter, self.quality)?;
        let passes = |id: u64| allowed.map_or(!self.hidden.contains(id), |allowed| allowed.contains(id));
        let fresh = tail.vectors.iter().filter(|(id, _)| passes(id.key()));
        found.extend(fresh.map(|(id, vector)| (*id, cosine(self.vector, vector))));
        best_first(&mut found, pool);
        Ok((found, micros(started)))
    }

    fn scores(&self, ids: &[RecordId]) -> Result<Vec<Option<f32>>> {
        let mut scores = self.index.scores(self.vector, ids)?;
        for (id, score) in ids.iter().zip(&mut scores) {
            if self.tail.vector_ids.contains(id.key()) {
                *score = self.tail.vectors.get(id).map(|vector| cosine(self.vector, vector));
            }
        }
        Ok(scores)
    }
}

/// The keyword search.
struct KeywordSide<'a> {
    index: &'a dyn KeywordSnapshot,
    query: KeywordQuery,
    tail: &'a Tail,
    hidden: &'a RoaringTreemap,
}

impl KeywordSide<'_> {
    fn search(&self, pool: usize, query: &Query) -> Ranking {
        let started = Instant::now();
        let tail = self.tail;
        // Records of the tail are searched there; those that it deletes are excluded.
        let except = (&tail.keyword_ids - tail.words.ids()) | self.hidden;
        let found = self.index.search(&self.query, pool, &query.filter, &except, Some(&tail.words))?;
        Ok((found, micros(started)))
    }

    /// Says of each candidate how it matches.
    fn judge(&self, candidates: &mut [Candidate]) -> Result<()> {
        let ids: Vec<RecordId> = candidates.iter().map(|candidate| candidate.id).collect();
        let matches = self.index.matches(&self.query, &ids, Some(&self.tail.words))?;
        for (candidate, found) in candidates.iter_mut().zip(matches) {
            let Some(found) = found else { continue };
            candidate.keyword = Some(f64::from(found.score));
            candidate.is_singled_out = found.is_singled_out;
            candidate.share = Some(f64::from(found.share));
        }
        Ok(())
    }
}

/// Everything that either index found, by id.
fn union(by_vector: &[(RecordId, f32)], by_keyword: &[(RecordId, f32)]) -> Vec<Candidate> {
    let mut candidates = BTreeMap::new();
    for (source, found) in [(MatchSource::Vector, by_vector), (MatchSource::Keyword, by_keyword)] {
        for (id, score) in found {
            let candidate = candidates.entry(*id).or_insert_with(|| Candidate {
                id: *id,
                vector: None,
                keyword: None,
                found_by: Vec::with_capacity(2),
                is_singled_out: false,
                share: None,
            });
            candidate.found_by.push(source);
            match source {
                MatchSource::Vector => candidate.vector = Some(f64::from(*score)),
                MatchSource::Keyword => candidate.keyword = Some(f64::from(*score)),
            }
        }
    }
    candidates.into_values().collect()
}

/// Looks up the cosines that a search did not return.
fn fill_cosines(candidates: &mut [Candidate], lookup: impl Fn(&[RecordId]) -> Result<Vec<Option<f32>>>) -> Result<()> {
    let mut missing: Vec<&mut Candidate> =
        candidates.iter_mut().filter(|candidate| candidate.vector.is_none()).collect();
    let ids: Vec<RecordId> = missing.iter().map(|candidate| candidate.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    for (candidate, score) in missing.iter_mut().zip(lookup(&ids)?) {
        candidate.vector = score.map(f64::from);
    }
    Ok(())
}
