//! Cost of saving memories and of updating both indexes.
//!
//! Corpus: a tenth of the bench corpus (10,000 of 100,000), whose embeddings are known: records, keywords, vectors and
//! the log are measured, not the model. One record in a separate transaction is measured too.
//! Run: `cargo bench --bench ingest`

mod common;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::NewRecord;

fn ingest(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count() / 10);
    let embedder = common::embedder(&corpus);
    let mut group = criterion.benchmark_group("ingest");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.throughput(Throughput::Elements(corpus.texts.len() as u64));
    group.bench_function(BenchmarkId::new("add, embed, apply, merge", corpus.texts.len()), |bench| {
        bench.iter(|| {
            let folder = tempfile::tempdir().expect("a folder");
            let engine =
                Engine::open_with_embedder(folder.path(), common::config(), embedder.clone()).expect("a store");
            for chunk in corpus.texts.chunks(1_000) {
                engine.add_batch(chunk).expect("records");
            }
            engine.embed_pending(&NoProgress).expect("embeds");
            engine.flush(&NoProgress).expect("applies");
        });
    });
    group.throughput(Throughput::Elements(1));
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Engine::open(folder.path(), common::config()).expect("a store");
    let mut at = 0;
    group.bench_function("add one, on disk", |bench| {
        bench.iter(|| {
            at += 1;
            engine.add(&NewRecord::new(format!("a memory of its own, number {at}"))).expect("a record")
        });
    });
    group.finish();
}

criterion_group!(benches, ingest);
criterion_main!(benches);
