//! The best few that a walk has estimated, in buckets of about equal similarity. Estimates are rough, so their exact
//! order is worth less than what it costs to keep them sorted.

use crate::ids::Slot;

/// Buckets for each doubling of the distance (as a power of two): finer than the estimates are.
const PER_OCTAVE_LOG2: u32 = 7;
const SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - PER_OCTAVE_LOG2;
/// Distances (1 - similarity) are distinguished from this on, to less than 4.
const LEAST: f32 = 1.0 / (1 << 28) as f32;
const MOST: f32 = 3.999;
const WORDS: usize = 64;
const BUCKETS: usize = 64 * WORDS;
const NONE: u32 = u32::MAX;

/// Keeps about the `capacity` best of what is put in, and hands them out best first. Buckets are numbered from the best
/// on.
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
    /// The last bucket that is kept: items of later ones are not among the best.
    last: usize,
    /// The bucket of the item that was handed out last.
    handed_out: usize,
    /// Items as good as the worst of the best when there was no more room, with their buckets.
    spare: Vec<(Slot, usize)>,
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
            spare: Vec::new(),
        }
    }
}

impl Buckets {
    pub(crate) fn reset(&mut self, capacity: usize) {
        self.used = [0; WORDS];
        self.waiting = [0; WORDS];
        self.words = 0;
        self.items.clear();
        self.spare.clear();
        self.count = 0;
        self.capacity = capacity.max(1);
        self.last = BUCKETS - 1;
    }

    #[inline]
    fn bucket(similarity: f32) -> usize {
        let distance = (1.0 - similarity).clamp(LEAST, MOST);
        ((distance.to_bits() - LEAST.to_bits()) >> SHIFT) as usize
    }

    /// The similarity that an item must exceed to be kept. At first it is -15, lower than any estimate.
    #[inline]
    pub(crate) fn bar(&self) -> f32 {
        let least_too_far = f32::from_bits(((self.last as u32 + 1) << SHIFT) + LEAST.to_bits());
        // The difference may be rounded up.
        (1.0 - least_too_far).next_down()
    }

    #[inline]
    pub(crate) fn insert(&mut self, similarity: f32, slot: Slot) {
        let bucket = Self::bucket(similarity);
        if bucket > self.last {
            return;
        }
        // Of many that are equally good, as in a heap of duplicates, some are enough.
        if bucket == self.last && self.count >= self.capacity {
            self.spare.push((slot, bucket));
            return;
        }
        self.put(bucket, slot);
        if self.count > self.capacity {
            self.drop_worst();
        }
    }

