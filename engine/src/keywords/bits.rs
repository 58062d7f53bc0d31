//! Sets of numbers that come in any order: marked as bits, which is faster than to sort them or to insert each.

use roaring::{RoaringBitmap, RoaringTreemap};

/// If the numbers are further apart on average, they are sorted after all.
const SPREAD: u64 = 64;

/// Numbers below a limit.
pub(super) struct Bits(Vec<u8>);

impl Bits {
    pub(super) fn below(limit: u64) -> Self {
        Bits(vec![0; limit.div_ceil(8) as usize])
    }

    pub(super) fn mark(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.0[(number / 8) as usize] |= 1 << (number % 8);
        }
    }

    pub(super) fn into_bitmap(self) -> RoaringBitmap {
        RoaringBitmap::from_lsb0_bytes(0, &self.0)
    }
}

/// The set of these numbers.
pub(super) fn treemap(mut numbers: Vec<u64>) -> RoaringTreemap {
    let (Some(&least), Some(&most)) = (numbers.iter().min(), numbers.iter().max()) else {
        return RoaringTreemap::new();
    };
    let (high, from) = ((least >> 32) as u32, least as u32 & !7);
    if most >> 32 == least >> 32 && (most - least) / SPREAD <= numbers.len() as u64 {
        let mut bits = Bits::below(most - (least & !7) + 1);
        bits.mark(numbers.into_iter().map(|number| number as u32 - from));
        return RoaringTreemap::from_bitmaps([(high, RoaringBitmap::from_lsb0_bytes(from, &bits.0))]);
    }
    numbers.sort_unstable();
    let runs = numbers.chunk_by(|left, right| left >> 32 == right >> 32);
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
            near in prop::collection::vec(0..3_000_u64, 0..300),
            base in prop::sample::select(vec![0, 7, 65_530, u64::from(u32::MAX) - 3_000, u64::from(u32::MAX) - 9, 1 << 40, u64::MAX - 3_000]),
            far in prop::collection::vec(any::<u64>(), 0..3),
        ) {
            for far in [&far[..], &[]] {
                let numbers: Vec<u64> = near.iter().map(|number| base + number).chain(far.iter().copied()).collect();
                prop_assert_eq!(treemap(numbers.clone()), numbers.into_iter().collect::<RoaringTreemap>());
            }
        }

        #[test]
        fn bits_are_the_numbers_that_were_marked(numbers in prop::collection::vec(0..70_000_u32, 0..200)) {
            let mut bits = Bits::below(70_000);
            bits.mark(numbers.iter().copied());
            prop_assert_eq!(bits.into_bitmap(), numbers.into_iter().collect::<RoaringBitmap>());
        }
    }
}
