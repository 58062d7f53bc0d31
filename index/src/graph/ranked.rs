//! A slot and its similarity to what is sought, ordered as one integer.

use crate::Slot;

/// Greater is more similar; of equally similar ones the lower slot is greater. Slots are below 2^31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ranked(u64);

const EXPANDED: u64 = 1;
const SLOT_MASK: u32 = u32::MAX >> 1;
const SIGN: u32 = 1 << 31;

impl Ranked {
    #[inline]
    pub(crate) fn new(similarity: f32, slot: Slot) -> Self {
        let bits = similarity.to_bits();
        // Floats compare as their bits do, but for the negative ones, whose order is turned round.
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Self(u64::from(ordered) << 32 | u64::from(!slot & SLOT_MASK) << 1)
    }

    pub(crate) fn slot(self) -> Slot {
        !((self.0 >> 1) as u32) & SLOT_MASK
    }

    pub(crate) fn similarity(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
    }
}

/// The best few that a walk has seen, best first, and which of them it has expanded.
#[derive(Default)]
pub(crate) struct Pool {
    /// The lowest bit says that the item was expanded.
    items: Vec<u64>,
    capacity: usize,
    /// Everything before it is expanded.
    next: usize,
}

impl Pool {
    pub(crate) fn reset(&mut self, capacity: usize) {
        self.items.clear();
        self.capacity = capacity.max(1);
        self.next = 0;
    }

    /// Takes an item in if it is good enough.
    #[inline]
    pub(crate) fn insert(&mut self, item: Ranked) {
        if self.items.len() == self.capacity {
            if self.items.last().is_some_and(|&worst| item.0 < worst) {
                return;
            }
            self.items.pop();
        }
        let position = self.items.partition_point(|&other| other > item.0);
        self.items.insert(position, item.0);
        self.next = self.next.min(position);
    }

    /// The best item that was not expanded; it counts as expanded from now on.
    #[inline]
    pub(crate) fn expand_next(&mut self) -> Option<Slot> {
        while let Some(item) = self.items.get_mut(self.next) {
            self.next += 1;
            if *item & EXPANDED == 0 {
                *item |= EXPANDED;
                return Some(Ranked(*item).slot());
            }
        }
        None
    }

    /// The item that will be expanded next, unless a better one comes.
    #[inline]
    pub(crate) fn peek(&self) -> Option<Slot> {
        self.items[self.next.min(self.items.len())..]
            .iter()
            .find(|&item| item & EXPANDED == 0)
            .map(|&item| Ranked(item).slot())
    }

    /// Best first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Ranked> + '_ {
        self.items.iter().map(|&item| Ranked(item & !EXPANDED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_similarity_then_by_slot() {
        let sorted = [
            Ranked::new(-1.0, 5),
            Ranked::new(-0.25, 7),
            Ranked::new(-0.0, 1),
            Ranked::new(0.0, 2),
            Ranked::new(0.0, 1),
            Ranked::new(0.5, SLOT_MASK),
            Ranked::new(0.5, 0),
            Ranked::new(1.0, 9),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
        assert_eq!((sorted[1].similarity(), sorted[1].slot()), (-0.25, 7));
        assert_eq!((sorted[5].similarity(), sorted[5].slot()), (0.5, SLOT_MASK));
    }

    #[test]
    fn a_pool_keeps_the_best_and_expands_each_once() {
        let mut pool = Pool::default();
        pool.reset(3);
        for (slot, similarity) in [0.1, 0.5, 0.3, 0.2].into_iter().enumerate() {
            pool.insert(Ranked::new(similarity, slot as Slot));
        }
        assert_eq!(pool.iter().map(Ranked::slot).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(pool.expand_next(), Some(1));
        assert_eq!(pool.peek(), Some(2));
        pool.insert(Ranked::new(0.9, 7));
        assert_eq!(pool.peek(), Some(7));
        assert_eq!(pool.expand_next(), Some(7));
        assert_eq!(pool.expand_next(), Some(2));
        assert_eq!(pool.expand_next(), None);
        assert_eq!(pool.iter().map(Ranked::slot).collect::<Vec<_>>(), [7, 1, 2]);
    }
}
