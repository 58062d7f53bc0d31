//! Text to vectors.

use crate::error::Result;

/// What makes two embeddings comparable: the weights, the pooling, the dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelIdentity {
    /// A name for people: `all-MiniLM-L6-v2 (int8 weights)`.
    pub name: String,
    /// SHA-256 of the weights' file, in hex.
    pub weights_sha256: String,
    /// How token vectors become one: `mean+l2`.
    pub pooling: String,
    /// Numbers per vector.
    pub dims: usize,
}

/// Turns text into vectors of length 1.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn identity(&self) -> &ModelIdentity;

    /// The vector of a query.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// The vectors of `texts`, in their order. Fastest for many at once: they are sorted by length and run in batches.
    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
