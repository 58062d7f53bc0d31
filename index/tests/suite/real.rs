//! Recall on real embeddings, where `MEMORIST_SHARED_DATA` names a folder that has them.

use memorist_index::{Filter, IndexOptions, Layout, SearchParams};

use crate::support::{World, with_layout};

const QUERIES: usize = 100;

in_both_layouts!(recall_on_real_embeddings);

fn recall_on_real_embeddings(layout: Layout) {
    let folder = bench_data::real::directory();
    let Some(real) = folder.and_then(|folder| bench_data::real::load(&folder).expect("readable")) else {
        println!("skipped: MEMORIST_SHARED_DATA names no real embeddings");
        return;
    };
    let count = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let rows = |numbers: &[f32], most| numbers.chunks(real.dims).take(most).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let (base, queries) = (rows(&real.base, count), rows(&real.queries, QUERIES));

    let world = World::filled(with_layout(layout, IndexOptions::new(real.dims)), &base, 5000);
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), []);
    for k in [10, 50] {
        let recall = world.recall(&snapshot, &queries, SearchParams::new(k), Filter::All);
        println!("{count} real embeddings, {layout:?}: recall@{k} {recall:.4}, {} segments", snapshot.segment_count());
        assert!(recall >= 0.97, "recall@{k} {recall}");
    }
}
