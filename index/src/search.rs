//! The search of one segment: which plan, the walk or the scan, and the exact scores of what they find.

use crate::best::Best;
use crate::efforts::patience;
use crate::filter::Filter;
use crate::graph::GraphView;
use crate::graph::codes::QueryCodes;
use crate::graph::ranked::Ranked;
use crate::graph::scratch::Scratch;
use crate::graph::walk::{WalkParams, walk};
use crate::ids::{Key, Slot};
use crate::layout::Layout;
use crate::options::Effort;
use crate::quantize::{Quantized, Row};
use crate::segment::Segment;
use crate::segment::view::SegmentView;
use crate::simd;
use crate::simd::query::EdgeQuery;

/// Rows of codes that a scan reads in the time in which a walk looks at a node, its edges included (measured). In a compact
/// index the walk reads the codes of those of its neighbors that it has not compared yet.
const fn rows_per_node(layout: Layout) -> u64 {
    match layout {
        Layout::Standard => 7,
        Layout::Compact => 14,
    }
}

/// A walk under a filter that lets a share pass finds about as much as one without a filter by an effort that is less by
/// this power of the share (measured, from 10 % to 50 % allowed).
const LESS_EFFORT: f64 = 0.2;
/// It goes through what is refused until it has seen what it would keep without a filter, times this power of the share.
const GO_THROUGH: f64 = 0.2;
/// The factor of the effort when a walk that found too few is begun again.
const WIDER: u64 = 4;
/// A walk that ends when it has found what it seeks keeps this many times the effort, so that most are not begun again.
const ROOM: u64 = 2;
/// Standard errors from which on the difference of two similarities by codes is trusted.
const ERRORS: f32 = 4.0;
/// Rows of codes by which a scan reads ahead.
const ROWS_AHEAD: usize = 8;

/// Whether a walk with an effort is cheaper than a scan of all that are allowed: it looks at a number of slots that
/// grows with the effort, which grows with the share that the filter refuses.
pub(crate) fn is_walk_cheaper(layout: Layout, effort: u64, allowed: u64) -> bool {
    effort.saturating_mul(rows_per_node(layout)) < allowed
}

/// A query vector, in the forms that the parts of a search take.
pub(crate) struct Query {
    vector: Vec<f32>,
    codes: Quantized,
    edges: EdgeQuery,
}

impl Query {
    /// The query for a vector of length 1, rotated.
    pub(crate) fn new(vector: Vec<f32>) -> Self {
        let (mut codes, mut edges) = (Quantized::default(), EdgeQuery::default());
        codes.push(&vector);
        edges.fill(&vector);
        Self { vector, codes, edges }
    }

    fn codes(&self) -> QueryCodes<'_> {
        let Row { coarse, scale, .. } = self.codes.row(0);
        QueryCodes { row: coarse, scale }
    }
}

/// The query, and how many results of what quality to return.
pub(crate) struct SearchRequest<'a> {
    pub(crate) query: &'a Query,
    pub(crate) k: usize,
    pub(crate) effort: Effort,
    pub(crate) filter: Filter<'a>,
    /// How many keys the filter names.
    pub(crate) filter_len: u64,
    /// How many vectors there are in all segments.
    pub(crate) total: u64,
}

/// The `k` best of a segment with their scores, in no order. All that are allowed, where there are no more than `k`.
pub(crate) fn search(segment: &Segment, request: &SearchRequest<'_>, found: &mut Vec<(Key, f32)>) {
    let view = segment.file.view();
    let search = SegmentSearch { segment, view, request, codes: request.query.codes() };
    let candidates = match view.graph.and_then(|graph| Scratch::with(|scratch| search.walk(&graph, scratch))) {
        Some(walked) => walked,
        None if request.effort == Effort::Exact => search.allowed_slots(),
        None => search.scan(),
    };
    let mut best = Best::new(request.k);
    each_ahead(
        &candidates,
        |slot| view.vectors.prefetch(slot),
        |slot| {
            let score = view.vectors.cosine(&request.query.vector, slot);
            // In a damaged file it can be no number, which would be the best of all.
            if let Some(&key) = view.keys.get(slot as usize).filter(|_| score.is_finite()) {
                best.push(Scored { score, key });
            }
        },
    );
    found.extend(best.into_sorted().into_iter().map(|one| (one.key, one.score)));
}

