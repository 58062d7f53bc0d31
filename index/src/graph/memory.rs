//! A graph in memory that several threads link at once, and the finished graph it turns into.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::codes::Codes;
use super::edges::BATCH;
use super::ranked::Ranked;
use super::select::select;
use super::{GraphView, Links};
use crate::Slot;
use crate::format::{MAX_LEVEL, NO_SLOT};

/// How many links a slot can have on the lowest level: twice `m`, filled up to whole batches of edges.
pub(crate) fn lowest_width(m: usize) -> usize {
    (2 * m).next_multiple_of(BATCH)
}

/// The level of the node of a key. Each level has about one node for `m` of the level below, as in the paper, but for the first
/// above the lowest, which has one for `m * m`: with estimates, a step on the lowest level costs less than the way through one
/// more level.
pub(crate) fn random_level(seed: u64, key: u64, m: usize) -> u8 {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014), so that neighbouring keys get independent levels.
    let mut bits = seed ^ key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    let uniform = ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let level = -uniform.ln() / (m as f64).ln();
    (level as u8).saturating_sub(1).min(MAX_LEVEL)
}

/// A finished graph.
pub(crate) struct Graph {
    pub(crate) width: usize,
    pub(crate) upper_width: usize,
    pub(crate) entry: Slot,
    pub(crate) top_level: u8,
    pub(crate) links: Vec<Slot>,
    pub(crate) upper_links: Vec<Slot>,
    pub(crate) levels: Vec<u8>,
    pub(crate) upper_start: Vec<u32>,
}

impl Graph {
    pub(crate) fn view(&self) -> GraphView<'_> {
        GraphView {
            width: self.width,
            stride: self.width,
            upper_width: self.upper_width,
            entry: self.entry,
            top_level: self.top_level,
            nodes: &self.links,
            upper_links: &self.upper_links,
            levels: &self.levels,
            upper_start: &self.upper_start,
        }
    }
}

/// A graph that grows. Rows are read without a lock: a reader may see a row half changed, which costs it a neighbour and no
/// more, because each number in a row is always a slot or [`NO_SLOT`]. Rows are changed under the lock of their slot.
pub(crate) struct GrowingGraph {
    width: usize,
    upper_width: usize,
    links: Vec<AtomicU32>,
    upper_links: Vec<AtomicU32>,
    levels: Vec<u8>,
    upper_start: Vec<u32>,
    locks: Vec<Mutex<()>>,
}

/// What linking needs besides the graph.
#[derive(Default)]
pub(crate) struct LinkScratch {
    pub(crate) candidates: Vec<Ranked>,
    pub(crate) chosen: Vec<Slot>,
}

impl GrowingGraph {
    /// A graph without links. `levels` are those of all slots that it will have.
    pub(crate) fn new(m: usize, levels: Vec<u8>) -> Self {
        let count = levels.len();
        let mut upper_rows = 0;
        let upper_start = levels
            .iter()
            .map(|&level| {
                let start = if level > 0 { upper_rows } else { NO_SLOT };
                upper_rows += u32::from(level);
                start
            })
            .collect();
        let empty = |len: usize| (0..len).map(|_| AtomicU32::new(NO_SLOT)).collect();
        Self {
            width: lowest_width(m),
            upper_width: m,
            links: empty(count * lowest_width(m)),
            upper_links: empty(upper_rows as usize * m),
            levels,
            upper_start,
            locks: (0..count).map(|_| Mutex::new(())).collect(),
        }
    }

    pub(crate) fn level(&self, slot: Slot) -> u8 {
        self.levels[slot as usize]
    }

    /// The slot that is highest, of equally high ones the lowest number: the entry of the finished graph.
    pub(crate) fn highest(&self) -> Slot {
        let mut highest = 0;
        for (slot, &level) in self.levels.iter().enumerate() {
            if level > self.levels[highest] {
                highest = slot;
            }
        }
        highest as Slot
    }

    fn row(&self, slot: Slot, level: u8) -> &[AtomicU32] {
        let slot = slot as usize;
        if level == 0 {
            &self.links[slot * self.width..][..self.width]
        } else if level <= self.levels[slot] {
            let row = self.upper_start[slot] as usize + usize::from(level) - 1;
            &self.upper_links[row * self.upper_width..][..self.upper_width]
        } else {
            &[]
        }
    }

    /// How many links a slot can have on a level.
    pub(crate) fn width(&self, level: u8) -> usize {
        if level == 0 { self.width } else { self.upper_width }
    }

    /// Gives a slot these links on a level, in the place of those it has. They are no more than its row has room for.
    pub(crate) fn set(&self, slot: Slot, level: u8, neighbours: impl IntoIterator<Item = Slot>) {
        let _lock = self.locks[slot as usize].lock();
        store(self.row(slot, level), neighbours);
    }

    /// Links `from` to `to` on a level. When the row is full, the links of `from` are selected anew.
    pub(crate) fn connect(&self, codes: &Codes<'_>, from: Slot, to: Slot, level: u8, scratch: &mut LinkScratch) {
        let _lock = self.locks[from as usize].lock();
        let row = self.row(from, level);
        for cell in row {
            let neighbour = cell.load(Ordering::Relaxed);
            if neighbour == NO_SLOT {
                cell.store(to, Ordering::Relaxed);
                return;
            }
            if neighbour == to {
                return;
            }
        }
        let query = codes.query(from);
        let LinkScratch { candidates, chosen } = scratch;
        candidates.clear();
        candidates.extend(
            row.iter()
                .map(|cell| cell.load(Ordering::Relaxed))
                .chain([to])
                .map(|slot| Ranked::new(codes.similarity(query, slot), slot)),
        );
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        select(codes, candidates, row.len(), chosen);
        store(row, chosen.iter().copied());
    }

    /// The finished graph.
    pub(crate) fn finish(self, entry: Slot) -> Graph {
        let top_level = self.level(entry);
        let plain = |cells: Vec<AtomicU32>| cells.into_iter().map(AtomicU32::into_inner).collect();
        Graph {
            width: self.width,
            upper_width: self.upper_width,
            entry,
            top_level,
            links: plain(self.links),
            upper_links: plain(self.upper_links),
            levels: self.levels,
            upper_start: self.upper_start,
        }
    }
}

fn store(row: &[AtomicU32], neighbours: impl IntoIterator<Item = Slot>) {
    let padded = neighbours.into_iter().chain(std::iter::repeat(NO_SLOT));
    for (cell, neighbour) in row.iter().zip(padded) {
        cell.store(neighbour, Ordering::Relaxed);
    }
}

impl Links for GrowingGraph {
    #[inline]
    fn each_neighbour(&self, slot: Slot, level: u8, mut visit: impl FnMut(Slot)) {
        for cell in self.row(slot, level) {
            let neighbour = cell.load(Ordering::Relaxed);
            if neighbour == NO_SLOT {
                break;
            }
            visit(neighbour);
        }
    }

    #[inline]
    fn prefetch(&self, slot: Slot) {
        crate::simd::prefetch(self.row(slot, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_level_has_a_node_for_m_times_m_and_each_other_one_for_m() {
        let mut counts = [0usize; 3];
        for key in 0..100_000 {
            let level = random_level(7, key, 4);
            for count in counts.iter_mut().take(usize::from(level) + 1) {
                *count += 1;
            }
        }
        assert!((5800..6700).contains(&counts[1]), "{counts:?}");
        assert!((1400..1750).contains(&counts[2]), "{counts:?}");
    }

    #[test]
    fn levels_have_a_bound() {
        assert!((0..10_000).all(|key| random_level(1, key, 2) <= MAX_LEVEL));
    }
}
