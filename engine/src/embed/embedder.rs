//! What an embedding model does, whichever runs it.

use super::identity::ModelIdentity;
use crate::error::Result;

/// Turns text into vectors of length 1.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn identity(&self) -> &ModelIdentity;

    /// Numbers per vector.
    fn dims(&self) -> usize {
        self.identity().dims
    }

    /// The vector of a query. Text beyond what the model reads (256 tokens) does not count.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// The vectors of `texts`, in their order. Fastest for many at once: they are sorted by length and run in batches.
    /// Text beyond what the model reads (256 tokens) does not count.
    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
