//! The graph: how it is walked, built, mended and checked. It knows slots, codes and the layout of a node. It opens no
//! file, and keys only decide the order in which slots are inserted.
//!
//! It is that of an HNSW (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs", arXiv 1603.09320) with two levels. The upper one, a sample of the slots
//! called entries, is not walked: its codes lie side by side, so that one pass estimates all of it, and a walk begins
//! at the best of many places. Where the vectors lie in groups that have little to do with one another, as those of two
//! languages, a walk from one place often ends in the wrong group.
//!
//! | file | job |
//! |---|---|
//! | `codes.rs` | similarity of a query and a slot, on int8 codes |
//! | `vectors.rs` | the cosine of a query and a slot, on 16-bit codes |
//! | `buckets.rs` | the best few by rough similarity |
//! | `ranked.rs` | a slot and its similarity, in one integer |
//! | `scratch.rs` | working memory of a walk, which the next one uses again |
//! | `edges.rs` | estimates of all neighbours of a slot at once |
//! | `walk/` | from the entries to the nearest slots |
//! | `select.rs` | which of the nearest become neighbours |
//! | `nodes.rs` | a graph in memory: its nodes, and links put into them |
//! | `seek.rs` | the slots that a walk finds, and the links that a new slot gets |
//! | `build.rs` | inserts slots, batch by batch |
//! | `carry.rs` | takes over the graph of an older segment, round the slots that are dropped |
//! | `duplicates.rs` | slots that repeat an earlier one |
//! | `connect.rs` | makes every slot reachable |

use crate::format::node::row_links;
use crate::ids::Slot;

pub(crate) mod buckets;
pub(crate) mod build;
pub(crate) mod carry;
pub(crate) mod codes;
pub(crate) mod connect;
pub(crate) mod duplicates;
pub(crate) mod edges;
pub(crate) mod nodes;
pub(crate) mod ranked;
pub(crate) mod scratch;
pub(crate) mod seek;
pub(crate) mod select;
pub(crate) mod vectors;
pub(crate) mod walk;

const WORDS_PER_CACHE_LINE: usize = 16;

/// A graph, in memory or in a file. The slots it names may be out of bounds: a walk checks them.
#[derive(Clone, Copy)]
pub(crate) struct GraphView<'a> {
    /// Links per slot.
    pub(crate) width: usize,
    /// Words from one slot's links to the next one's: what is between are its edges. A compact index has none.
    pub(crate) stride: usize,
    /// The nodes of all slots, one after another.
    pub(crate) nodes: &'a [u32],
    /// How many links of each slot are firm.
    pub(crate) firm: &'a [u8],
    /// How many links lead to entries, a multiple of [`BATCH`](crate::format::node::BATCH).
    pub(crate) entry_width: usize,
    /// The links to entries, and their edges, which go out from zero.
    pub(crate) entries: &'a [u32],
}

impl<'a> GraphView<'a> {
    /// Whether there are edges beside the links of a slot.
    pub(crate) fn has_edges(&self) -> bool {
        self.stride > self.width
    }

    /// The neighbours of a slot; none where there is no such slot.
    #[inline]
    pub(crate) fn neighbours(&self, slot: Slot) -> &'a [Slot] {
        row_links(self.links_and_edges(slot).0)
    }

    /// The links of a slot, with what is after their end, and its edges; none where there is no such slot.
    #[inline]
    pub(crate) fn links_and_edges(&self, slot: Slot) -> (&'a [Slot], &'a [u32]) {
        self.node(slot).and_then(|node| node.split_at_checked(self.width)).unwrap_or_default()
    }

    /// The slots that every walk begins with.
    pub(crate) fn entries(&self) -> &'a [Slot] {
        row_links(self.entries_and_edges().0)
    }

    /// The links to the entries, with what is after their end, and their edges.
    #[inline]
    pub(crate) fn entries_and_edges(&self) -> (&'a [Slot], &'a [u32]) {
        self.entries.split_at_checked(self.entry_width).unwrap_or_default()
    }

    /// Brings the first, second or third third of the node of a slot into the cache.
    #[inline]
    pub(crate) fn prefetch_third(&self, slot: Slot, third: usize) {
        if let Some(node) = self.node(slot) {
            let len = node.len().div_ceil(3).next_multiple_of(WORDS_PER_CACHE_LINE);
            node.chunks(len).nth(third).into_iter().for_each(crate::simd::prefetch);
        }
    }

    #[inline]
    fn node(&self, slot: Slot) -> Option<&'a [u32]> {
        let start = (slot as usize).checked_mul(self.stride)?;
        self.nodes.get(start..start.checked_add(self.stride)?)
    }
}
