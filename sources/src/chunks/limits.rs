//! How long chunks are.

/// How long chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most tokens of a chunk, with its overlap.
    pub tokens: usize,
    /// Most tokens that a chunk repeats of the one before.
    pub overlap: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { tokens: 400, overlap: 80 }
    }
}
