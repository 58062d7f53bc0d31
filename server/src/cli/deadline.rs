//! Work with a time limit.

use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::progress::Progress;
use memorist_engine::types::{EmbeddingState, Filter};

/// How long a one-shot command continues after it has printed its result.
const GRACE: Duration = Duration::from_secs(5);

/// Silent progress that cancels at a deadline.
struct DeadlineProgress {
    end: Instant,
}

impl Progress for DeadlineProgress {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// A one-shot command embeds at most this many waiting records: a second's work.
const MAX_EMBEDDED_NOW: u64 = 64;

/// Embeds what was just saved and indexes it, if that is quick. The record is safe already: the next process that opens
/// the store does the rest.
pub fn settle(engine: Engine, embedding: EmbeddingState) {
    let deadline = DeadlineProgress { end: Instant::now() + GRACE };
    if embedding == EmbeddingState::Pending
        && let Err(error) = embed_pending_if_quick(&engine, &deadline)
    {
        tracing::info!(%error, "left for later: embedding");
    }
    if let Err(error) = engine.flush(&deadline) {
        tracing::info!(%error, "left for later: indexing");
    }
    engine.close();
}

/// If an import left thousands to be embedded, the next `add` does not embed them.
fn embed_pending_if_quick(engine: &Engine, deadline: &DeadlineProgress) -> memorist_engine::Result<()> {
    if engine.stats(&Filter::default())?.pending_embeddings <= MAX_EMBEDDED_NOW {
        engine.embed_pending(deadline)?;
    }
    Ok(())
}
