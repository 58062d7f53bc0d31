//! How fast is one dot product, by each kernel that this processor can run?
//!
//! Corpus: two rows that stay in the nearest cache, so that arithmetic is measured and not memory.
//! Run: `cargo bench --bench kernels`

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_index::simd::Kernel;

const DIMS: usize = 384;

fn kernels(criterion: &mut Criterion) {
    let codes: [Vec<i8>; 2] = [3, 7].map(|step| (0..DIMS).map(|at| (at * step % 255) as i8).collect());
    let floats: [Vec<f32>; 2] = [3, 7].map(|step| (0..DIMS).map(|at| (at * step % 255) as f32 / 255.0).collect());
    let mut group = criterion.benchmark_group("kernels");
    for kernel in Kernel::available() {
        group.bench_function(BenchmarkId::new("int8", kernel.name()), |bench| {
            bench.iter(|| kernel.dot_codes(black_box(&codes[0]), black_box(&codes[1])));
        });
        group.bench_function(BenchmarkId::new("f32", kernel.name()), |bench| {
            bench.iter(|| kernel.dot(black_box(&floats[0]), black_box(&floats[1])));
        });
    }
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
