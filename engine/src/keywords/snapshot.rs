//! An immutable snapshot of the tantivy index, and how it is searched.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;
use tantivy::index::SegmentReader;
use tantivy::{DocId, Searcher, TERMINATED};

use super::damage::contained;
use super::found::{DocLocation, KeywordHit, Match, Matches, Window};
use super::plan::Plan;
use super::posting_list::PostingList;
use super::query::KeywordQuery;
use super::schema::Fields;
use super::scorer::Scorer;
use super::segment::Segment;
use super::sums::{self, Addend, Summed};
use super::tail::{TailIndex, TailPart};
use super::top_k::{BestSums, TopK};
use super::traits::{KeywordSearch, KeywordSnapshot};
use super::windows::Windows;
use crate::error::{IndexKind, Result};
use crate::types::{Filter, RecordId, Seq};
use crate::verification::Verification;

/// Below this many postings in a segment every match is scored: that is cheaper than setting up the pruning.
const SCORE_ALL_POSTINGS: u64 = 2_000;
/// Below this many, the sums of all matches are made first, and those that can reach the threshold are scored. Tests
/// have indexes on both sides of it.
const SUM_ALL_POSTINGS: u64 = if cfg!(test) { 3_000 } else { 250_000 };
/// If a filter passes at most one in this many documents, those are scored and the others skipped.
const SCORE_ALLOWED_SHARE: u64 = 16;
/// Pruning adds in another order than [`Scorer::score`]; its sums may differ by this factor.
const ROUNDING: f32 = 1.0 - 1e-5;

/// The index as of one commit.
pub(super) struct TantivySnapshot {
    applied: Seq,
    searcher: Searcher,
    fields: Fields,
    /// Largest first, so that the threshold is high early.
    pub(super) segments: Vec<Segment>,
    verification: Arc<Verification>,
}

impl TantivySnapshot {
    /// Reuses what the snapshot `before` knows about the segments that are still there.
    pub(super) fn new(
        searcher: Searcher,
        fields: Fields,
        applied: Seq,
        verification: Arc<Verification>,
        before: Option<&TantivySnapshot>,
    ) -> Result<Self> {
        let before = before.map_or(&[][..], |before| &before.segments);
        let open = |reader| Segment::open(reader, &fields, before);
        let mut segments: Vec<Segment> = searcher.segment_readers().iter().map(open).collect::<Result<_>>()?;
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.reader.max_doc()));
        Ok(TantivySnapshot { applied, searcher, fields, segments, verification })
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

    fn plan(&self, query: &KeywordQuery, tail: Option<&TailIndex>) -> Result<Plan> {
        Plan::new(query, &self.fields, &self.segments, parts_of(tail))
    }
}

/// A query against a snapshot and a tail.
struct Search<'a> {
    snapshot: &'a TantivySnapshot,
    tail: Option<&'a TailIndex>,
    plan: Plan,
}

