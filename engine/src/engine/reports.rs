//! Reports of long operations.

use crate::types::BatchJob;

/// Sizes of the indexes, and how far they are behind the records.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexStats {
    /// Vectors that can be found in the published index.
    pub vectors: u64,
    /// Documents in the published keyword index.
    pub documents: u64,
    /// Log entries that one of the two has not applied yet; they are searched exactly until then.
    pub unapplied: u64,
    /// Texts that the model refused. They are found by their words; [`Engine::doctor`](super::Engine::doctor) says why.
    pub refused: u64,
    /// Name of the store's embedding model, if one was used yet.
    pub model: Option<String>,
    /// The batch jobs of a provider that are not over.
    pub batch_jobs: Vec<BatchJob>,
    /// Whether batch jobs are switched off because two failed in a row.
    pub batch_jobs_failed: bool,
}

/// The result of [`Engine::backfill`](super::Engine::backfill).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backfill {
    /// Texts that this call embedded.
    pub embedded: u64,
    /// Memories that still wait for an embedding that can be made at once.
    pub remaining: u64,
    /// Texts that wait for a batch job of a provider.
    pub in_batch_jobs: u64,
}

/// The result of [`Engine::reembed`](super::Engine::reembed).
#[derive(Debug, Clone, PartialEq)]
pub struct ReembedReport {
    /// Name of the store's previous model; `None` if it had none, and nothing had to be done.
    pub before: Option<String>,
    /// Name of its model now.
    pub model: Option<String>,
    /// Whether the store's model was another one.
    pub changed: bool,
    /// Texts that this call embedded.
    pub embedded: u64,
    /// Milliseconds it took.
    pub millis: u64,
}

/// The result of [`Engine::rebuild`](super::Engine::rebuild).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RebuildReport {
    /// Vectors in the new vector index.
    pub vectors: u64,
    /// Documents in the new keyword index.
    pub documents: u64,
    /// Milliseconds it took.
    pub millis: u64,
}
