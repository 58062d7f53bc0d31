//! Each side's candidates, under the same filter, and the scores that a side is missing.

use std::collections::BTreeMap;
use std::time::Instant;

use roaring::RoaringTreemap;

use super::merge::Candidate;
use super::tail::Tail;
use super::timing::micros;
use super::view::View;
use crate::error::Result;
use crate::keywords::{KeywordQuery, KeywordSnapshot};
use crate::quality::Quality;
use crate::types::{Explain, Millis, Query, RecordId, Side};
use crate::vectors::exact::{best_first, cosine};
use crate::vectors::{IdFilter, VectorSnapshot};

/// A side's answer: ids with raw scores, best first, and the time it took.
type Ranking = Result<(Vec<(RecordId, f32)>, u64)>;

/// The candidates of both sides, each with both of its scores where they can be had. `vector` comes with how much of its
/// neighbours is to be found.
pub fn collect(
    view: &View,
    query: &Query,
    vector: Option<(&[f32], Quality)>,
    by_words: bool,
    now: Millis,
    explain: &mut Explain,
) -> Result<Vec<Candidate>> {
    let meaning = vector.zip(view.vectors.as_deref()).map(|((vector, quality), index)| Meaning {
        index,
        vector,
        quality,
        tail: &view.tail,
        hidden: &view.hidden,
    });
    let words = view.keywords.as_deref().filter(|_| by_words);
    let words = words.map(|index| Words {
        index,
        query: KeywordQuery::new(&query.text),
        tail: &view.tail,
        hidden: &view.hidden,
    });

    let filtering = Instant::now();
    let allowed = match &meaning {
        Some(_) if !query.filter.is_empty() => Some(allowed(view, query, now)?),
        _ => None,
    };
    explain.filter_us = micros(filtering);
    explain.allowed = allowed.as_ref().map(RoaringTreemap::len);

    let pool = explain.pool;
    let (by_meaning, by_words) = rayon::join(
        || meaning.as_ref().map_or(Ok((Vec::new(), 0)), |side| side.search(pool, allowed.as_ref())),
        || words.as_ref().map_or(Ok((Vec::new(), 0)), |side| side.search(pool, query)),
    );
    let (by_meaning, vector_us) = by_meaning?;
    let (by_words, keyword_us) = by_words?;
    (explain.vector_us, explain.keyword_us) = (vector_us, keyword_us);
    (explain.vector_candidates, explain.keyword_candidates) = (by_meaning.len(), by_words.len());

    let merging = Instant::now();
    let mut candidates = union(&by_meaning, &by_words);
    if let Some(meaning) = &meaning {
        fill(&mut candidates, |candidate| &mut candidate.vector, |ids| meaning.scores(ids))?;
    }
    if let Some(words) = &words {
        fill(&mut candidates, |candidate| &mut candidate.keyword, |ids| words.scores(ids))?;
        if query.min_score.is_some() {
            words.single_out(&mut candidates)?;
        }
    }
    explain.merge_us = micros(merging);
    Ok(candidates)
}

/// The ids that pass the filter: from the fast fields of the keyword index, corrected by what it has not applied yet,
/// or from the records where that index is out of use.
fn allowed(view: &View, query: &Query, now: Millis) -> Result<RoaringTreemap> {
    let mut allowed = match &view.keywords {
        Some(keywords) => {
            let mut allowed = keywords.matching(&query.filter)?;
            allowed -= &view.tail.keyword_ids;
            let fresh = view.tail.records.values().filter(|record| query.filter.allows(record));
            allowed.extend(fresh.map(|record| record.id as u64));
            allowed
        }
        None => view.records.matching(&query.filter, now)?,
    };
    // Last, for the tail has some of them too.
    allowed -= &view.hidden;
    Ok(allowed)
}

/// The vector side.
struct Meaning<'a> {
    index: &'a dyn VectorSnapshot,
    vector: &'a [f32],
    quality: Quality,
    tail: &'a Tail,
    hidden: &'a RoaringTreemap,
}

impl Meaning<'_> {
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
        let fresh = tail.vectors.iter().filter(|(id, _)| passes(**id as u64));
        found.extend(fresh.map(|(id, vector)| (*id, cosine(self.vector, vector))));
        best_first(&mut found, pool);
        Ok((found, micros(started)))
    }

    fn scores(&self, ids: &[RecordId]) -> Result<Vec<Option<f32>>> {
        let mut scores = self.index.scores(self.vector, ids)?;
        for (id, score) in ids.iter().zip(&mut scores) {
            if self.tail.vector_ids.contains(*id as u64) {
                *score = self.tail.vectors.get(id).map(|vector| cosine(self.vector, vector));
            }
        }
        Ok(scores)
    }
}

/// The keyword side.
struct Words<'a> {
    index: &'a dyn KeywordSnapshot,
    query: KeywordQuery,
    tail: &'a Tail,
    hidden: &'a RoaringTreemap,
}

impl Words<'_> {
    fn search(&self, pool: usize, query: &Query) -> Ranking {
        let started = Instant::now();
        let tail = self.tail;
        // What the tail has is searched there; what it has deleted is nowhere.
        let except = (&tail.keyword_ids - tail.words.ids()) | self.hidden;
        let found = self.index.search(&self.query, pool, &query.filter, &except, Some(&tail.words))?;
        Ok((found, micros(started)))
    }

    fn scores(&self, ids: &[RecordId]) -> Result<Vec<Option<f32>>> {
        self.index.scores(&self.query, ids, Some(&self.tail.words))
    }

    /// Marks the candidates that the words of the query single out.
    fn single_out(&self, candidates: &mut [Candidate]) -> Result<()> {
        let ids: Vec<RecordId> = candidates.iter().map(|candidate| candidate.id).collect();
        let singled_out = self.index.singled_out(&self.query, &ids, Some(&self.tail.words))?;
        for (candidate, is_singled_out) in candidates.iter_mut().zip(singled_out) {
            candidate.is_singled_out = is_singled_out;
        }
        Ok(())
    }
}

/// Everything that either side found, by id.
fn union(by_meaning: &[(RecordId, f32)], by_words: &[(RecordId, f32)]) -> Vec<Candidate> {
    let mut candidates = BTreeMap::new();
    for (side, found) in [(Side::Vector, by_meaning), (Side::Keyword, by_words)] {
        for (id, score) in found {
            let candidate = candidates.entry(*id).or_insert_with(|| Candidate {
                id: *id,
                vector: None,
                keyword: None,
                found_by: Vec::with_capacity(2),
                is_singled_out: false,
            });
            candidate.found_by.push(side);
            match side {
                Side::Vector => candidate.vector = Some(f64::from(*score)),
                Side::Keyword => candidate.keyword = Some(f64::from(*score)),
            }
        }
    }
    candidates.into_values().collect()
}

/// Asks a side for the scores that it did not give by itself.
fn fill(
    candidates: &mut [Candidate],
    score_of: impl Fn(&mut Candidate) -> &mut Option<f64>,
    ask: impl Fn(&[RecordId]) -> Result<Vec<Option<f32>>>,
) -> Result<()> {
    let mut missing: Vec<&mut Candidate> =
        candidates.iter_mut().filter_map(|candidate| score_of(candidate).is_none().then_some(candidate)).collect();
    let ids: Vec<RecordId> = missing.iter().map(|candidate| candidate.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    for (candidate, score) in missing.iter_mut().zip(ask(&ids)?) {
        *score_of(candidate) = score.map(f64::from);
    }
    Ok(())
}
