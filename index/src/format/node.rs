//! A node of a graph in its words: links, and beside each 32 of them the edges that estimates are made of.

use super::{CODE_ALIGNMENT, NO_SLOT};
use crate::ids::Slot;
use crate::layout::Layout;

/// Neighbours whose estimates are made at once.
pub(crate) const BATCH: usize = 32;
/// An offset is kept as a multiple of this.
pub(crate) const OFFSET_STEP: f32 = 1.0 / 8192.0;
/// A slope, times the root of the width, is kept as a multiple of this.
pub(crate) const SLOPE_STEP: f32 = 1.0 / 16384.0;

/// The least width: vectors of fewer dimensions are filled up, because their signs alone would say too little of their
/// direction.
const LEAST_WIDTH: usize = 256;

/// How many numbers a vector is kept in: its dimensions, rounded up so that each row of codes starts on a cache line.
pub(crate) fn code_stride(dims: usize) -> usize {
    dims.next_multiple_of(CODE_ALIGNMENT).max(LEAST_WIDTH)
}

/// How many links a slot can have: twice `m`, filled up to whole batches of edges.
pub(crate) const fn links_of(m: usize) -> usize {
    (2 * m).next_multiple_of(BATCH)
}

/// How many words a batch of neighbours takes besides their links, in vectors of `width` numbers.
pub(crate) fn batch_words(width: usize) -> usize {
    BATCH * (2 + 2) / 4 + BATCH * width / 32
}

/// How many words the entries take: so many links, a multiple of [`BATCH`], together with their edges.
pub(crate) fn entry_words(links: usize, width: usize) -> usize {
    links + links / BATCH * batch_words(width)
}

/// How many words a node takes: as the entries; in a compact index its links alone.
pub(crate) fn node_words(layout: Layout, links: usize, width: usize) -> usize {
    match layout {
        Layout::Standard => entry_words(links, width),
        Layout::Compact => links,
    }
}

/// A batch of neighbours as it lies in a node: slopes, offsets, and for each four numbers 16 bytes of signs.
#[derive(Clone, Copy)]
pub(crate) struct Edges<'a> {
    pub(crate) slopes: &'a [u16; BATCH],
    pub(crate) offsets: &'a [i16; BATCH],
    pub(crate) signs: &'a [u8],
}

impl<'a> Edges<'a> {
    /// Lays a batch over the words after the links. `None` where they are too few.
    #[inline]
    pub(crate) fn parse(words: &'a [u32]) -> Option<Self> {
        let (slopes, rest) = words.split_first_chunk::<{ BATCH / 2 }>()?;
        let (offsets, signs) = rest.split_first_chunk::<{ BATCH / 2 }>()?;
        Some(Self {
            slopes: bytemuck::cast_ref(slopes),
            offsets: bytemuck::cast_ref(offsets),
            signs: bytemuck::cast_slice(signs),
        })
    }
}

/// The links of a row up to its end.
pub(crate) fn row_links(row: &[Slot]) -> &[Slot] {
    let len = row.iter().position(|&slot| slot == NO_SLOT).unwrap_or(row.len());
    &row[..len]
}
