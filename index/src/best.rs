//! The greatest few of many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps the greatest few of what it is given.
pub(crate) struct Best<T> {
    most: usize,
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord + Copy> Best<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::new() }
    }

    /// Whether an item would be kept.
    #[inline]
    pub(crate) fn wants(&self, item: T) -> bool {
        self.heap.len() < self.most || self.heap.peek().is_some_and(|worst| item > worst.0)
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.wants(item) {
            if self.heap.len() == self.most {
                self.heap.pop();
            }
            self.heap.push(Reverse(item));
        }
    }

    /// The least of what it keeps.
    pub(crate) fn least(&self) -> Option<T> {
        self.heap.peek().map(|item| item.0)
    }

    /// Greatest first.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|item| item.0).collect()
    }
}
