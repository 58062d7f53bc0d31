//! The promise of a recall on data and queries unlike those that the effort was measured with.

use bench_data::unusual::{Case, FAR_FROM_CLUSTERS, cases};
use memorist_index::{Effort, Filter, IndexOptions, Layout, SearchParams};

use crate::support::{World, with_layout};

const COUNT: usize = 2_500;
const DIMS: usize = 64;
const QUERIES: usize = 40;
const PROMISED: f32 = 0.97;
/// The promise is kept within this.
const WITHIN: f64 = 0.01;

in_both_layouts!(a_recall_is_met_by_unusual_vectors_and_queries);

fn a_recall_is_met_by_unusual_vectors_and_queries(layout: Layout) {
    let mut missed = Vec::new();
    for Case { name, vectors, queries, deleted } in cases(COUNT, DIMS, QUERIES) {
        let mut world = World::filled(with_layout(layout, IndexOptions::new(DIMS)), &vectors, COUNT);
        let with_deleted = queries.iter().filter(|_| deleted > 0);
        let nearest = with_deleted.flat_map(|query| world.exact(query, deleted, Filter::All));
        let mut gone: Vec<u64> = nearest.map(|(key, _)| key).collect();
        gone.sort_unstable();
        gone.dedup();
        world.apply(Vec::new(), &gone);
        let snapshot = world.writer.snapshot();
        let params = SearchParams { k: 10, effort: Effort::Recall(PROMISED) };
        let recall = world.recall(&snapshot, &queries, params, Filter::All);
        println!("{layout:?}, {name}: recall@10 {recall:.4}");
        let least = match name {
            // Restated in the README of the crate.
            FAR_FROM_CLUSTERS => 0.85,
            _ => f64::from(PROMISED) - WITHIN,
        };
        if recall < least {
            missed.push((name, recall));
        }
    }
    assert!(missed.is_empty(), "{layout:?}: {missed:?}");
}
