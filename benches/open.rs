//! Time to open a store, and its vector index alone. It must not depend on the size.
//!
//! Corpus: stores of a hundredth and of the whole of the bench corpus.
//! Run: `cargo bench --bench open`

mod common;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_index::Reader;

fn open(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open");
    for count in [common::count() / 100, common::count()] {
        let folder = common::store(&Corpus::new(count));
        group.bench_function(BenchmarkId::new("vector index", count), |bench| {
            bench.iter(|| Reader::open(folder.join("vectors")).expect("opens"));
        });
        group.sample_size(20);
        group.bench_function(BenchmarkId::new("store, until it can be searched", count), |bench| {
            bench.iter_with_large_drop(|| Engine::open(&folder, common::config()).expect("opens"));
        });
    }
    group.finish();
}

criterion_group!(benches, open);
criterion_main!(benches);
