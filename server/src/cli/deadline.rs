//! Work that may take a moment, but not more.

use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::progress::Progress;
use memorist_engine::types::{EmbeddingState, Filter};

/// How long a one-shot command goes on after it has printed its result.
const GRACE: Duration = Duration::from_secs(5);

/// Progress that nobody sees and that asks to stop when its time is over.
struct Deadline {
    end: Instant,
}

impl Progress for Deadline {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// Records that may wait for their embedding for a one-shot command to embed them: a second's work.
const FEW: u64 = 64;

/// Embeds what was just saved and indexes it, where that is quick. The record is safe already: what is not done here
/// is done by the next process that opens the store.
pub fn settle(engine: Engine, embedding: EmbeddingState) {
    let deadline = Deadline { end: Instant::now() + GRACE };
    if embedding == EmbeddingState::Pending
        && let Err(error) = embed_if_few(&engine, &deadline)
    {
        tracing::info!(%error, "left for later: embedding");
    }
    if let Err(error) = engine.flush(&deadline) {
        tracing::info!(%error, "left for later: indexing");
    }
    engine.close();
}

/// After an import that left thousands to be embedded, that is not the business of the next `add`.
fn embed_if_few(engine: &Engine, deadline: &Deadline) -> memorist_engine::Result<()> {
    if engine.stats(&Filter::default())?.pending_embeddings <= FEW {
        engine.embed_pending(deadline)?;
    }
    Ok(())
}