impl<'a> Search<'a> {
    fn parts(&self) -> &'a [TailPart] {
        parts_of(self.tail)
    }

    /// Whether a record in a segment is replaced or removed by the tail.
    fn is_replaced(&self, id: RecordId) -> bool {
        self.tail.is_some_and(|tail| tail.replaces(id))
    }

    fn best_of(&self, k: usize, filter: &Filter, except: &RoaringTreemap) -> Result<Vec<KeywordHit>> {
        let (plan, segments) = (&self.plan, &self.snapshot.segments);
        if k == 0 || plan.is_empty() {
            return Ok(Vec::new());
        }
        let mut top = TopK::new(k);
        for (ordinal, segment) in segments.iter().enumerate() {
            let matching = if filter.is_empty() { None } else { Some(segment.matching(filter)?) };
            let docs = matching.as_ref().map(|matching| &matching.docs);
            let admit = |doc: DocId| {
                if segment.reader.is_deleted(doc) || docs.is_some_and(|docs| !docs.contains(doc)) {
                    return None;
                }
                let id = segment.id(doc);
                (!except.contains(id.key()) && !self.is_replaced(id)).then_some(id)
            };
            let is_narrow = matching
                .as_ref()
                .is_some_and(|matching| matching.count * SCORE_ALLOWED_SHARE <= u64::from(segment.reader.max_doc()));
            let postings = plan.posting_count(ordinal);
            let sums = !is_narrow && (SCORE_ALL_POSTINGS..SUM_ALL_POSTINGS).contains(&postings);
            let scorer = match sums {
                true => Scorer::of_pairs(plan, ordinal, segment)?,
                false => Scorer::of_segment(plan, ordinal, segment)?,
            };
            let mut collector = Collector { scorer, source: ordinal as u32, top: &mut top, admit };
            match docs {
                Some(docs) if is_narrow => docs.iter().for_each(|doc| collector.consider(doc)),
                _ if sums => collector.sum(plan, plan.addends(ordinal, segment)?),
                _ if postings < SCORE_ALL_POSTINGS => collector.consider_all(),
                _ => collector.prune(plan, &self.snapshot.searcher, &segment.reader)?,
            }
        }
        for (source, TailPart { indexed, stale }) in (segments.len() as u32..).zip(self.parts()) {
            let admit = |doc: DocId| {
                let record = &indexed.records()[doc as usize];
                let hidden = except.contains(record.id.key()) || stale.contains(record.id.key());
                (!hidden && filter.allows(record)).then_some(record.id)
            };
            Collector { scorer: Scorer::of_tail(plan, indexed)?, source, top: &mut top, admit }.consider_all();
        }
        Ok(top.into_sorted())
    }

    fn place_of(&self, id: RecordId) -> Option<DocLocation> {
        let segments = &self.snapshot.segments;
        // The newest part of the tail first: it has the newest version.
        for (number, part) in self.parts().iter().enumerate().rev() {
            if let Some(doc) = part.indexed.doc(id) {
                return Some(DocLocation { source: (segments.len() + number) as u32, doc });
            }
        }
        // A record is live in one segment.
        (0..).zip(segments).find_map(|(source, segment)| Some(DocLocation { source, doc: segment.doc(id)? }))
    }

    fn matches_at(&self, places: &[DocLocation]) -> Result<Matches> {
        let none = Match { score: 0.0, is_singled_out: false, share: 0.0, rarest: 0.0, is_by_parts: false };
        let shares = self.plan.shares();
        let parts = vec![0.0; places.len() * shares.len()];
        let mut matches = Matches { records: vec![none; places.len()], shares, information: 1.0, parts };
        if self.plan.is_empty() {
            return Ok(matches);
        }
        matches.information = self.plan.information();
        let mut order: Vec<(DocLocation, usize)> = places.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let segments = &self.snapshot.segments;
        for run in order.chunk_by(|left, right| left.0.source == right.0.source) {
            let source = run[0].0.source as usize;
            match segments.get(source) {
                Some(segment) => {
                    let docs = run.iter().map(|(place, _)| place.doc);
                    judge(&mut matches, run, Scorer::of_matches(&self.plan, source, segment, docs)?);
                }
                None => {
                    let part = &self.parts()[source - segments.len()];
                    judge(&mut matches, run, Scorer::of_tail(&self.plan, &part.indexed)?);
                }
            }
        }
        Ok(matches)
    }

    fn windows_at(
        &self,
        places: &[DocLocation],
        filter: &Filter,
        except: &RoaringTreemap,
    ) -> Result<Vec<Option<Window>>> {
        let mut windows = Windows::over(&self.snapshot.segments, self.tail, filter, except)?;
        if !windows.has_threads() {
            return Ok(vec![None; places.len()]);
        }
        Ok(places.iter().map(|&place| windows.around(place)).collect())
    }
}

/// Judges the documents of a run: places in one source, each with where its match belongs.
fn judge<P: PostingList>(matches: &mut Matches, run: &[(DocLocation, usize)], mut scorer: Scorer<'_, P>) {
    let terms = matches.shares.len();
    for &(place, index) in run {
        let parts = &mut matches.parts[index * terms..(index + 1) * terms];
        matches.records[index] = scorer.match_of(place.doc, parts);
    }
}

fn parts_of(tail: Option<&TailIndex>) -> &[TailPart] {
    tail.map_or(&[], TailIndex::parts)
}