/// Looks at each slot, while those some way ahead are on their way into the cache.
fn each_ahead(slots: &[Slot], prefetch: impl Fn(Slot), mut look: impl FnMut(Slot)) {
    slots.iter().take(ROWS_AHEAD).for_each(|&slot| prefetch(slot));
    for (position, &slot) in slots.iter().enumerate() {
        slots.get(position + ROWS_AHEAD).into_iter().for_each(|&ahead| prefetch(ahead));
        look(slot);
    }
}

struct SegmentSearch<'a> {
    segment: &'a Segment,
    view: SegmentView<'a>,
    request: &'a SearchRequest<'a>,
    codes: QueryCodes<'a>,
}

impl SegmentSearch<'_> {
    /// The most vectors of the segment that can be results.
    fn most_allowed(&self) -> u64 {
        let live = self.segment.live() as u64;
        match self.request.filter {
            Filter::Only(_) => live.min(self.request.filter_len),
            Filter::All | Filter::Except(_) => live,
        }
    }

    /// About how many of the segment's vectors can be results.
    fn allowed(&self) -> u64 {
        match self.request.filter {
            // As if the keys named were spread evenly over all segments.
            Filter::Except(_) => {
                let (live, total) = (self.segment.live() as u64, self.request.total.max(1));
                live - (u128::from(live) * u128::from(self.request.filter_len.min(total)) / u128::from(total)) as u64
            }
            Filter::All | Filter::Only(_) => self.most_allowed(),
        }
    }

    /// How many slots a walk keeps where all are allowed.
    fn ef(&self) -> u64 {
        let SearchRequest { k, effort, .. } = *self.request;
        let ef = match effort {
            Effort::Recall(recall) => self.segment.efforts.ef(recall, k),
            Effort::Ef(ef) => ef,
            // More than any walk is worth.
            Effort::Exact => usize::MAX,
        };
        ef.max(k) as u64
    }

    #[inline]
    fn is_allowed(&self, slot: Slot) -> bool {
        !self.segment.tombstones.contains(slot)
            && match self.request.filter {
                // Its key is in no cache.
                Filter::All => true,
                filter => self.view.keys.get(slot as usize).is_some_and(|&key| filter.allows(key)),
            }
    }

    /// Brings into the cache the key that a filter looks at.
    #[inline]
    fn prefetch_key(&self, slot: Slot) {
        if !matches!(self.request.filter, Filter::All) {
            simd::prefetch(self.view.keys.get(slot as usize..=slot as usize).unwrap_or(&[]));
        }
    }

    /// The slots that a walk finds. `None` if it did not find enough before a scan was cheaper.
    fn walk(&self, graph: &GraphView<'_>, scratch: &mut Scratch) -> Option<Vec<Slot>> {
        let Self { view, request, segment, .. } = self;
        let layout = segment.file.header.shape.layout;
        let (count, allowed) = (view.count() as u64, self.allowed());
        let share = allowed as f64 / count as f64;
        let ef = ((self.ef() as f64 * share.powf(LESS_EFFORT)).ceil() as u64).max(request.k as u64);
        // The fewer are allowed, the more are kept, so that about as many pass.
        let mut effort = ef.saturating_mul(count) / allowed.clamp(1, count);
        // A walk that finds fewer has met them on its way: what is allowed lies in another region than the query.
        let enough = (ef / 2).max(request.k as u64).min(self.most_allowed());
        let patience = match request.effort {
            Effort::Recall(recall) => Some(patience(recall, request.k, ef)),
            Effort::Ef(_) | Effort::Exact => None,
        };
        let room = if patience.is_some() { ROOM } else { 1 };
        while is_walk_cheaper(layout, effort, allowed) {
            let params = WalkParams {
                vector: &request.query.vector,
                codes: self.codes,
                edges: &request.query.edges,
                ef: effort.saturating_mul(room) as usize,
                enough: (ef as f64 * share.powf(GO_THROUGH)).ceil() as usize,
                patience,
            };
            let has_found = walk(
                graph,
                &view.vectors,
                params,
                |slot| self.is_allowed(slot),
                |slot| self.prefetch_key(slot),
                scratch,
            );
            if scratch.seen.len() as u64 >= enough && (has_found || patience.is_none()) {
                return Some(self.may_be_best(&scratch.seen));
            }
            effort = effort.saturating_mul(WIDER);
        }
        None
    }

    /// Scans all allowed slots. Returns those that may be among the best.
    fn scan(&self) -> Vec<Slot> {
        let codes = &self.view.vectors.codes;
        let slots = self.allowed_slots();
        let mut seen = Vec::with_capacity(slots.len());
        each_ahead(
            &slots,
            |slot| codes.prefetch(slot),
            |slot| {
                let similarity = codes.similarity(self.codes, slot);
                // In a damaged file it can be no number, which would be the best of all.
                if similarity.is_finite() {
                    seen.push(Ranked::new(similarity, slot));
                }
            },
        );
        self.may_be_best(&seen)
    }

    /// The slots that can be among the `k` best: coarse codes confuse vectors that are about equally near, so all that are
    /// within the codes' error of the last of the best.
    fn may_be_best(&self, seen: &[Ranked]) -> Vec<Slot> {
        let mut best = Best::new(self.request.k);
        seen.iter().for_each(|&one| best.push(one));
        let Some(last) = best.least() else { return Vec::new() };
        let codes = &self.view.vectors.codes;
        let square = |scale: f32| scale * scale;
        // A code is off by up to half a step either way, evenly: the variance is a twelfth of its square.
        let doubt = |slot| ERRORS * ((square(self.codes.scale) + square(codes.scale(slot))) / 6.0).sqrt();
        let may_be_best = |one: &&Ranked| one.similarity() + doubt(one.slot()) >= last.similarity();
        seen.iter().filter(may_be_best).map(|one| one.slot()).collect()
    }

    /// All slots that can be results.
    fn allowed_slots(&self) -> Vec<Slot> {
        let Self { view, request, segment, .. } = self;
        let live = |slot: &Slot| !segment.tombstones.contains(*slot);
        match request.filter {
            Filter::Only(keys) if request.filter_len < view.count() as u64 => {
                let sorted = SortedKeys::new(view.sorted_keys);
                let mut slots = Vec::new();
                keys.for_each(&mut |key| {
                    slots.extend(sorted.position(key).and_then(|position| view.slot_at(position)).filter(live));
                });
                slots
            }
            Filter::All => (0..view.count() as Slot).filter(live).collect(),
            Filter::Only(_) | Filter::Except(_) => {
                (0..view.count() as Slot).filter(|&slot| self.is_allowed(slot)).collect()
            }
        }
    }
}

