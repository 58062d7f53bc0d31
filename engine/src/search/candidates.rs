//! The candidates of both indexes, under the same filter, and the scores that an index did not return.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use roaring::RoaringTreemap;

use super::at_once::at_once;
use super::merge::Candidate;
use super::relevance::relevance;
use super::tail::{Tail, nearest};
use super::threads::{CandidatePool, PoolScores};
use super::timing::micros;
use super::view::View;
use crate::error::Result;
use crate::keywords::{DocLocation, KeywordHit, KeywordQuery, KeywordSearch, KeywordSnapshot};
use crate::passages::PassageKey;
use crate::quality::Quality;
use crate::scale::QueryScale;
use crate::types::{Explain, Filter, MatchSource, Millis, Mode, Query, RecordId, Scale, ThreadRules};
use crate::vectors::exact::best_first;
use crate::vectors::{IdFilter, VectorSnapshot, records};

/// Candidates of each side whose neighbors are looked at: those of more would not come to the front.
const LEADING: usize = 100;
/// A relevance by meaning alone from which a record answers the query: then what has a word of it within another ("pet" in
/// "Petra") says nothing.
const ANSWERS: f64 = 0.5;

/// The result of the vector index: the best passage of each record with its cosine, best first, and the time it took.
type VectorRanking = Result<(Vec<(PassageKey, f32)>, u64)>;

/// The candidates that were collected for a query.
pub struct Collected {
    /// The candidates, by id.
    pub candidates: Vec<Candidate>,
    /// The terms of the keyword index that were searched for.
    pub terms: Vec<String>,
    /// Whether the words of the query were found only within other words.
    pub is_within_words: bool,
}

/// The candidates of both indexes, each with both of its scores if available, and the `wanted` record, whether it passes the
/// filter or not. `vector` comes with its target recall and the scale of its cosines.
pub fn collect(
    view: &View,
    query: &Query,
    vector: Option<(&[f32], Quality, QueryScale)>,
    by_words: bool,
    wanted: Option<RecordId>,
    now: Millis,
    explain: &mut Explain,
) -> Result<Collected> {
    let keywords = view.keywords.as_deref().filter(|_| by_words);
    let keyword_side = keywords.map(|index| KeywordSide {
        index,
        filter: &query.filter,
        tail: &view.tail,
        // Records of the tail are searched there; those that it deletes are excluded.
        except: (&view.tail.keyword_ids - view.tail.words.ids()) | &*view.hidden,
    });

    let filtering = Instant::now();
    let scale = vector.map(|(_, _, scale)| scale);
    let vector = vector.zip(view.vectors.clone());
    let allowed = match &vector {
        Some(_) if !query.filter.is_empty() => Some(allowed(view, query, now)?),
        _ => None,
    };
    explain.filter_us = micros(filtering);
    explain.allowed = allowed.as_ref().map(RoaringTreemap::len);
    let vector_side = vector.map(|((vector, quality, _), index)| {
        let (vector, tail, hidden) = (vector.to_vec(), Arc::clone(&view.tail), Arc::clone(&view.hidden));
        Arc::new(VectorSide { index, vector, quality, tail, hidden, allowed })
    });

    let pool = explain.pool;
    let (by_vector, by_words) = match (&vector_side, &keyword_side) {
        (Some(vectors), Some(words)) => {
            let vectors = Arc::clone(vectors);
            at_once(move || vectors.search(pool), || words.search(pool, query).map(Some))
        }
        (Some(vectors), None) => (vectors.search(pool), Ok(None)),
        (None, words) => (Ok((Vec::new(), 0)), words.as_ref().map(|words| words.search(pool, query)).transpose()),
    };
    let ((by_vector, vector_us), mut by_words) = (by_vector?, by_words?);
    let nearest = by_vector.first().zip(scale).map(|((_, cosine), scale)| scale.similarity(f64::from(*cosine)));
    if let (Some(words), Some(side)) = (&by_words, &keyword_side)
        && words.search.is_within_words()
        && relevance(nearest, None) >= ANSWERS
    {
        by_words = Some(side.search(pool, &Query { substring_tier: false, ..query.clone() })?);
    }
    let by_keyword = by_words.as_ref().map_or(&[][..], |words| &words.found);
    (explain.vector_us, explain.keyword_us) = (vector_us, by_words.as_ref().map_or(0, |words| words.micros));
    (explain.vector_candidates, explain.keyword_candidates) = (by_vector.len(), by_keyword.len());

    explain.only_corrected = by_words.as_ref().is_some_and(|words| words.search.is_of_typos());
    let is_within_words = by_words.as_ref().is_some_and(|words| words.search.is_within_words());

    let merging = Instant::now();
    let mut candidates = union(&by_vector, by_keyword);
    if let Some(id) = wanted {
        candidates.entry(id).or_insert_with(|| Candidate::new(id));
    }
    let scale = explain.scale;
    let rules =
        if query.mode == Mode::Hybrid && scale == Scale::Theoretical { query.threads } else { ThreadRules::NONE };
    let cosines = |ids: &[RecordId]| vector_side.as_ref().map_or(Ok(vec![None; ids.len()]), |side| side.scores(ids));
    let leading: HashSet<RecordId> = by_vector.iter().take(LEADING).map(|(key, _)| key.record()).collect();
    let candidates = match (&by_words, &keyword_side) {
        (Some(words), Some(side)) => side.judge(words, &leading, candidates, cosines, rules)?,
        _ => with_cosines(candidates, cosines)?,
    };
    explain.merge_us = micros(merging);
    let terms = by_words.as_ref().map_or_else(Vec::new, |words| words.search.terms());
    Ok(Collected { candidates, terms, is_within_words })
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
    allowed -= &*view.hidden;
    Ok(allowed)
}

