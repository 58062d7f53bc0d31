//! The search of one segment: which plan, the walk or the scan, and the exact scores of what they find.

use crate::best::Best;
use crate::filter::Filter;
use crate::format::view::SegmentView;
use crate::graph::GraphView;
use crate::graph::codes::QueryCodes;
use crate::graph::edges::EdgeQuery;
use crate::graph::ranked::Ranked;
use crate::graph::scratch::Scratch;
use crate::graph::walk::{self, Asked};
use crate::segment::Segment;
use crate::{Key, Slot};

/// To look at a node, its edges included, takes a walk as long as so many rows of codes take a scan (measured).
const ROWS_PER_NODE: u64 = 7;
/// A walk that found too few is begun again with so many times the effort.
const WIDER: u64 = 4;
/// While a scan reads one row of codes, the one so many rows ahead is on its way.
const ROWS_AHEAD: usize = 8;

/// What is sought: a vector of length 1, its codes, and how many of how good results.
pub(crate) struct Wanted<'a> {
    pub(crate) vector: &'a [f32],
    pub(crate) codes: QueryCodes<'a>,
    pub(crate) edges: &'a EdgeQuery,
    pub(crate) k: usize,
    pub(crate) ef: usize,
    pub(crate) filter: Filter<'a>,
    /// How many keys the filter names.
    pub(crate) filter_len: u64,
}

/// The `k` best of a segment with their exact scores, in no order. All that are allowed, where there are no more than `k`.
pub(crate) fn search(segment: &Segment, wanted: &Wanted<'_>, found: &mut Vec<(Key, f32)>) {
    let view = segment.file.view();
    let search = SegmentSearch { segment, view, wanted };
    let candidates = match view.graph {
        Some(graph) => Scratch::with(|scratch| search.walk(&graph, scratch)),
        _ => None,
    };
    let candidates = candidates.unwrap_or_else(|| search.scan());
    let mut best = Best::new(wanted.k);
    let kernel = segment.file.kernel();
    let prefetch = |slot: &Slot| view.row(*slot).into_iter().for_each(|row| crate::simd::prefetch(row.fine));
    candidates.iter().take(ROWS_AHEAD).for_each(prefetch);
    for (position, slot) in candidates.iter().enumerate() {
        candidates.get(position + ROWS_AHEAD).into_iter().for_each(prefetch);
        if let Some((&key, row)) = view.keys.get(*slot as usize).zip(view.row(*slot)) {
            best.push(Exact { score: row.dot(wanted.vector, kernel), key });
        }
    }
    found.extend(best.into_sorted().into_iter().map(|exact| (exact.key, exact.score)));
}

struct SegmentSearch<'a> {
    segment: &'a Segment,
    view: SegmentView<'a>,
    wanted: &'a Wanted<'a>,
}

