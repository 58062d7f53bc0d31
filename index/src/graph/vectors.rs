//! The vectors of all slots: in 16 bits per number exact enough to distinguish near-duplicates, in a compact index in 8.

use super::codes::Codes;
use crate::ids::Slot;
use crate::quantize::{NO_FINE, Quantized, Row};
use crate::simd;

/// The vectors of all slots.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<'a> {
    /// Their coarse codes, and their scales.
    pub(crate) codes: Codes<'a>,
    /// Empty in a compact index.
    fine: &'a [i8],
}

impl<'a> Vectors<'a> {
    pub(crate) fn new(codes: Codes<'a>, fine: &'a [i8]) -> Self {
        Self { codes, fine }
    }

    /// A view of vectors in memory.
    pub(crate) fn of(vectors: &'a Quantized, dims: usize) -> Self {
        Self::new(Codes::of(vectors, dims), &vectors.fine)
    }

    /// All fine codes, one row after another.
    pub(crate) fn fine(&self) -> &'a [i8] {
        self.fine
    }

    /// The vector of a slot: of length 1, rotated. `None` where there is no such slot.
    #[inline]
    pub(crate) fn row(&self, slot: Slot) -> Option<Row<'a>> {
        let coarse = self.codes.row(slot);
        let start = (slot as usize).checked_mul(coarse.len())?;
        let fine = match self.fine {
            [] => NO_FINE.get(..coarse.len())?,
            fine => fine.get(start..start.checked_add(coarse.len())?)?,
        };
        (!coarse.is_empty()).then_some(Row { coarse, fine, scale: self.codes.scale(slot) })
    }

    /// The cosine of a vector of length 1 and that of a slot.
    #[inline]
    pub(crate) fn cosine(&self, vector: &[f32], slot: Slot) -> f32 {
        self.row(slot).map_or(-1.0, |row| row.dot(vector, self.codes.kernel()))
    }

    /// Brings the vector of a slot into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, slot: Slot) {
        self.codes.prefetch(slot);
        let start = slot as usize * self.codes.stride();
        simd::prefetch(self.fine.get(start..start + self.codes.stride()).unwrap_or(&[]));
    }
}
