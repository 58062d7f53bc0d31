//! Working memory of a walk. The next walk of the thread uses it again, so that searching allocates little.

use std::cell::RefCell;

use super::buckets::Buckets;
use super::ranked::Ranked;
use crate::ids::Slot;

/// Working memory of one walk.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) visited: Visited,
    /// Slots that it has still to look at.
    pub(crate) buckets: Buckets,
    /// Slots that it has looked at, in that order.
    pub(crate) seen: Vec<Ranked>,
    /// Slots that a walk by codes compares, and those that it compares after them.
    pub(crate) here: Vec<Slot>,
    pub(crate) coming: Vec<Slot>,
}

impl Scratch {
    /// Makes it ready for a walk over `count` slots that keeps `ef` of them.
    pub(crate) fn reset(&mut self, count: usize, ef: usize) {
        self.visited.reset(count);
        self.buckets.reset(ef);
        self.seen.clear();
    }

    /// Runs `work` with the scratch of this thread. A call from within `work` gets a new one.
    pub(crate) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        thread_local! {
            static SCRATCH: RefCell<Option<Box<Scratch>>> = const { RefCell::new(None) };
        }
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let result = work(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }
}

/// A set of slots that is emptied in the time that filling it took.
#[derive(Default)]
pub(crate) struct Visited {
    words: Vec<u64>,
    touched: Vec<u32>,
    count: usize,
}

impl Visited {
    /// Empties the set and makes room for slots below `count`.
    pub(crate) fn reset(&mut self, count: usize) {
        for word in self.touched.drain(..) {
            self.words[word as usize] = 0;
        }
        let words = count.div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        self.count = count;
    }

    /// Whether the slot is in the set, or out of bounds.
    #[inline]
    pub(crate) fn contains(&self, slot: Slot) -> bool {
        slot as usize >= self.count || self.words[slot as usize / 64] & 1 << (slot % 64) != 0
    }

    /// Whether the slot was not in the set and is so now. A slot out of bounds is never new.
    #[inline]
    pub(crate) fn insert(&mut self, slot: Slot) -> bool {
        if slot as usize >= self.count {
            return false;
        }
        let index = slot / 64;
        let bit = 1 << (slot % 64);
        let word = &mut self.words[index as usize];
        if *word == 0 {
            self.touched.push(index);
        }
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_empties_the_set() {
        let mut visited = Visited::default();
        visited.reset(100);
        assert!(visited.insert(64) && !visited.insert(64) && visited.insert(99));
        assert!(!visited.insert(100), "out of bounds, though its word is there");
        visited.reset(65);
        assert!(visited.insert(64) && !visited.insert(99));
    }
}
