//! The best few that a walk has estimated, in buckets of about equal similarity. Estimates are rough, so their exact order is
//! worth less than what it costs to keep them sorted.

use crate::Slot;

/// Each doubling of the distance has so many buckets (as a power of two): finer than the estimates are.
const PER_OCTAVE_LOG2: u32 = 7;
const SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - PER_OCTAVE_LOG2;
/// Distances (1 - similarity) are told apart from this on, to less than 4.
const LEAST: f32 = 1.0 / (1 << 28) as f32;
const MOST: f32 = 3.999;
const WORDS: usize = 64;
const BUCKETS: usize = 64 * WORDS;
const NONE: u32 = u32::MAX;

/// Keeps about the `capacity` best of what is put in, and hands them out best first. Buckets are numbered from the best on.
pub(crate) struct Buckets {
    /// The newest item of each bucket, and how many it ever had; both mean nothing where `used` has no bit.
    newest: Box<[u32; BUCKETS]>,
    totals: Box<[u32; BUCKETS]>,
    used: [u64; WORDS],
    /// Which buckets have items that were not handed out.
    waiting: [u64; WORDS],
    /// Which words of `waiting` are not zero.
    words: u64,
    /// Slots, and the item before in their bucket.
    items: Vec<(Slot, u32)>,
    /// How many items were put in that are not worse than the bucket `last`.
    count: usize,
    capacity: usize,
    /// What is in a later bucket is not among the best.
    last: usize,
    /// The bucket of the item that was handed out last.
    handed_out: usize,
}

impl Default for Buckets {
    fn default() -> Self {
        Self {
            newest: Box::new([NONE; BUCKETS]),
            totals: Box::new([0; BUCKETS]),
            used: [0; WORDS],
            waiting: [0; WORDS],
            words: 0,
            items: Vec::new(),
            count: 0,
            capacity: 1,
            last: BUCKETS - 1,
            handed_out: 0,
        }
    }
}

impl Buckets {
    pub(crate) fn reset(&mut self, capacity: usize) {
        self.used = [0; WORDS];
        self.waiting = [0; WORDS];
        self.words = 0;
        self.items.clear();
        self.count = 0;
        self.capacity = capacity.max(1);
        self.last = BUCKETS - 1;
    }

    #[inline]
    fn bucket(similarity: f32) -> usize {
        let distance = (1.0 - similarity).clamp(LEAST, MOST);
        ((distance.to_bits() - LEAST.to_bits()) >> SHIFT) as usize
    }

    /// What is not more similar than this would not be kept.
    #[inline]
    pub(crate) fn bar(&self) -> f32 {
        1.0 - f32::from_bits(((self.last as u32 + 1) << SHIFT) + LEAST.to_bits())
    }

    #[inline]
    pub(crate) fn insert(&mut self, similarity: f32, slot: Slot) {
        let bucket = Self::bucket(similarity);
        // Of many that are equally good, as in a heap of duplicates, some are enough.
        if bucket > self.last || bucket == self.last && self.count >= self.capacity {
            return;
        }
        let (word, bit) = (bucket / 64, 1u64 << (bucket % 64));
        if self.used[word] & bit == 0 {
            self.used[word] |= bit;
            self.totals[bucket] = 0;
            self.newest[bucket] = NONE;
        }
        self.items.push((slot, self.newest[bucket]));
        self.newest[bucket] = self.items.len() as u32 - 1;
        self.totals[bucket] += 1;
        self.waiting[word] |= bit;
        self.words |= 1 << word;
        self.count += 1;
        if self.count > self.capacity {
            self.drop_worst();
        }
    }

    /// Gives up the last bucket, as often as enough are left without it.
    fn drop_worst(&mut self) {
        loop {
            let word = self.last / 64;
            let up_to = self.used[word] & (u64::MAX >> (63 - self.last % 64));
            if up_to == 0 {
                match word.checked_sub(1) {
                    Some(before) => self.last = before * 64 + 63,
                    None => return,
                }
                continue;
            }
            let bucket = word * 64 + 63 - up_to.leading_zeros() as usize;
            let without = self.count - self.totals[bucket] as usize;
            if without < self.capacity || bucket == 0 {
                self.last = bucket;
                return;
            }
            self.count = without;
            self.last = bucket - 1;
        }
    }

