//! The settings of an index and of a search, and their bounds.

use crate::bounds::{MAX_DIMS, MAX_M};
use crate::error::{OptionsError, SearchError};
use crate::layout::Layout;

/// How an index is built. Only `dims` and `layout` are kept in the files: the others may change from one opening to the
/// next, and apply to what is built from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Dimensions of the vectors, 1 to [`MAX_DIMS`].
    pub dims: usize,
    /// How vectors are kept, by an index that is made. One that is opened has its own, whatever this says.
    pub layout: Layout,
    /// Half of the links that a node can have, which are rounded up to a multiple of 32. 2 to 64. `M` in the HNSW paper
    /// (Malkov and Yashunin, arXiv 1603.09320).
    pub m: usize,
    /// How many candidates are kept while the links of a new node are searched for; more makes a better graph, slower.
    /// 1 to 10,000.
    pub ef_construction: usize,
    /// Decides the order of insertion and the entries. With the same seed and the same instructions of the processor,
    /// the same input gives the same files, by however many threads.
    pub seed: u64,
    /// Segments of fewer vectors have no graph: they are scanned. At least 1.
    pub flat_limit: usize,
    /// A segment is merged when the smaller ones together have this share of its size, in percent. Less makes fewer
    /// segments, which are searched faster, and writes the large ones more often. 1 to 100.
    pub merge_percent: usize,
    /// A merge joins segments to one of at most so many vectors. A larger index has several, each searched by itself. At
    /// least 1; twice `flat_limit`, if that is more.
    pub max_segment: usize,
    /// The number of an index's first segment. An index that replaces another must begin where that one has
    /// not been: readers know a segment by its number and header. Less than half of what fits.
    pub first_segment: u64,
    /// A segment is rewritten when this share of its vectors is deleted, in percent; at 0 when any is. 0 to 100.
    pub deleted_percent: usize,
}

impl IndexOptions {
    /// The defaults for vectors of `dims` dimensions.
    pub fn new(dims: usize) -> Self {
        Self {
            dims,
            layout: Layout::Standard,
            m: 16,
            ef_construction: 200,
            seed: 0x6d65_6d6f_7269_7374,
            flat_limit: 2000,
            merge_percent: 25,
            max_segment: 4_000_000,
            deleted_percent: 25,
            first_segment: 0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        let bounds = [
            ("dims", self.dims, 1, MAX_DIMS),
            ("m", self.m, 2, MAX_M),
            ("ef_construction", self.ef_construction, 1, 10_000),
            ("flat_limit", self.flat_limit, 1, usize::MAX),
            ("merge_percent", self.merge_percent, 1, 100),
            ("max_segment", self.max_segment, 1, usize::MAX),
            ("deleted_percent", self.deleted_percent, 0, 100),
        ];
        let first = usize::try_from(self.first_segment).unwrap_or(usize::MAX);
        let bounds = bounds.into_iter().chain([("first_segment", first, 0, usize::MAX / 2)]);
        for (option, found, least, most) in bounds {
            if !(least..=most).contains(&found) {
                return Err(OptionsError { option, found, least, most });
            }
        }
        Ok(())
    }
}

/// The number of hits of a search, and its effort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchParams {
    /// How many hits are wanted. Fewer come back only when fewer vectors are allowed.
    pub k: usize,
    /// How hard the search tries.
    pub effort: Effort,
}

impl SearchParams {
    /// The `k` nearest, with the default effort.
    pub fn new(k: usize) -> Self {
        Self { k, effort: Effort::default() }
    }
}

/// How hard a search tries: more finds more of the true neighbours, slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effort {
    /// So hard that about this share of the true neighbours is found, more than 0 and at most 1. It holds for queries like
    /// the stored vectors: a segment is searched near its own when its graph is built, and that says how hard to try.
    ///
    /// Other queries find less. At 0.97, queries of another distribution than the vectors found 0.58, and queries among
    /// vectors half of which are identical 0.93. For them raise it, or take [`Ef`](Self::Ef) or [`Exact`](Self::Exact).
    ///
    /// From more than 0.999 on, all vectors are compared. The true neighbours are those of [`Exact`](Self::Exact), which
    /// in a compact index confuses what is about equally near.
    Recall(f32),
    /// A walk keeps this many candidates per segment, at least `k` of them.
    Ef(usize),
    /// Every vector is compared, by its codes of 16 bits, in a compact index of 8.
    Exact,
}

impl Effort {
    /// For answers that need not be complete.
    pub const FAST: Self = Self::Recall(0.90);
    /// The default.
    pub const BALANCED: Self = Self::Recall(0.97);
    /// For answers in which next to nothing may be missing.
    pub const HIGH: Self = Self::Recall(0.995);

    /// Refuses an effort with which every search would fail. A search checks its own.
    ///
    /// # Errors
    /// When it is a recall of 0 or less, of more than 1, or NaN.
    pub fn check(&self) -> Result<(), SearchError> {
        match *self {
            Self::Recall(found) if !(found > 0.0 && found <= 1.0) => Err(SearchError::Recall { found }),
            _ => Ok(()),
        }
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::BALANCED
    }
}
