//! The graph of an HNSW: how it is walked, built, mended and checked. It knows slots and codes, no files and no keys.
//!
//! Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
//! World graphs", arXiv 1603.09320.
//!
//! | file | job |
//! |---|---|
//! | `codes.rs` | similarity of a query and a slot, on int8 codes |
//! | `vectors.rs` | the cosine of a query and a slot, on 16-bit codes |
//! | `buckets.rs` | the best few by rough similarity |
//! | `ranked.rs` | a slot and its similarity, in one integer |
//! | `scratch.rs` | what a walk needs and the next one uses again |
//! | `walk.rs` | from the entry to the nearest slots |
//! | `select.rs` | which of the nearest become neighbours |
//! | `memory.rs` | a graph in memory that several threads link at once |
//! | `build.rs` | inserts slots |
//! | `carry.rs` | takes over the graph of an older segment, round the slots that are dropped |
//! | `edges.rs` | estimates of all neighbours of a slot at once |
//! | `fill.rs` | puts near slots into the free places of rows |
//! | `duplicates.rs` | slots that repeat an earlier one |
//! | `connect.rs` | makes every slot reachable |

use crate::Slot;
use crate::format::NO_SLOT;
use crate::format::view::row_links;

pub(crate) mod buckets;
pub(crate) mod build;
pub(crate) mod carry;
pub(crate) mod codes;
pub(crate) mod connect;
pub(crate) mod duplicates;
pub(crate) mod edges;
pub(crate) mod fill;
pub(crate) mod memory;
pub(crate) mod ranked;
pub(crate) mod scratch;
pub(crate) mod select;
pub(crate) mod vectors;
pub(crate) mod walk;

/// A graph that can be walked. The slots it names may be out of bounds: a walk checks them.
pub(crate) trait Links {
    /// Calls `visit` with each neighbour of a slot on a level.
    fn each_neighbour(&self, slot: Slot, level: u8, visit: impl FnMut(Slot));

    /// Brings the links of a slot on the lowest level into the cache.
    fn prefetch(&self, slot: Slot);
}

/// A finished graph, in memory or in a file.
#[derive(Clone, Copy)]
pub(crate) struct GraphView<'a> {
    /// Links per slot on the lowest level.
    pub(crate) width: usize,
    /// Words from one slot's links on the lowest level to the next one's: what is between are its edges.
    pub(crate) stride: usize,
    /// Links per slot on each upper level.
    pub(crate) upper_width: usize,
    pub(crate) entry: Slot,
    pub(crate) top_level: u8,
    /// The nodes of the lowest level, one after another.
    pub(crate) nodes: &'a [u32],
    pub(crate) upper_links: &'a [Slot],
    pub(crate) levels: &'a [u8],
    pub(crate) upper_start: &'a [u32],
}

impl<'a> GraphView<'a> {
    /// The neighbours of a slot on a level; none where there is no such slot or it is not on that level.
    #[inline]
    pub(crate) fn neighbours(&self, slot: Slot, level: u8) -> &'a [Slot] {
        self.row(slot, level).map_or(&[], row_links)
    }

    /// The whole row, with what is after its end.
    #[inline]
    pub(crate) fn row(&self, slot: Slot, level: u8) -> Option<&'a [Slot]> {
        if level == 0 {
            return self.node(slot)?.get(..self.width);
        }
        let slot = slot as usize;
        if level <= *self.levels.get(slot)? {
            let first = *self.upper_start.get(slot)?;
            let start = (first as usize).checked_add(usize::from(level) - 1)?.checked_mul(self.upper_width)?;
            self.upper_links.get(start..start.checked_add(self.upper_width)?)
        } else {
            None
        }
    }

    /// The links of a slot on the lowest level, and its edges; none where there is no such slot.
    #[inline]
    pub(crate) fn links_and_edges(&self, slot: Slot) -> (&'a [Slot], &'a [u32]) {
        self.node(slot).and_then(|node| node.split_at_checked(self.width)).unwrap_or_default()
    }

    /// Brings a slot's links on the lowest level, and its edges, into the cache.
    #[inline]
    pub(crate) fn prefetch_node(&self, slot: Slot) {
        self.node(slot).into_iter().for_each(crate::simd::prefetch);
    }

    #[inline]
    fn node(&self, slot: Slot) -> Option<&'a [u32]> {
        let start = (slot as usize).checked_mul(self.stride)?;
        self.nodes.get(start..start.checked_add(self.stride)?)
    }
}

impl Links for GraphView<'_> {
    #[inline]
    fn each_neighbour(&self, slot: Slot, level: u8, mut visit: impl FnMut(Slot)) {
        for &neighbour in self.row(slot, level).unwrap_or(&[]) {
            if neighbour == NO_SLOT {
                break;
            }
            visit(neighbour);
        }
    }

    #[inline]
    fn prefetch(&self, slot: Slot) {
        if let Some(row) = self.row(slot, 0) {
            crate::simd::prefetch(row);
        }
    }
}