    /// What was handed out last does not count: its slot was there more than once. The best of what was given up for it comes
    /// back.
    #[inline]
    pub(crate) fn discount(&mut self) {
        self.totals[self.handed_out] -= 1;
        self.count -= 1;
        while self.count < self.capacity && self.last < BUCKETS - 1 {
            self.last = self.used_from(self.last + 1).unwrap_or(BUCKETS - 1);
            if self.used[self.last / 64] & 1 << (self.last % 64) != 0 {
                self.count += self.totals[self.last] as usize;
            }
        }
    }

    /// The first bucket from `first` on that was used.
    fn used_from(&self, first: usize) -> Option<usize> {
        let in_word = self.used[first / 64] & u64::MAX << (first % 64);
        if in_word != 0 {
            return Some(first / 64 * 64 + in_word.trailing_zeros() as usize);
        }
        let word = (first / 64 + 1..WORDS).find(|&word| self.used[word] != 0)?;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }

    /// Takes out one of the best.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Slot> {
        let word = self.words.trailing_zeros() as usize;
        if word == WORDS {
            return None;
        }
        let bucket = word * 64 + self.waiting[word].trailing_zeros() as usize;
        if bucket > self.last {
            return None;
        }
        self.handed_out = bucket;
        let (slot, before) = self.items[self.newest[bucket] as usize];
        self.newest[bucket] = before;
        if before == NONE {
            self.waiting[word] &= self.waiting[word] - 1;
            self.words &= !(u64::from(self.waiting[word] == 0) << word);
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(buckets: &mut Buckets) -> Vec<Slot> {
        std::iter::from_fn(|| buckets.pop()).collect()
    }

    #[test]
    fn the_best_come_first_and_the_worst_not_at_all() {
        let mut buckets = Buckets::default();
        for _ in 0..2 {
            buckets.reset(3);
            assert_eq!(drain(&mut buckets), []);
            for (slot, similarity) in [0.1, 0.9, -0.5, 0.5, 0.3, 0.8].into_iter().enumerate() {
                buckets.insert(similarity, slot as Slot);
            }
            assert!(buckets.bar() < 0.5 && buckets.bar() > 0.3, "{}", buckets.bar());
            buckets.insert(buckets.bar() - 0.01, 77);
            assert_eq!(drain(&mut buckets), [1, 5, 3]);
        }
    }

    #[test]
    fn what_was_handed_out_still_counts() {
        let mut buckets = Buckets::default();
        buckets.reset(2);
        buckets.insert(0.9, 1);
        buckets.insert(0.8, 2);
        assert_eq!(buckets.pop(), Some(1));
        buckets.insert(0.5, 3);
        assert_eq!(drain(&mut buckets), [2], "two better ones were there");
        buckets.insert(0.95, 4);
        assert_eq!(drain(&mut buckets), [4]);
    }

    #[test]
    fn what_was_there_twice_makes_room_again() {
        let mut buckets = Buckets::default();
        buckets.reset(2);
        [(0.9, 1), (0.9, 1), (0.5, 3)].into_iter().for_each(|(similarity, slot)| buckets.insert(similarity, slot));
        assert_eq!(buckets.pop(), Some(1));
        assert_eq!(buckets.pop(), Some(1));
        buckets.discount();
        buckets.insert(0.8, 2);
        assert_eq!(drain(&mut buckets), [2]);
    }

    #[test]
    fn any_similarity_has_a_bucket() {
        let mut buckets = Buckets::default();
        buckets.reset(10);
        for (slot, similarity) in [f32::NEG_INFINITY, -9.0, -1.0, 1.0, 1.5, f32::INFINITY].into_iter().enumerate() {
            buckets.insert(similarity, slot as Slot);
        }
        assert_eq!(drain(&mut buckets).len(), 6);
        buckets.insert(f32::NAN, 9);
    }

    #[test]
    fn of_many_equals_some_are_kept() {
        let mut buckets = Buckets::default();
        buckets.reset(5);
        (0..100).for_each(|slot| buckets.insert(0.7, slot));
        assert_eq!(drain(&mut buckets).len(), 6, "one more than wanted shows where the worst are");
    }
}
