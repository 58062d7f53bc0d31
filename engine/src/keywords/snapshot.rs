//! An immutable snapshot of the tantivy index, and how it is searched.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;
use tantivy::index::SegmentReader;
use tantivy::{DocId, Searcher, TERMINATED};

use super::damage::contained;
use super::posting_list::PostingList;
use super::query::KeywordQuery;
use super::schema::Fields;
use super::scoring::{Plan, Scorer};
use super::segment::Segment;
use super::tail::{Part, TailIndex};
use super::top_k::TopK;
use super::traits::{KeywordSnapshot, Match};
use crate::error::{IndexKind, Result};
use crate::types::{Filter, RecordId, Seq};
use crate::verification::Verification;

/// Below this many postings in a segment every match is scored: that is cheaper than setting up the pruning.
const SCORE_ALL_POSTINGS: u64 = 2_000;
/// If a filter passes at most one in this many documents, those are scored and the others skipped.
const SCORE_ALLOWED_SHARE: u64 = 16;
/// Pruning adds in another order than [`Scorer::score`]; its sums may differ by this factor.
const ROUNDING: f32 = 1.0 - 1e-5;

/// The index as of one commit.
pub(super) struct Snapshot {
    applied: Seq,
    searcher: Searcher,
    fields: Fields,
    /// Largest first, so that the threshold is high early.
    pub(super) segments: Vec<Segment>,
    verification: Arc<Verification>,
}

impl Snapshot {
    /// Reuses what the snapshot `before` knows about the segments that are still there.
    pub(super) fn new(
        searcher: Searcher,
        fields: Fields,
        applied: Seq,
        verification: Arc<Verification>,
        before: Option<&Snapshot>,
    ) -> Result<Self> {
        let before = before.map_or(&[][..], |before| &before.segments);
        let open = |reader| Segment::open(reader, &fields, before);
        let mut segments: Vec<Segment> = searcher.segment_readers().iter().map(open).collect::<Result<_>>()?;
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.reader.max_doc()));
        Ok(Snapshot { applied, searcher, fields, segments, verification })
    }

    /// Damage does not always lead to an error that says so; the checksums detect it.
    fn blame<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.verification.wait(IndexKind::Keyword, Duration::MAX)?;
        }
        outcome
    }

    fn matching_ids(&self, filter: &Filter) -> Result<RoaringTreemap> {
        let mut ids = RoaringTreemap::new();
        for segment in &self.segments {
            ids |= segment.matching_ids(filter)?;
        }
        Ok(ids)
    }

    fn best(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>> {
        let plan = Plan::new(query, &self.fields, &self.segments, parts_of(tail))?;
        if k == 0 || plan.is_empty() {
            return Ok(Vec::new());
        }
        let mut top = TopK::new(k);
        for (ordinal, segment) in self.segments.iter().enumerate() {
            let matching = if filter.is_empty() { None } else { Some(segment.matching(filter)?) };
            let docs = matching.as_ref().map(|matching| &matching.docs);
            let admit = |doc: DocId| {
                if segment.reader.is_deleted(doc) || docs.is_some_and(|docs| !docs.contains(doc)) {
                    return None;
                }
                let id = segment.id(doc);
                let hidden = except.contains(id.key()) || tail.is_some_and(|tail| tail.ids().contains(id.key()));
                (!hidden).then_some(id)
            };
            let mut collector = Collector { scorer: plan.scorer(ordinal, segment)?, top: &mut top, admit };
            match docs {
                Some(docs) if docs.len() * SCORE_ALLOWED_SHARE <= u64::from(segment.reader.max_doc()) => {
                    docs.iter().for_each(|doc| collector.consider(doc));
                }
                _ if plan.postings(ordinal) <= SCORE_ALL_POSTINGS => collector.consider_all(),
                _ => collector.prune(&plan, &self.searcher, &segment.reader)?,
            }
        }
        for Part { indexed, stale } in parts_of(tail) {
            let admit = |doc: DocId| {
                let record = &indexed.records()[doc as usize];
                let hidden = except.contains(record.id.key()) || stale.contains(record.id.key());
                (!hidden && filter.allows(record)).then_some(record.id)
            };
            Collector { scorer: plan.tail_scorer(indexed)?, top: &mut top, admit }.consider_all();
        }
        Ok(top.into_sorted())
    }

    fn matches_of(
        &self,
        query: &KeywordQuery,
        ids: &[RecordId],
        tail: Option<&TailIndex>,
    ) -> Result<Vec<Option<Match>>> {
        let parts = parts_of(tail);
        let plan = Plan::new(query, &self.fields, &self.segments, parts)?;
        let mut matches = vec![None; ids.len()];
        // (segment, document, index into `ids`), and the same for the parts of the tail
        let (mut in_segments, mut in_tail) = (Vec::with_capacity(ids.len()), Vec::new());
        'ids: for (index, &id) in ids.iter().enumerate() {
            // the newest part of the tail first: it has the newest version
            for (ordinal, part) in parts.iter().enumerate().rev() {
                if let Some(doc) = part.indexed.doc(id) {
                    in_tail.push((ordinal, doc, index));
                    continue 'ids;
                }
            }
            for (ordinal, segment) in self.segments.iter().enumerate() {
                if let Some(doc) = segment.doc(id)? {
                    in_segments.push((ordinal, doc, index));
                    continue 'ids;
                }
            }
        }
        fill(&mut matches, in_segments, |ordinal| plan.scorer(ordinal, &self.segments[ordinal]))?;
        fill(&mut matches, in_tail, |ordinal| plan.tail_scorer(&parts[ordinal].indexed))?;
        Ok(matches)
    }
}