/// The vector search.
pub(super) struct VectorSide {
    pub(super) index: Arc<dyn VectorSnapshot>,
    pub(super) vector: Vec<f32>,
    pub(super) quality: Quality,
    pub(super) tail: Arc<Tail>,
    pub(super) hidden: Arc<RoaringTreemap>,
    pub(super) allowed: Option<RoaringTreemap>,
}

impl VectorSide {
    pub(super) fn search(&self, pool: usize) -> VectorRanking {
        let started = Instant::now();
        let (tail, allowed) = (&self.tail, self.allowed.as_ref());
        let stale = &tail.vector_ids | &*self.hidden;
        let filter = match allowed {
            Some(allowed) => IdFilter::Only(allowed - &stale),
            None if stale.is_empty() => IdFilter::All,
            None => IdFilter::Except(stale),
        };
        let mut found = records::search(&*self.index, &self.vector, pool, &filter, self.quality)?;
        let passes = |id: u64| allowed.map_or(!self.hidden.contains(id), |allowed| allowed.contains(id));
        let fresh = tail.vectors.iter().filter(|(id, _)| passes(id.key()));
        found.extend(fresh.filter_map(|(_, passages)| nearest(&self.vector, passages)));
        best_first(&mut found, pool);
        Ok((found, micros(started)))
    }

    fn scores(&self, ids: &[RecordId]) -> Result<Vec<Option<f32>>> {
        let mut scores = records::scores(&*self.index, &self.vector, ids)?;
        for (id, score) in ids.iter().zip(&mut scores) {
            if self.tail.vector_ids.contains(id.key()) {
                let passages = self.tail.vectors.get(id);
                *score = passages.and_then(|passages| nearest(&self.vector, passages)).map(|(_, cosine)| cosine);
            }
        }
        Ok(scores)
    }
}

/// The keyword search.
struct KeywordSide<'a> {
    index: &'a dyn KeywordSnapshot,
    filter: &'a Filter,
    tail: &'a Tail,
    /// Records that are never results.
    except: RoaringTreemap,
}

/// The records that the words of a query found, and the search itself for further questions.
struct ByWords<'a> {
    search: Box<dyn KeywordSearch + 'a>,
    found: Vec<KeywordHit>,
    micros: u64,
}