/// Finds keys among sorted ones. Keys are mostly given out in order, so that a key's place is about its share of the
/// way from the first to the last.
struct SortedKeys<'a> {
    keys: &'a [Key],
    first: Key,
    places_per_key: f64,
}

impl<'a> SortedKeys<'a> {
    fn new(keys: &'a [Key]) -> Self {
        let (first, last) = (keys.first().copied().unwrap_or(0), keys.last().copied().unwrap_or(0));
        let places_per_key = keys.len().saturating_sub(1) as f64 / last.saturating_sub(first).max(1) as f64;
        Self { keys, first, places_per_key }
    }

    /// The position of a key: from where it should be, in leaps that double, to where it is.
    fn position(&self, key: Key) -> Option<usize> {
        let Self { keys, first, places_per_key } = *self;
        let guess = (key.saturating_sub(first) as f64 * places_per_key) as usize;
        let guess = guess.min(keys.len().checked_sub(1)?);
        let (mut low, mut high, mut leap) = (guess, guess + 1, 1);
        while low > 0 && keys[low] > key {
            low = low.saturating_sub(leap);
            leap *= 2;
        }
        while high < keys.len() && keys[high - 1] < key {
            high = keys.len().min(high + leap);
            leap *= 2;
        }
        keys[low..high].binary_search(&key).ok().map(|position| low + position)
    }
}

/// A key and its score, ordered by score; of equal scores, the lower key is greater.
#[derive(Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) score: f32,
    pub(crate) key: Key,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_found_wherever_they_lie(
            mut keys in prop::collection::vec(prop_oneof![0u64..300, any::<u64>(), u64::MAX - 9..], 0..80),
            others in prop::collection::vec(any::<u64>(), 9),
        ) {
            keys.sort_unstable();
            keys.dedup();
            let sorted = SortedKeys::new(&keys);
            for key in keys.iter().copied().chain(others).chain(0..300) {
                prop_assert_eq!(sorted.position(key), keys.binary_search(&key).ok());
            }
        }
    }
}
