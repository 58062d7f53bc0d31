//! The interface of an embedding model, whatever runs it.

use crate::error::Result;
use crate::identity::ModelIdentity;

/// Turns text into vectors of length 1.
pub trait Embedder: Send + Sync {
    /// Which model this is.
    fn identity(&self) -> &ModelIdentity;

    /// Numbers per vector.
    fn dims(&self) -> usize {
        self.identity().dims
    }

    /// The vector of a query. Text beyond the model's limit is ignored (the default model reads 256 tokens).
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// The vectors of `texts`, in order. Called with many at once, so that they can run in batches. Text beyond the model's
    /// limit is ignored.
    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