impl<'a> KeywordSide<'a> {
    fn search(&self, pool: usize, query: &Query) -> Result<ByWords<'a>> {
        let started = Instant::now();
        let words = KeywordQuery::new(&query.text);
        let words = if query.prefix { words.with_beginning(&query.text) } else { words };
        let words = if query.substring_tier { words.within_words() } else { words };
        let search = self.index.query(&words, Some(&self.tail.words))?;
        let found = search.best(pool, self.filter, &self.except)?;
        Ok(ByWords { search, found, micros: micros(started) })
    }

    /// Says of each candidate how it matches, by itself and in its thread. The neighbors of those that are `leading` by
    /// meaning, and of as many by words, become candidates too.
    fn judge(
        &self,
        words: &ByWords<'_>,
        leading: &HashSet<RecordId>,
        candidates: BTreeMap<RecordId, Candidate>,
        cosines: impl Fn(&[RecordId]) -> Result<Vec<Option<f32>>>,
        rules: ThreadRules,
    ) -> Result<Vec<Candidate>> {
        let found = self.locate(words, &candidates)?;
        let windows = match rules {
            ThreadRules::NONE => Vec::new(),
            _ => {
                // Those found by words come first, the best first.
                let leads = |at: usize| at < words.found.len().min(LEADING) || leading.contains(&found[at].0);
                let leads: Vec<DocLocation> = (0..found.len()).filter(|at| leads(*at)).map(|at| found[at].1).collect();
                words.search.windows(&leads, self.filter, &self.except)?
            }
        };
        let pool = CandidatePool::of(&found, &windows);
        let matches = words.search.matches(&pool.places)?;
        let known = |id: &RecordId| candidates.get(id).and_then(|candidate| candidate.cosine);
        let mut scores = PoolScores { matches, cosines: pool.ids.iter().map(known).collect() };
        let unknown = pool.with_cosine(found.len()).into_iter().filter(|slot| scores.cosines[*slot].is_none());
        let mut unknown: Vec<usize> = unknown.collect();
        unknown.sort_unstable();
        let ids: Vec<RecordId> = unknown.iter().map(|slot| pool.ids[*slot]).collect();
        for (slot, cosine) in unknown.into_iter().zip(cosines(&ids)?) {
            scores.cosines[slot] = cosine.map(f64::from);
        }
        let mut candidates = candidates;
        for slot in pool.candidates(found.len()) {
            let id = pool.ids[slot];
            let candidate = candidates.entry(id).or_insert_with(|| Candidate::new(id));
            let found = scores.matches.records[slot];
            candidate.bm25 = Some(f64::from(found.score));
            candidate.is_singled_out = found.is_singled_out;
            candidate.rarest = Some(f64::from(found.rarest));
            candidate.share = Some(f64::from(found.share));
            if found.is_by_parts {
                let by = candidate.found_by.iter_mut().filter(|by| **by == MatchSource::Keyword);
                by.for_each(|by| *by = MatchSource::Part);
            }
            candidate.information_ratio = f64::from(scores.matches.information);
            candidate.cosine = scores.cosines[slot];
            candidate.in_session = pool.in_session(slot, &scores, rules);
        }
        Ok(candidates.into_values().collect())
    }

    /// The candidates that the keyword index or the tail has, and where.
    fn locate(
        &self,
        words: &ByWords<'_>,
        candidates: &BTreeMap<RecordId, Candidate>,
    ) -> Result<Vec<(RecordId, DocLocation)>> {
        let known: HashMap<RecordId, DocLocation> = words.found.iter().map(|found| (found.id, found.place)).collect();
        let unknown: Vec<RecordId> = candidates.keys().filter(|id| !known.contains_key(id)).copied().collect();
        let located = unknown.iter().copied().zip(words.search.places(&unknown)?);
        let located = located.filter_map(|(id, place)| Some((id, place?)));
        let known = words.found.iter().map(|found| (found.id, found.place));
        Ok(known.chain(located).collect())
    }
}

/// Everything that either index found, by id.
fn union(by_vector: &[(PassageKey, f32)], by_keyword: &[KeywordHit]) -> BTreeMap<RecordId, Candidate> {
    let mut candidates = BTreeMap::new();
    for (rank, (key, score)) in by_vector.iter().enumerate() {
        let candidate = candidates.entry(key.record()).or_insert_with(|| Candidate::new(key.record()));
        candidate.found_by.push(MatchSource::Vector);
        candidate.cosine = Some(f64::from(*score));
        candidate.passage = key.number();
        candidate.vector_rank = Some(rank);
    }
    for (rank, KeywordHit { id, score, .. }) in by_keyword.iter().enumerate() {
        let candidate = candidates.entry(*id).or_insert_with(|| Candidate::new(*id));
        candidate.found_by.push(MatchSource::Keyword);
        candidate.bm25 = Some(f64::from(*score));
        candidate.keyword_rank = Some(rank);
    }
    candidates
}

/// The candidates with the cosines that the vector search did not return.
fn with_cosines(
    mut candidates: BTreeMap<RecordId, Candidate>,
    lookup: impl Fn(&[RecordId]) -> Result<Vec<Option<f32>>>,
) -> Result<Vec<Candidate>> {
    let missing = candidates.values_mut().filter(|candidate| candidate.cosine.is_none());
    let missing: Vec<&mut Candidate> = missing.collect();
    let ids: Vec<RecordId> = missing.iter().map(|candidate| candidate.id).collect();
    for (candidate, cosine) in missing.into_iter().zip(lookup(&ids)?) {
        candidate.cosine = cosine.map(f64::from);
    }
    Ok(candidates.into_values().collect())
}
