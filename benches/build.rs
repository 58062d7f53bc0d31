//! Build time of the vector index.
//!
//! Corpus: a fifth of the bench corpus (20,000 of 100,000), in batches of 4,000 with the merges between them, on one
//! thread and on all.
//! Run: `cargo bench --bench build`

mod common;

use std::ops::ControlFlow;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use memorist_index::{IndexOptions, Writer};

fn load(corpus: &Corpus) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::create(folder.path(), IndexOptions::new(corpus.dims), b"").expect("an index");
    let rows: Vec<usize> = (0..corpus.texts.len()).collect();
    for batch in rows.chunks(4_000) {
        let upserts: Vec<(u64, &[f32])> = batch.iter().map(|row| (*row as u64, corpus.vector(*row))).collect();
        writer.apply(&upserts, &[], b"").expect("applies");
        while writer.maintain(&|_| ControlFlow::Continue(())).expect("merges") {}
    }
}

fn build(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count() / 5);
    let mut group = criterion.benchmark_group("build");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.throughput(Throughput::Elements(corpus.texts.len() as u64));
    for threads in [1, 0] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let name = if threads == 1 { "one thread" } else { "all threads" };
        group.bench_function(BenchmarkId::new(name, corpus.texts.len()), |bench| {
            bench.iter(|| pool.install(|| load(&corpus)));
        });
    }
    group.finish();
}

criterion_group!(benches, build);
criterion_main!(benches);
