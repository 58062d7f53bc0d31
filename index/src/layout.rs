//! How an index keeps its vectors.

/// The parts of a vector that an index keeps. The layout is chosen when the index is made, and stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Layout {
    /// Vectors in 16 bits per number, and beside each link one bit per number of the way to the neighbor: about 2,600 bytes
    /// for a vector of 384 dimensions. The fastest to search.
    #[default]
    Standard,
    /// Vectors in 8 bits per number, and links alone: about 540 bytes for a vector of 384 dimensions. A search takes
    /// about one and a half times as long at a recall of 0.95, and up to twice as long at 0.99. Building takes almost
    /// twice as long. Scores are within 0.003, and vectors that differ by less are confused with one another: of the 10
    /// nearest, an exact search misses about one in two hundred.
    Compact,
}
