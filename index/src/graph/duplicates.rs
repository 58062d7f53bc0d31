//! Slots whose codes are those of an earlier slot.
//!
//! Inserted like the others, thousands of duplicates would link to one another only, fill every beam that comes near,
//! and cut off what lies behind. So only the first of equal ones is inserted; the others hang from it in a chain, in
//! the order of their slots.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::codes::Codes;
use super::nodes::Graph;
use super::vectors::Vectors;
use crate::ids::Slot;

/// Which slots repeat an earlier one.
pub(crate) struct Duplicates {
    /// Each new slot that repeats one, with the first and the last before it that have the same codes. Ascending.
    links: Vec<Duplicate>,
    is_duplicate: Vec<bool>,
}

struct Duplicate {
    slot: Slot,
    first: Slot,
    previous: Slot,
}

impl Duplicates {
    /// Looks for them. New are the slots from `first_new` on.
    pub(crate) fn find(codes: &Codes<'_>, first_new: Slot) -> Self {
        let mut links = Vec::new();
        let mut is_duplicate = vec![false; codes.count()];
        let mut seen: HashMap<(&[i8], u32), (Slot, Slot)> = HashMap::with_capacity(codes.count());
        for slot in 0..codes.count() as Slot {
            match seen.entry((codes.row(slot), codes.scale(slot).to_bits())) {
                Entry::Vacant(entry) => {
                    entry.insert((slot, slot));
                }
                Entry::Occupied(mut entry) => {
                    let &mut (first, previous) = entry.get_mut();
                    if slot >= first_new {
                        links.push(Duplicate { slot, first, previous });
                    }
                    is_duplicate[slot as usize] = true;
                    entry.insert((first, slot));
                }
            }
        }
        Self { links, is_duplicate }
    }

    pub(crate) fn contains(&self, slot: Slot) -> bool {
        self.is_duplicate[slot as usize]
    }

    /// Hangs the new ones into the graph. What a full node gives up for it is linked from the duplicate.
    pub(crate) fn link(&self, vectors: &Vectors<'_>, graph: &mut Graph) {
        for &Duplicate { slot, first, previous } in &self.links {
            let moved = graph.force_link(vectors, previous, slot);
            graph.force_link(vectors, slot, first);
            if let Some(moved) = moved {
                graph.force_link(vectors, slot, moved);
            }
        }
    }
}