impl SegmentSearch<'_> {
    /// At most so many of the segment's vectors can be results.
    fn most_allowed(&self) -> u64 {
        let live = self.segment.live() as u64;
        match self.wanted.filter {
            Filter::Only(_) => live.min(self.wanted.filter_len),
            Filter::All | Filter::Except(_) => live,
        }
    }

    /// About how many of the segment's vectors can be results.
    fn allowed(&self) -> u64 {
        match self.wanted.filter {
            // A guess that is right when all the keys named are in this segment.
            Filter::Except(_) => (self.segment.live() as u64).saturating_sub(self.wanted.filter_len),
            Filter::All | Filter::Only(_) => self.most_allowed(),
        }
    }

    /// How many slots a walk keeps: the more the fewer of them are allowed, so that as many are found.
    fn effort(&self) -> u64 {
        let count = self.view.count() as u64;
        (self.wanted.ef as u64).saturating_mul(count) / self.allowed().clamp(1, count)
    }

    /// A walk looks at a number of slots that grows with the effort and with the share that the filter refuses; a scan
    /// looks at all that are allowed.
    fn is_walk_cheaper(&self, effort: u64) -> bool {
        effort.saturating_mul(ROWS_PER_NODE) < self.allowed()
    }

    fn is_allowed(&self, slot: Slot) -> bool {
        !self.segment.tombstones.contains(slot)
            && self.view.keys.get(slot as usize).is_some_and(|&key| self.wanted.filter.allows(key))
    }

    /// How many candidates get an exact score: codes confuse neighbours that are about equally near.
    fn rescored(&self) -> usize {
        self.wanted.k.saturating_add(self.wanted.k / 4).saturating_add(3)
    }

    /// Best first. `None` if it did not find enough before a scan was cheaper.
    fn walk(&self, graph: &GraphView<'_>, scratch: &mut Scratch) -> Option<Vec<Slot>> {
        let Self { view, wanted, .. } = self;
        let start = walk::descend(graph, &view.codes, wanted.codes, graph.entry, (1..=graph.top_level).rev());
        let enough = self.most_allowed().min(wanted.k as u64);
        let mut effort = self.effort();
        // What is allowed may lie elsewhere than round the query.
        while self.is_walk_cheaper(effort) {
            let accept = |slot| self.is_allowed(slot);
            let asked = Asked { codes: wanted.codes, edges: wanted.edges, most: self.rescored() };
            walk::estimated_beam(graph, &view.codes, &asked, effort as usize, start, accept, scratch);
            if scratch.accepted.len() as u64 >= enough {
                let mut found: Vec<Ranked> = scratch.accepted.drain().collect();
                found.sort_unstable_by(|a, b| b.cmp(a));
                return Some(found.into_iter().map(Ranked::slot).collect());
            }
            effort *= WIDER;
        }
        None
    }

    /// Best first.
    fn scan(&self) -> Vec<Slot> {
        let Self { view, wanted, segment } = self;
        let mut best = Best::new(self.rescored());
        let mut look = |slot: Slot| best.push(Ranked::new(view.codes.similarity(wanted.codes, slot), slot));
        match wanted.filter {
            Filter::Only(keys) if wanted.filter_len < view.count() as u64 => {
                let mut slots = Vec::new();
                self.slots_of(keys.iter(), &mut slots);
                for (position, &slot) in slots.iter().enumerate() {
                    if let Some(&ahead) = slots.get(position + ROWS_AHEAD) {
                        view.codes.prefetch(ahead);
                    }
                    look(slot);
                }
            }
            Filter::All => (0..view.count() as Slot).filter(|&slot| !segment.tombstones.contains(slot)).for_each(look),
            Filter::Only(_) | Filter::Except(_) => {
                (0..view.count() as Slot).filter(|&slot| self.is_allowed(slot)).for_each(look);
            }
        }
        best.into_sorted().into_iter().map(Ranked::slot).collect()
    }

    /// The live slots of keys that come in ascending order: both lists are gone through in step, the sorted keys of
    /// the segment in leaps that double.
    fn slots_of(&self, keys: impl Iterator<Item = Key>, slots: &mut Vec<Slot>) {
        let mut rest = self.view.sorted_keys;
        let mut passed = 0;
        for key in keys {
            let mut leap = 1;
            while rest.get(leap).is_some_and(|&other| other < key) {
                leap *= 2;
            }
            let skip = rest[..rest.len().min(leap + 1)].partition_point(|&other| other < key);
            rest = &rest[skip..];
            passed += skip;
            match rest.first() {
                None => break,
                Some(&other) if other == key => {
                    slots.extend(self.view.slot_at(passed).filter(|&slot| !self.segment.tombstones.contains(slot)));
                }
                Some(_) => {}
            }
        }
    }
}

/// A key and its exact score, ordered by score; of equal scores, the lower key is greater.
#[derive(Clone, Copy)]
pub(crate) struct Exact {
    pub(crate) score: f32,
    pub(crate) key: Key,
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(other.key.cmp(&self.key))
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Exact {}
