//! Fill a store with a million memories, with progress, and search it.
//!
//! The vectors are made from hashed words here, so that the import itself is what takes the time; with the real model,
//! embedding takes nearly all of it.
//! Run: `cargo run --release --example import_million -- [COUNT]`

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use memorist_engine::config::Config;
use memorist_engine::embed::HashEmbedder;
use memorist_engine::progress::Progress;
use memorist_engine::types::{NewRecord, Query};
use memorist_engine::{Engine, Result};

/// Records that are saved in one transaction.
const BATCH: usize = 5_000;

/// Prints how far each phase is, a line for every tenth.
#[derive(Default)]
struct Lines {
    total: AtomicU64,
    done: AtomicU64,
}

impl Progress for Lines {
    fn start(&self, what: &str, total: Option<u64>) {
        eprintln!("{what} {}", total.map(|total| total.to_string()).unwrap_or_default());
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, units: u64) {
        let total = self.total.load(Ordering::Relaxed);
        let before = self.done.fetch_add(units, Ordering::Relaxed);
        let tenth = |done: u64| (done * 10).checked_div(total).unwrap_or(0);
        if tenth(before + units) > tenth(before) {
            eprintln!("  {} %", tenth(before + units) * 10);
        }
    }

    fn finish(&self) {}
}

fn main() -> Result<()> {
    let count = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("COUNT is a number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedder = Arc::new(HashEmbedder::new(64));
    let engine = Engine::open_with_embedder(folder.path().join("store"), Config::default(), embedder)?;
    let progress = Lines::default();
    let started = Instant::now();

    progress.start("saving", Some(count as u64));
    let memories: Vec<NewRecord> =
        bench_data::memories(42, count).map(|memory| NewRecord::new(memory.content)).collect();
    for batch in memories.chunks(BATCH) {
        // Each record has an outcome of its own: one that is refused does not stop the others.
        for outcome in engine.add_batch(batch)? {
            outcome?;
        }
        progress.advance(batch.len() as u64);
    }
    progress.finish();
    engine.embed_pending(&progress)?;
    // Until then, what the indexes have not applied is searched exactly.
    engine.flush(&progress)?;
    eprintln!("{count} memories in {:.1} s", started.elapsed().as_secs_f64());

    let started = Instant::now();
    let reply = engine.search(&Query { limit: 3, ..Query::new(&memories[count / 2].content) })?;
    eprintln!("searched in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    assert_eq!(reply.hits[0].record.content, memories[count / 2].content);
    reply.hits.iter().for_each(|hit| eprintln!("{:.3}  {}", hit.score, hit.record.content));
    Ok(())
}
