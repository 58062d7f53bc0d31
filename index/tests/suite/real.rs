//! Recall on real embeddings, where `MEMORIST_SHARED_DATA` names a folder that has them.

use std::path::Path;

use memorist_index::{Filter, IndexOptions, SearchParams};

use crate::support::World;

const DIMS: usize = 384;
const NPY_HEADER: usize = 128;
const QUERIES: usize = 100;

#[test]
fn recall_on_real_embeddings() {
    let Some(folder) = std::env::var_os("MEMORIST_SHARED_DATA") else {
        println!("skipped: MEMORIST_SHARED_DATA is not set");
        return;
    };
    let count = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let read = |name: &str| std::fs::read(Path::new(&folder).join(name)).unwrap().split_off(NPY_HEADER);
    let rows = |numbers: Vec<f32>| numbers.chunks_exact(DIMS).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let base = read("emb_base_100k.f16.npy");
    let halves = base.as_chunks::<2>().0.iter().take(count * DIMS);
    let base = rows(halves.map(|&bytes| half_to_single(u16::from_le_bytes(bytes))).collect());
    let queries = read("emb_query_1k.f32.npy");
    let singles = queries.as_chunks::<4>().0.iter().take(QUERIES * DIMS);
    let queries = rows(singles.map(|&bytes| f32::from_le_bytes(bytes)).collect());

    let world = World::filled(IndexOptions::new(DIMS), &base, 5000);
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), []);
    for k in [10, 50] {
        let recall = world.recall(&snapshot, &queries, SearchParams::new(k), Filter::All);
        println!("{count} real embeddings: recall@{k} {recall:.4}, {} segments", snapshot.segment_count());
        assert!(recall >= 0.97, "recall@{k} {recall}");
    }
}

/// An IEEE 754 half as a single. Embeddings have no infinities and no NaN.
fn half_to_single(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1f, bits & 0x3ff);
    let size = match exponent {
        0 => f32::from(fraction) * 2f32.powi(-24),
        _ => (1.0 + f32::from(fraction) / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    };
    if sign == 0 { size } else { -size }
}
