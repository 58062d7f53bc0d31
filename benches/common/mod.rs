//! Shared by the benches: a corpus of memories with vectors as hard as real ones, and a store of it on disk.
//!
//! The texts are those of `bench_data::memories`. The vectors are those of `bench_data::vectors` (as near to one
//! another as real sentence embeddings), or real embeddings if the environment variable `MEMORIST_SHARED_DATA` names
//! their folder. `MEMORIST_BENCH_COUNT` sets the size (100,000 by default).

#![allow(dead_code, reason = "each bench uses its part")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_data::vectors::{Shape, queries_for, vectors};
use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::{self, Embedder, ModelIdentity};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, Kind, NewRecord};

pub const SEED: u64 = 42;

pub struct Corpus {
    pub name: String,
    pub dims: usize,
    pub texts: Vec<NewRecord>,
    /// One row per text.
    pub vectors: Vec<f32>,
    /// Held-out queries: words, and a vector of the same distribution.
    pub queries: Vec<(String, Vec<f32>)>,
}

/// How many records.
pub fn count() -> usize {
    std::env::var("MEMORIST_BENCH_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000)
}

impl Corpus {
    pub fn new(count: usize) -> Self {
        let texts: Vec<NewRecord> = bench_data::memories(SEED, count).map(record).collect();
        let words = bench_data::questions(SEED, count, 1_000).into_iter().map(|question| question.text);
        let real = bench_data::real::directory().and_then(|folder| bench_data::real::load(&folder).expect("readable"));
        match real {
            Some(real) if count * real.dims <= real.base.len() => Corpus {
                name: format!("real-{count}"),
                dims: real.dims,
                texts,
                vectors: real.base[..count * real.dims].to_vec(),
                queries: words.zip(real.queries.chunks(real.dims).map(<[f32]>::to_vec)).collect(),
            },
            _ => {
                let dims = 384;
                let queries = queries_for(Shape::Realistic, SEED, count, dims, 1_000);
                Corpus {
                    name: format!("generated-{count}"),
                    dims,
                    texts,
                    vectors: vectors(Shape::Realistic, SEED, count, dims).flatten().collect(),
                    queries: words.zip(queries).collect(),
                }
            }
        }
    }

    pub fn vector(&self, row: usize) -> &[f32] {
        &self.vectors[row * self.dims..][..self.dims]
    }

    /// The rows of the `k` vectors nearest to `query` among the `allowed`, by a full scan.
    pub fn nearest(&self, query: &[f32], k: usize, allowed: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut scores: Vec<(f32, usize)> = (0..self.texts.len())
            .filter(|row| allowed(*row))
            .map(|row| (self.vector(row).iter().zip(query).map(|(a, b)| a * b).sum(), row))
            .collect();
        scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        scores.into_iter().take(k).map(|(_, row)| row).collect()
    }
}

fn record(memory: bench_data::MemoryRecord) -> NewRecord {
    NewRecord {
        kind: memory.entry_type.parse::<Kind>().expect("a kind of the engine"),
        source: memory.source,
        context: memory.context,
        confidence: memory.confidence,
        importance: i64::from(memory.importance),
        tags: memory.tags,
        ..NewRecord::new(memory.content)
    }
}

/// Returns the vector of each text of the corpus.
struct CorpusEmbedder {
    identity: ModelIdentity,
    rows: HashMap<String, Vec<f32>>,
}

impl Embedder for CorpusEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        self.rows.get(text).cloned().ok_or_else(|| embed::Error::Failed(format!("not in the corpus: {text}")))
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

pub fn embedder(corpus: &Corpus) -> Arc<dyn Embedder> {
    let identity = ModelIdentity {
        name: corpus.name.clone(),
        weights_sha256: corpus.name.clone(),
        pooling: "none".into(),
        dims: corpus.dims,
    };
    embedder_of(corpus, identity)
}

/// The embedder of a corpus, under the name of another model.
fn embedder_of(corpus: &Corpus, identity: ModelIdentity) -> Arc<dyn Embedder> {
    let text = |record: &NewRecord| memorist_engine::text::embedding_text(record.context.as_deref(), &record.content);
    let rows =
        corpus.texts.iter().enumerate().map(|(row, record)| (text(record), corpus.vector(row).to_vec())).collect();
    Arc::new(CorpusEmbedder { identity, rows })
}

/// Settings of a store that is only read.
pub fn config() -> Config {
    let mut config = Config::without_model();
    config.log_searches = false;
    config
}

/// Settings as [`config`], and the indexes are only read.
pub fn read_only_config() -> Config {
    let mut config = config();
    config.index_writer = false;
    config
}

/// The folder of a store of the whole corpus, created by the first call and kept for the next bench.
pub fn store(corpus: &Corpus) -> PathBuf {
    store_in(&corpus.name, corpus, embedder(corpus))
}

/// A store of a corpus with its vectors under the name of a model, as if that had made them.
pub fn store_of_model(corpus: &Corpus, identity: ModelIdentity) -> PathBuf {
    store_in(&format!("{}-of-model", corpus.name), corpus, embedder_of(corpus, identity))
}

fn store_in(name: &str, corpus: &Corpus, embedder: Arc<dyn Embedder>) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-stores").join(name);
    // Its background would take over the last of the work, and end with it undone.
    let engine = Engine::open_with_embedder(&folder, read_only_config(), embedder).expect("a store for the bench");
    if engine.stats(&Filter::default()).expect("stats").total < corpus.texts.len() as u64 {
        eprintln!("making a store of {} records in {}", corpus.texts.len(), folder.display());
        for chunk in corpus.texts.chunks(5_000) {
            engine.add_batch(chunk).expect("records");
        }
    }
    engine.embed_pending(&NoProgress).expect("embeds");
    engine.flush(&NoProgress).expect("applies");
    folder
}

/// Times each call separately, after a warm-up, and prints percentiles: a mean would hide outliers.
pub fn percentiles(what: &str, calls: usize, mut call: impl FnMut(usize)) {
    for at in 0..calls.min(100) {
        call(at);
    }
    let timed = |at| {
        let started = Instant::now();
        call(at);
        started.elapsed()
    };
    report(what, (0..calls).map(timed).collect());
}

/// Prints percentiles of these times.
pub fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() as f64 * share) as usize).min(times.len() - 1)].as_secs_f64() * 1e3;
    let [p50, p90, p95, p99, max] = [0.5, 0.9, 0.95, 0.99, 1.0].map(at);
    eprintln!("{what}: p50 {p50:.3} ms, p90 {p90:.3} ms, p95 {p95:.3} ms, p99 {p99:.3} ms, max {max:.3} ms");
}

/// The 95 % interval of a share, after Wilson.
pub fn wilson(hits: usize, of: usize) -> (f64, f64) {
    let (n, z) = (of as f64, 1.96_f64);
    let share = hits as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let around = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    (((middle - around) / whole).max(0.0), ((middle + around) / whole).min(1.0))
}
