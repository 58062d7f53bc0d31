//! The best k of a stream of scored records.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::found::{Found, Place};
use crate::types::RecordId;

/// Keeps the best `k`: highest score first, equal scores by id.
pub(super) struct TopK {
    k: usize,
    /// The worst on top.
    heap: BinaryHeap<Candidate>,
}

#[derive(PartialEq)]
struct Candidate {
    score: f32,
    id: RecordId,
    place: Place,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// Worse is greater.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Candidate {
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

    pub(super) fn offer(&mut self, id: RecordId, place: Place, score: f32) {
        let candidate = Candidate { score, id, place };
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    pub(super) fn into_sorted(self) -> Vec<Found> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|Candidate { score, id, place }| Found { id, place, score }).collect()
    }
}
