//! A slot and its similarity to the query, ordered as one integer.

use crate::ids::Slot;

/// Greater is more similar; of equally similar ones the lower slot is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ranked(u64);

const SIGN: u32 = 1 << 31;

impl Ranked {
    #[inline]
    pub(crate) fn new(similarity: f32, slot: Slot) -> Self {
        let bits = similarity.to_bits();
        // Floats compare as their bits do, but for the negative ones, whose order is turned round.
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Self(u64::from(ordered) << 32 | u64::from(!slot))
    }

    pub(crate) fn slot(self) -> Slot {
        !(self.0 as u32)
    }

    pub(crate) fn similarity(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN })
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
            Ranked::new(0.5, Slot::MAX),
            Ranked::new(0.5, 0),
            Ranked::new(1.0, 9),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
        assert_eq!((sorted[1].similarity(), sorted[1].slot()), (-0.25, 7));
        assert_eq!((sorted[5].similarity(), sorted[5].slot()), (0.5, Slot::MAX));
    }
}
