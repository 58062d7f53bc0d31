//! Similarity on int8 codes: about the cosine, for half of the memory traffic of the whole vectors.

use super::ranked::Ranked;
use crate::format::node::code_stride;
use crate::ids::Slot;
use crate::quantize::Quantized;
use crate::simd::{self, Kernel};

/// The codes of all slots.
#[derive(Clone, Copy)]
pub(crate) struct Codes<'a> {
    rows: &'a [i8],
    scales: &'a [f32],
    stride: usize,
    kernel: Kernel,
}

/// The codes of a query.
#[derive(Clone, Copy)]
pub(crate) struct QueryCodes<'a> {
    pub(crate) row: &'a [i8],
    pub(crate) scale: f32,
}

impl<'a> Codes<'a> {
    pub(crate) fn new(rows: &'a [i8], scales: &'a [f32], dims: usize, kernel: Kernel) -> Self {
        Self { rows, scales, stride: code_stride(dims), kernel }
    }

    /// The codes of vectors in memory.
    pub(crate) fn of(vectors: &'a Quantized, dims: usize) -> Self {
        Self::new(&vectors.coarse, &vectors.scales, dims, Kernel::detect())
    }

    /// All rows, one after another.
    pub(crate) fn rows(&self) -> &'a [i8] {
        self.rows
    }

    /// The scale of each row.
    pub(crate) fn scales(&self) -> &'a [f32] {
        self.scales
    }

    pub(crate) fn count(&self) -> usize {
        self.scales.len()
    }

    /// The codes of a slot; none where there is no such slot.
    #[inline]
    pub(crate) fn row(&self, slot: Slot) -> &'a [i8] {
        let start = slot as usize * self.stride;
        self.rows.get(start..start + self.stride).unwrap_or(&[])
    }

    pub(crate) fn scale(&self, slot: Slot) -> f32 {
        self.scales.get(slot as usize).copied().unwrap_or(0.0)
    }

    /// How many codes a row has.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// A slot as the query.
    pub(crate) fn query(&self, slot: Slot) -> QueryCodes<'a> {
        QueryCodes { row: self.row(slot), scale: self.scale(slot) }
    }

    /// The cosine of the query and a slot, approximately.
    #[inline]
    pub(crate) fn similarity(&self, query: QueryCodes<'_>, slot: Slot) -> f32 {
        self.kernel.dot_codes(self.row(slot), query.row) as f32 * (self.scale(slot) * query.scale)
    }

    /// Other slots by their similarity to a slot, best first.
    pub(crate) fn ranked(&self, slot: Slot, others: impl Iterator<Item = Slot> + Clone) -> Vec<Ranked> {
        others.clone().for_each(|other| self.prefetch(other));
        let query = self.query(slot);
        let mut ranked: Vec<Ranked> = others.map(|other| Ranked::new(self.similarity(query, other), other)).collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        ranked
    }

    /// Brings the codes of a slot into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, slot: Slot) {
        simd::prefetch(self.row(slot));
        simd::prefetch(self.scales.get(slot as usize..=slot as usize).unwrap_or(&[]));
    }
}
