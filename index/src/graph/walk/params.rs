//! The query of a walk, and its effort.

use crate::efforts::Patience;
use crate::graph::codes::QueryCodes;
use crate::graph::vectors::Vectors;
use crate::ids::Slot;
use crate::simd::query::EdgeQuery;

/// Codes of 8 bits are off by about a thousandth: among vectors as similar as this to the query, their differences
/// may be less.
const NEAR: f32 = 0.98;

/// The query of a walk, and its effort.
#[derive(Clone, Copy)]
pub(crate) struct WalkParams<'a> {
    pub(crate) vector: &'a [f32],
    pub(crate) codes: QueryCodes<'a>,
    pub(crate) edges: &'a EdgeQuery,
    /// How many slots it keeps.
    pub(crate) ef: usize,
    /// After this many accepted slots, it looks only at slots that it accepts.
    pub(crate) enough: usize,
    /// Ends it when it has found what it seeks.
    pub(crate) patience: Option<Patience>,
}

impl WalkParams<'_> {
    /// About the similarity of a slot to the query.
    #[inline]
    pub(super) fn similarity(&self, vectors: &Vectors<'_>, slot: Slot) -> f32 {
        let similarity = vectors.codes.similarity(self.codes, slot);
        if similarity > NEAR { vectors.cosine(self.vector, slot) } else { similarity }
    }
}