/// Scores the documents of `places`: the number of a scorer, a document, and where its match belongs.
fn fill<'a, P: PostingList>(
    matches: &mut [Option<Match>],
    mut places: Vec<(usize, DocId, usize)>,
    scorer: impl Fn(usize) -> Result<Scorer<'a, P>>,
) -> Result<()> {
    places.sort_unstable();
    for run in places.chunk_by(|left, right| left.0 == right.0) {
        let mut scorer = scorer(run[0].0)?;
        for &(_, doc, index) in run {
            matches[index] = Some(scorer.judge(doc));
        }
    }
    Ok(())
}

fn parts_of(tail: Option<&TailIndex>) -> &[Part] {
    tail.map_or(&[], TailIndex::parts)
}

/// Collects the best k documents of one segment or part.
struct Collector<'a, P, Admit> {
    scorer: Scorer<'a, P>,
    top: &'a mut TopK,
    /// The record of a document, if it may be returned.
    admit: Admit,
}

impl<P: PostingList, Admit: Fn(DocId) -> Option<RecordId>> Collector<'_, P, Admit> {
    /// Offers `doc` if a term occurs in it. Documents must come in ascending order.
    fn consider(&mut self, doc: DocId) {
        let Some(id) = (self.admit)(doc) else { return };
        let score = self.scorer.score(doc, self.top.threshold());
        if score > 0.0 {
            self.top.offer(id, score);
        }
    }

    /// Considers every document in which a term occurs.
    fn consider_all(&mut self) {
        let mut doc = self.scorer.next(0);
        while doc != TERMINATED {
            self.consider(doc);
            doc = self.scorer.next(doc + 1);
        }
    }

    /// Considers the documents that can reach the threshold, by the maxima of each block of postings (block-max WAND:
    /// Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
    fn prune(&mut self, plan: &Plan, searcher: &Searcher, reader: &SegmentReader) -> Result<()> {
        let slack = ROUNDING / plan.most_bonus();
        let weight = plan.pruning_weight(searcher)?;
        weight.for_each_pruning(self.top.threshold() * slack, reader, &mut |doc, _| {
            self.consider(doc);
            self.top.threshold() * slack
        })?;
        Ok(())
    }
}

impl KeywordSnapshot for Snapshot {
    fn applied(&self) -> Seq {
        self.applied
    }

    fn wait_verified(&self, timeout: Duration) -> Result<bool> {
        self.verification.wait(IndexKind::Keyword, timeout)
    }

    fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        filter: &Filter,
        except: &RoaringTreemap,
        tail: Option<&TailIndex>,
    ) -> Result<Vec<(RecordId, f32)>> {
        self.blame(contained(|| self.best(query, k, filter, except, tail)))
    }

    fn matches(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<Match>>> {
        self.blame(contained(|| self.matches_of(query, ids, tail)))
    }

    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap> {
        self.blame(contained(|| self.matching_ids(filter)))
    }
}
