//! The best k of a stream of scored records.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::found::{DocLocation, KeywordHit};
use crate::types::RecordId;

/// Keeps the best `k`: highest score first, equal scores by id.
pub(super) struct TopK {
    k: usize,
    /// The worst on top.
    heap: BinaryHeap<HeapEntry>,
}

#[derive(PartialEq)]
struct HeapEntry {
    score: f32,
    id: RecordId,
    place: DocLocation,
}

impl Eq for HeapEntry {}

impl Ord for HeapEntry {
    /// Worse is greater.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TopK {
    pub(super) fn new(k: usize) -> Self {
        TopK { k, heap: BinaryHeap::with_capacity(k.min(1024) + 1) }
    }

    /// A record with a score below this cannot enter; one with this score may, if its id is small enough.
    pub(super) fn threshold(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() == self.k => worst.score,
            _ => 0.0,
        }
    }

    /// How many it keeps.
    pub(super) fn size(&self) -> usize {
        self.k
    }

    pub(super) fn offer(&mut self, id: RecordId, place: DocLocation, score: f32) {
        let candidate = HeapEntry { score, id, place };
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    pub(super) fn into_sorted(self) -> Vec<KeywordHit> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|HeapEntry { score, id, place }| KeywordHit { id, place, score }).collect()
    }
}

/// The least that the best k of some scores can be, from sums that the scores are not below.
pub(super) struct BestSums {
    k: usize,
    floor: f32,
    /// The bits of the best sums, which ascend with them as none is negative; the least on top.
    heap: BinaryHeap<Reverse<u32>>,
}

impl BestSums {
    /// Collects the best `k` sums, which are known to be at least `floor`.
    pub(super) fn above(floor: f32, k: usize) -> Self {
        BestSums { k, floor, heap: BinaryHeap::with_capacity(k.min(1024) + 1) }
    }

    pub(super) fn push(&mut self, sum: f32) {
        self.heap.push(Reverse(sum.to_bits()));
        if self.heap.len() > self.k {
            self.heap.pop();
        }
    }

    pub(super) fn least(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(least)) if self.heap.len() == self.k => f32::from_bits(*least).max(self.floor),
            _ => self.floor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_the_best_sums_is_known_once_there_are_enough() {
        let mut best = BestSums::above(1.5, 3);
        let leasts = [2.0, 0.5, 7.0, 1.0, 3.0, 2.5, 2.5].map(|sum| {
            best.push(sum);
            best.least()
        });
        assert_eq!(leasts, [1.5, 1.5, 1.5, 1.5, 2.0, 2.5, 2.5]);
        assert_eq!(BestSums::above(0.0, 3).least(), 0.0);
    }
}
