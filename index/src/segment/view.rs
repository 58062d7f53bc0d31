//! A segment as it lies in its bytes: nothing is copied, and nothing in it is trusted.

use crate::format::layout::{Header, Places, Section};
use crate::graph::GraphView;
use crate::graph::codes::Codes;
use crate::graph::vectors::Vectors;
use crate::ids::{Key, Slot};
use crate::simd::Kernel;

/// The sections of a segment. All slices that have one item per vector are equally long.
#[derive(Clone, Copy)]
pub(crate) struct SegmentView<'a> {
    pub(crate) vectors: Vectors<'a>,
    /// `None` for a flat segment.
    pub(crate) graph: Option<GraphView<'a>>,
    pub(crate) keys: &'a [Key],
    pub(crate) sorted_keys: &'a [Key],
    pub(crate) sorted_slots: &'a [Slot],
}

impl<'a> SegmentView<'a> {
    /// Lays the sections over `bytes`. `None` if they do not reach, or are not aligned as a mapping is.
    pub(crate) fn parse(bytes: &'a [u8], header: &Header, places: &Places, kernel: Kernel) -> Option<Self> {
        let section = |section| bytes.get(places.range(section)?);
        let shape = &header.shape;
        let graph = if shape.has_graph() {
            Some(GraphView {
                width: shape.links as usize,
                stride: shape.node_words(),
                nodes: slice_of(section(Section::Nodes)?)?,
                firm: section(Section::Firm)?,
                entry_width: shape.entry_width(),
                entries: slice_of(section(Section::Entries)?)?,
            })
        } else {
            None
        };
        let (codes, scales) = (slice_of(section(Section::Codes)?)?, slice_of(section(Section::Scales)?)?);
        let codes = Codes::new(codes, scales, shape.dims as usize, kernel);
        Some(Self {
            vectors: Vectors::new(codes, slice_of(section(Section::Fine)?)?),
            graph,
            keys: slice_of(section(Section::Keys)?)?,
            sorted_keys: slice_of(section(Section::SortedKeys)?)?,
            sorted_slots: slice_of(section(Section::SortedSlots)?)?,
        })
    }

    /// How many vectors there are, deleted ones included.
    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The slot of a key, deleted or not.
    pub(crate) fn slot_of(&self, key: Key) -> Option<Slot> {
        let position = position_of(self.sorted_keys, key)?;
        self.slot_at(position)
    }

    /// The slot of the key at a position of the sorted keys.
    pub(crate) fn slot_at(&self, position: usize) -> Option<Slot> {
        let key = self.sorted_keys.get(position)?;
        // Where the sections contradict each other, a wrong vector would go by the key.
        self.sorted_slots.get(position).copied().filter(|&slot| self.keys.get(slot as usize) == Some(key))
    }
}

/// The position of a key in sorted ones. Keys mostly have few gaps, so it is looked for near where it would be if these were
/// even: fewer places in memory are touched than by halving everything.
fn position_of(sorted: &[Key], key: Key) -> Option<usize> {
    let (first, last, end) = (*sorted.first()?, *sorted.last()?, sorted.len() - 1);
    if key < first || key > last {
        return None;
    }
    let share = (key - first) as f64 / (last - first).max(1) as f64;
    let guess = (share * end as f64) as usize;
    let mut reach = 4;
    loop {
        let (low, high) = (guess.min(end).saturating_sub(reach), (guess + reach).min(end));
        if sorted[low] <= key && key <= sorted[high] {
            return sorted[low..=high].binary_search(&key).ok().map(|position| low + position);
        }
        reach *= 8;
    }
}

fn slice_of<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Option<&[T]> {
    bytemuck::try_cast_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_is_found_where_it_is(
            keys in prop::collection::btree_set(prop_oneof![0..60_u64, 0..5_000_u64, any::<u64>()], 0..200),
            others in prop::collection::vec(prop_oneof![0..5_000_u64, any::<u64>()], 0..50),
        ) {
            let sorted: Vec<Key> = keys.iter().copied().collect();
            for key in others.iter().chain(&sorted).chain(&[0, Key::MAX]) {
                prop_assert_eq!(position_of(&sorted, *key), sorted.binary_search(key).ok());
            }
        }
    }

    #[test]
    fn in_keys_that_are_not_sorted_a_search_ends() {
        for key in 0..12 {
            let _ = position_of(&[1, 9, 3, 0, 11, 7, 2, 2, 40, 5, 10], key);
        }
    }
}
