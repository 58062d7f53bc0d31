//! Speed of a dot product, and of an estimate of 32 neighbours, for each kernel that this processor supports.
//!
//! Corpus: rows that stay in the L1 cache, so that arithmetic is measured and not memory.
//! Run: `cargo bench --bench kernels`

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_index::{Kernel, estimating};

const DIMS: usize = 384;

fn kernels(criterion: &mut Criterion) {
    let codes: [Vec<i8>; 2] = [3, 7].map(|step| (0..DIMS).map(|at| (at * step % 255) as u8 as i8).collect());
    let vector: Vec<f32> = (0..DIMS).map(|at| (at * 5 % 255) as f32 / 255.0).collect();
    let mut group = criterion.benchmark_group("kernels");
    for kernel in Kernel::available() {
        group.bench_function(BenchmarkId::new("int8", kernel.name()), |bench| {
            bench.iter(|| kernel.dot_codes(black_box(&codes[0]), black_box(&codes[1])));
        });
        group.bench_function(BenchmarkId::new("f32 by 16 bits", kernel.name()), |bench| {
            bench.iter(|| kernel.dot_mixed(black_box(&vector), black_box(&codes[0]), black_box(&codes[1])));
        });
        group.bench_function(BenchmarkId::new("32 estimates", kernel.name()), |bench| {
            bench.iter(estimating(kernel, DIMS));
        });
    }
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