/// Collects the best k documents of one segment or part.
struct Collector<'a, P, Admit> {
    scorer: Scorer<'a, P>,
    /// The number of the segment or part.
    source: u32,
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
            self.top.offer(id, DocLocation { source: self.source, doc }, score);
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

    /// Considers the documents whose sums can reach the threshold. Positions are read last, where they can still matter: of
    /// documents that have both words of a pair, and with it reach the best sums.
    fn sum(&mut self, plan: &Plan, addends: Vec<Addend<'_>>) {
        let slack = ROUNDING / plan.max_phrase_factor();
        let pairs = plan.pair_bits();
        let mut best = BestSums::above(self.top.threshold(), self.top.size());
        let mut kept = Vec::new();
        sums::visit(addends, best.least() * slack, |Summed { doc, sum, bits }| {
            let together = pairs.iter().filter(|&&both| bits & both == both).count();
            let most = plan.with_phrase_factor(sum, together);
            if most >= best.least()
                && let Some(id) = (self.admit)(doc)
            {
                best.push(sum);
                kept.push((id, doc, sum, most));
            }
            best.least() * slack
        });
        for (id, doc, sum, most) in kept {
            if most >= best.least().max(self.top.threshold()) {
                let score =
                    if most > sum { self.scorer.with_phrase_factor(doc, sum, self.top.threshold()) } else { sum };
                self.top.offer(id, DocLocation { source: self.source, doc }, score);
            }
        }
    }

    /// Considers the documents that can reach the threshold, by the maxima of each block of postings (block-max WAND:
    /// Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
    fn prune(&mut self, plan: &Plan, searcher: &Searcher, reader: &SegmentReader) -> Result<()> {
        let slack = ROUNDING / plan.max_phrase_factor();
        let weight = plan.pruning_weight(searcher)?;
        weight.for_each_pruning(self.top.threshold() * slack, reader, &mut |doc, _| {
            self.consider(doc);
            self.top.threshold() * slack
        })?;
        Ok(())
    }
}

impl KeywordSnapshot for TantivySnapshot {
    fn applied(&self) -> Seq {
        self.applied
    }

    fn wait_verified(&self, timeout: Duration) -> Result<bool> {
        self.verification.wait(IndexKind::Keyword, timeout)
    }

    fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn query<'a>(&'a self, query: &KeywordQuery, tail: Option<&'a TailIndex>) -> Result<Box<dyn KeywordSearch + 'a>> {
        let plan = self.blame(contained(|| self.plan(query, tail)))?;
        Ok(Box::new(Search { snapshot: self, tail, plan }))
    }

    fn matching(&self, filter: &Filter) -> Result<RoaringTreemap> {
        self.blame(contained(|| self.matching_ids(filter)))
    }

    fn containing(&self, parts: &[String]) -> Result<RoaringTreemap> {
        let all = || self.segments.iter().map(|segment| segment.containing(parts));
        self.blame(contained(|| all().try_fold(RoaringTreemap::new(), |all, ids| Ok(all | ids?))))
    }
}

impl KeywordSearch for Search<'_> {
    fn best(&self, k: usize, filter: &Filter, except: &RoaringTreemap) -> Result<Vec<KeywordHit>> {
        self.snapshot.blame(contained(|| self.best_of(k, filter, except)))
    }

    fn is_of_typos(&self) -> bool {
        self.plan.has_only_corrections()
    }

    fn is_within_words(&self) -> bool {
        self.plan.matches_only_within_words()
    }

    fn terms(&self) -> Vec<String> {
        self.plan.terms()
    }

    fn places(&self, ids: &[RecordId]) -> Result<Vec<Option<DocLocation>>> {
        self.snapshot.blame(contained(|| Ok(ids.iter().map(|&id| self.place_of(id)).collect())))
    }

    fn matches(&self, places: &[DocLocation]) -> Result<Matches> {
        self.snapshot.blame(contained(|| self.matches_at(places)))
    }

    fn windows(&self, places: &[DocLocation], filter: &Filter, except: &RoaringTreemap) -> Result<Vec<Option<Window>>> {
        self.snapshot.blame(contained(|| self.windows_at(places, filter, except)))
    }
}