    #[inline]
    fn put(&mut self, bucket: usize, slot: Slot) {
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

    /// Discounts the item that was handed out last: its slot was there more than once. The best item that was given up for it
    /// comes back, but none that [`bar`](Self::bar) kept out meanwhile. At most once for each [`pop`](Self::pop).
    #[inline]
    pub(crate) fn discount(&mut self) {
        self.totals[self.handed_out] -= 1;
        self.count -= 1;
        while self.count < self.capacity {
            if let Some((slot, bucket)) = self.spare.pop_if(|spare| spare.1 <= self.last) {
                self.put(bucket, slot);
                continue;
            }
            if self.last == BUCKETS - 1 {
                return;
            }
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
    use proptest::prelude::*;

    use super::*;

    fn drain(buckets: &mut Buckets) -> Vec<Slot> {
        std::iter::from_fn(|| buckets.pop()).collect()
    }

    #[test]
    fn the_best_come_first_and_the_worst_not_at_all() {
        let mut buckets = Buckets::default();
        for _ in 0..2 {
            buckets.reset(3);
            assert!(drain(&mut buckets).is_empty());
            for (slot, similarity) in [0.1, 0.9, -0.5, 0.5, 0.3, 0.8].into_iter().enumerate() {
                buckets.insert(similarity, slot as Slot);
            }
            assert!(buckets.bar() < 0.5 && buckets.bar() > 0.3, "{}", buckets.bar());
            buckets.insert(buckets.bar() - 0.01, 77);
            assert_eq!(drain(&mut buckets), [1, 5, 3]);
        }
    }

    #[test]
    fn popped_candidates_still_count_toward_the_limit() {
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
    fn discounted_duplicates_make_room_again() {
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
    fn equal_candidates_replace_discounted_duplicates() {
        let mut buckets = Buckets::default();
        buckets.reset(2);
        [1, 1, 1, 2].into_iter().for_each(|slot| buckets.insert(0.9, slot));
        assert_eq!((buckets.pop(), buckets.pop()), (Some(1), Some(1)));
        buckets.discount();
        assert_eq!(buckets.pop(), Some(1));
        buckets.discount();
        assert_eq!(buckets.pop(), Some(2), "no neighbour would speak of it again");
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
    fn equal_candidates_are_cut_to_one_over_the_limit() {
        let mut buckets = Buckets::default();
        buckets.reset(5);
        (0..100).for_each(|slot| buckets.insert(0.7, slot));
        assert_eq!(drain(&mut buckets).len(), 6, "one more than wanted shows where the worst are");
    }

    /// A model of [`Buckets`] that sorts.
    struct Model {
        capacity: usize,
        items: Vec<Item>,
        spare: Vec<(usize, Slot)>,
        /// The last bucket of the best, once there was more than has room.
        last: Option<usize>,
        /// The item that was handed out last.
        handed_out: usize,
    }

    struct Item {
        bucket: usize,
        slot: Slot,
        counts: bool,
        is_waiting: bool,
    }

    impl Model {
        fn wants(&self, bucket: usize) -> bool {
            self.last.is_none_or(|last| bucket <= last)
        }

        fn insert(&mut self, bucket: usize, slot: Slot) {
            if self.last == Some(bucket) {
                self.spare.push((bucket, slot));
            } else if self.wants(bucket) {
                self.items.push(Item { bucket, slot, counts: true, is_waiting: true });
                if self.last.is_some() || self.items.iter().filter(|item| item.counts).count() > self.capacity {
                    self.last = self.last_of_the_best();
                }
            }
        }

        fn last_of_the_best(&self) -> Option<usize> {
            let mut counted: Vec<usize> =
                self.items.iter().filter(|item| item.counts).map(|item| item.bucket).collect();
            counted.sort_unstable();
            counted.get(self.capacity - 1).copied()
        }

        /// The bucket that the next item is to come from.
        fn next(&self) -> Option<usize> {
            let waiting = self.items.iter().filter(|item| item.is_waiting).map(|item| item.bucket);
            waiting.min().filter(|&bucket| self.last.is_none_or(|last| bucket <= last))
        }

        /// Takes out this slot, which must wait in that bucket.
        fn take(&mut self, bucket: usize, slot: Slot) -> bool {
            let is_it = |item: &Item| item.is_waiting && (item.bucket, item.slot) == (bucket, slot);
            let position = self.items.iter().position(is_it);
            position.inspect(|&position| {
                self.items[position].is_waiting = false;
                self.handed_out = position;
            });
            position.is_some()
        }

        fn discount(&mut self) {
            self.items[self.handed_out].counts = false;
            loop {
                let counted = |item: &&Item| item.counts && self.wants(item.bucket);
                if self.items.iter().filter(counted).count() >= self.capacity {
                    break;
                }
                if let Some((bucket, slot)) = self.spare.pop_if(|spare| self.last.is_none_or(|last| spare.0 <= last)) {
                    self.items.push(Item { bucket, slot, counts: true, is_waiting: true });
                } else if let Some(last) = self.last {
                    let beyond = self.items.iter().map(|item| item.bucket).filter(|&bucket| bucket > last);
                    self.last = beyond.min();
                } else {
                    break;
                }
            }
        }
    }

    #[derive(Debug, Clone)]
    enum BucketOperation {
        Insert(f32),
        /// Inserts a similarity this many floats above the bar, or below it.
        InsertNearTheBar(i32),
        Pop,
        PopAndDiscount,
    }

    fn operation() -> impl Strategy<Value = BucketOperation> {
        prop_oneof![
            4 => (-1.2f32..1.2).prop_map(BucketOperation::Insert),
            4 => (0i32..30).prop_map(|step| BucketOperation::Insert(1.0 - step as f32 / 100.0)),
            // Where buckets are finer than floats.
            2 => (-3i32..200).prop_map(|step| BucketOperation::Insert(1.0 - step as f32 * f32::EPSILON / 2.0)),
            1 => (-3i32..=3).prop_map(BucketOperation::InsertNearTheBar),
            4 => Just(BucketOperation::Pop),
            3 => Just(BucketOperation::PopAndDiscount),
        ]
    }

    proptest! {
        #[test]
        fn any_sequence_is_as_if_it_was_sorted(
            capacity in 1usize..=50,
            operations in prop::collection::vec(operation(), 1..400)
        ) {
            let mut buckets = Buckets::default();
            // What was there before must not show.
            buckets.reset(20);
            (0..30).for_each(|step| buckets.insert(1.0 - step as f32 / 100.0, 1000));
            buckets.reset(capacity);
            let mut model = Model { capacity, items: Vec::new(), spare: Vec::new(), last: None, handed_out: 0 };
            let (mut inserted, mut handed_out) = (Vec::new(), Vec::new());
            let drain = vec![BucketOperation::Pop; operations.len() + 1];
            for (slot, operation) in operations.into_iter().chain(drain).enumerate() {
                let bar = buckets.bar();
                let similarity = match operation {
                    BucketOperation::Insert(similarity) => similarity,
                    BucketOperation::InsertNearTheBar(steps) if bar > -1.5 => {
                        (0..steps.abs()).fold(bar, |near, _| if steps > 0 { near.next_up() } else { near.next_down() })
                    }
                    BucketOperation::InsertNearTheBar(_) => continue,
                    BucketOperation::Pop | BucketOperation::PopAndDiscount => {
                        let (found, expected) = (buckets.pop(), model.next());
                        prop_assert_eq!(found.is_some(), expected.is_some());
                        if let (Some(slot), Some(bucket)) = (found, expected) {
                            prop_assert!(model.take(bucket, slot), "{slot} is not one of the best that wait");
                            handed_out.push(slot);
                            if matches!(operation, BucketOperation::PopAndDiscount) {
                                buckets.discount();
                                model.discount();
                            }
                        }
                        continue;
                    }
                };
                let bucket = Buckets::bucket(similarity);
                prop_assert!(similarity > bar || !model.wants(bucket), "{similarity} is wanted, but the bar is {bar}");
                buckets.insert(similarity, slot as Slot);
                model.insert(bucket, slot as Slot);
                inserted.push((bucket, slot as Slot));
            }
            // Whatever was given up meanwhile, the best are all there.
            inserted.sort_unstable();
            for &(bucket, slot) in &inserted {
                let others = inserted.partition_point(|&(other, _)| other <= bucket) - 1;
                prop_assert!(others >= capacity || handed_out.contains(&slot), "{slot} is one of the {capacity} best");
            }
            let count = handed_out.len();
            handed_out.sort_unstable();
            handed_out.dedup();
            prop_assert_eq!(handed_out.len(), count, "none twice");
        }
    }
}
