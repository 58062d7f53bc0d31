//! One unchanging view of the tantivy index, and how it is searched.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;
use tantivy::index::SegmentReader;
use tantivy::{DocId, Searcher, TERMINATED};

use super::damage::contained;
use super::occurrences::Occurrences;
use super::query::KeywordQuery;
use super::schema::Fields;
use super::scoring::{Match, Plan, Scorer};
use super::segment::Segment;
use super::tail::{Part, TailIndex};
use super::top::Top;
use super::traits::KeywordSnapshot;
use crate::error::Result;
use crate::inspection::Inspection;
use crate::types::{Filter, RecordId, Seq};

/// Below this many postings in a segment every match is scored: cheaper than setting up the pruning.
const SCORE_ALL_POSTINGS: u64 = 2_000;
/// When a filter leaves at most one in this many documents, those are scored and the others never looked at.
const SCORE_ALLOWED_SHARE: u64 = 16;
/// Pruning adds in another order than [`Scorer::score`]; its sums may differ by this factor.
const ROUNDING: f32 = 1.0 - 1e-5;

/// A view of the index as one commit left it.
pub(super) struct Snapshot {
    applied: Seq,
    searcher: Searcher,
    fields: Fields,
    /// Largest first, so that the bar is high early.
    pub(super) segments: Vec<Segment>,
    inspection: Arc<Inspection>,
}

impl Snapshot {
    /// Takes over what the snapshot `before` it has found out about the segments that are still there.
    pub(super) fn new(
        searcher: Searcher,
        fields: Fields,
        applied: Seq,
        inspection: Arc<Inspection>,
        before: Option<&Snapshot>,
    ) -> Result<Self> {
        let before = before.map_or(&[][..], |before| &before.segments);
        let open = |reader| Segment::open(reader, &fields, before);
        let mut segments: Vec<Segment> = searcher.segment_readers().iter().map(open).collect::<Result<_>>()?;
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.reader.max_doc()));
        Ok(Snapshot { applied, searcher, fields, segments, inspection })
    }

    /// Not every error that damage leads to speaks of damage: the checksums know.
    fn blame<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.inspection.wait("keyword", Duration::MAX)?;
        }
        outcome
    }

    fn passing_ids(&self, filter: &Filter) -> Result<RoaringTreemap> {
        let mut ids = RoaringTreemap::new();
        for segment in &self.segments {
            ids |= segment.passing_ids(filter)?;
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
        let mut top = Top::new(k);
        for (ordinal, segment) in self.segments.iter().enumerate() {
            let passing = if filter.is_empty() { None } else { Some(segment.passing(filter)?) };
            let docs = passing.as_ref().map(|passing| &passing.docs);
            let admit = |doc: DocId| {
                if segment.reader.is_deleted(doc) || docs.is_some_and(|docs| !docs.contains(doc)) {
                    return None;
                }
                let id = segment.id(doc);
                let hidden = except.contains(id as u64) || tail.is_some_and(|tail| tail.ids().contains(id as u64));
                (!hidden).then_some(id)
            };
            let mut contest = Contest { scorer: plan.scorer(ordinal, segment)?, top: &mut top, admit };
            match docs {
                Some(docs) if docs.len() * SCORE_ALLOWED_SHARE <= u64::from(segment.reader.max_doc()) => {
                    docs.iter().for_each(|doc| contest.consider(doc));
                }
                _ if plan.postings(ordinal) <= SCORE_ALL_POSTINGS => contest.consider_all(),
                _ => contest.prune(&plan, &self.searcher, &segment.reader)?,
            }
        }
        for Part { indexed, stale } in parts_of(tail) {
            let admit = |doc: DocId| {
                let record = &indexed.records()[doc as usize];
                let hidden = except.contains(record.id as u64) || stale.contains(record.id as u64);
                (!hidden && filter.allows(record)).then_some(record.id)
            };
            Contest { scorer: plan.tail_scorer(indexed)?, top: &mut top, admit }.consider_all();
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

/// Judges the documents of `places`: the number of a scorer, a document, and where its match belongs.
fn fill<'a, P: Occurrences>(
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

/// The documents of one segment or part on their way into the best k.
struct Contest<'a, P, Admit> {
    scorer: Scorer<'a, P>,
    top: &'a mut Top,
    /// The record that a document is, if it may come in.
    admit: Admit,
}

impl<P: Occurrences, Admit: Fn(DocId) -> Option<RecordId>> Contest<'_, P, Admit> {
    /// Offers `doc` if a term occurs in it. Documents must come in ascending order.
    fn consider(&mut self, doc: DocId) {
        let Some(id) = (self.admit)(doc) else { return };
        let score = self.scorer.score(doc, self.top.bar());
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

    /// Considers those documents that can reach the bar by what tantivy knows of each block of postings (block-max
    /// WAND: Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
    fn prune(&mut self, plan: &Plan, searcher: &Searcher, reader: &SegmentReader) -> Result<()> {
        let slack = ROUNDING / plan.most_bonus();
        let weight = plan.pruning_weight(searcher)?;
        weight.for_each_pruning(self.top.bar() * slack, reader, &mut |doc, _| {
            self.consider(doc);
            self.top.bar() * slack
        })?;
        Ok(())
    }
}

impl KeywordSnapshot for Snapshot {
    fn applied(&self) -> Seq {
        self.applied
    }

    fn is_checked(&self, patience: Duration) -> Result<bool> {
        self.inspection.wait("keyword", patience)
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

    fn scores(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<Option<f32>>> {
        let matches = self.blame(contained(|| self.matches_of(query, ids, tail)))?;
        Ok(matches.into_iter().map(|found| found.map(|found| found.score)).collect())
    }

    fn singled_out(&self, query: &KeywordQuery, ids: &[RecordId], tail: Option<&TailIndex>) -> Result<Vec<bool>> {
        let matches = self.blame(contained(|| self.matches_of(query, ids, tail)))?;
        Ok(matches.into_iter().map(|found| found.is_some_and(|found| found.is_singled_out)).collect())
    }

    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap> {
        self.blame(contained(|| self.passing_ids(filter)))
    }
}
