//! Sets of numbers that come in any order: marked as bits, which is faster than to sort them or to insert each.

use std::ops::RangeInclusive;

use roaring::{RoaringBitmap, RoaringTreemap};

/// If the numbers are further apart on average, they are sorted after all.
const SPREAD: u64 = 64;

/// Numbers within bounds that share their upper half.
pub(super) struct Bits {
    /// A multiple of 64.
    from: u64,
    words: Vec<u64>,
}

impl Bits {
    pub(super) fn within(bounds: RangeInclusive<u64>) -> Self {
        let from = bounds.start() & !63;
        Bits { from, words: vec![0; (bounds.end() - from) as usize / 64 + 1] }
    }

    pub(super) fn mark(&mut self, numbers: impl IntoIterator<Item = u64>) {
        // Most are near the one before: a word is written when it is left.
        let (mut at, mut word) = (0, 0);
        for number in numbers {
            let number = number - self.from;
            if (number / 64) as usize != at {
                self.words[at] |= word;
                (at, word) = ((number / 64) as usize, 0);
            }
            word |= 1 << (number % 64);
        }
        self.words[at] |= word;
    }

    /// Their lower halves.
    pub(super) fn into_bitmap(self) -> RoaringBitmap {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        RoaringBitmap::from_lsb0_bytes(self.from as u32, &bytes)
    }
}

/// The set of so many numbers within `bounds`, which `each` names piece by piece.
pub(super) fn treemap(
    bounds: RangeInclusive<u64>,
    count: u64,
    each: impl FnOnce(&mut dyn FnMut(&[u64])),
) -> RoaringTreemap {
    let (least, most) = (*bounds.start(), *bounds.end());
    if least >> 32 == most >> 32 && (most - least) / SPREAD <= count {
        let mut bits = Bits::within(bounds);
        each(&mut |numbers| bits.mark(numbers.iter().copied()));
        return RoaringTreemap::from_bitmaps([((least >> 32) as u32, bits.into_bitmap())]);
    }
    let mut all = Vec::new();
    each(&mut |numbers| all.extend_from_slice(numbers));
    all.sort_unstable();
    let runs = all.chunk_by(|left, right| left >> 32 == right >> 32);
    RoaringTreemap::from_bitmaps(
        runs.map(|run| ((run[0] >> 32) as u32, run.iter().map(|&number| number as u32).collect::<RoaringBitmap>())),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_has_its_numbers_however_they_come(
            near in prop::collection::vec(0..3_000_u64, 1..300),
            base in prop::sample::select(vec![0, 7, 65_530, u64::from(u32::MAX) - 3_000, u64::from(u32::MAX) - 9, 1 << 40, u64::MAX - 3_000]),
            far in prop::collection::vec(any::<u64>(), 0..3),
        ) {
            for far in [&far[..], &[]] {
                let numbers: Vec<u64> = near.iter().map(|number| base + number).chain(far.iter().copied()).collect();
                let bounds = *numbers.iter().min().unwrap()..=*numbers.iter().max().unwrap();
                let is = treemap(bounds, numbers.len() as u64, |piece| numbers.chunks(7).for_each(piece));
                prop_assert_eq!(is, numbers.into_iter().collect::<RoaringTreemap>());
            }
        }
    }

    #[test]
    fn a_set_of_no_numbers_is_empty() {
        for bounds in [0..=0, 5..=1 << 50] {
            assert!(treemap(bounds, 0, |_| ()).is_empty());
        }
    }
}
