//! Heaps of vectors that differ by less than the coarse codes can show.

use bench_data::vectors::{self, Shape};
use memorist_index::{Effort, Filter, Layout, SearchParams, Snapshot};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{World, at_least, cosine, efforts, small, with_layout};

const DIMS: usize = 96;
const HEAP: usize = 400;
const ORDINARY: usize = 5000;

in_both_layouts!(
    each_of_a_heap_is_found_by_itself_and_so_are_its_neighbours,
    a_heap_does_not_turn_all_searches_into_scans,
);

/// Vectors that have a cosine of about 0.9998 with `middle`, whose length is 1.
fn heap(middle: &[f32]) -> Vec<Vec<f32>> {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    // Even numbers from -0.5 to 0.5 have a mean square of a twelfth.
    let spread = 0.02 / (middle.len() as f32 / 12.0).sqrt();
    let beside = |_| middle.iter().map(|x| x + spread * (random.random::<f32>() - 0.5)).collect();
    (0..HEAP).map(beside).collect()
}

/// The heap has the keys from 0 and lies where an ordinary vector would.
fn world(layout: Layout) -> World {
    let mut ordinary = vectors::vectors(Shape::Realistic, 20, 1 + ORDINARY, DIMS);
    let mut all = heap(&ordinary.next().unwrap());
    all.extend(ordinary);
    let mut options = with_layout(layout, small(DIMS, 300));
    options.ef_construction = 50;
    World::filled(options, &all, all.len())
}

/// The shares of some vectors that are found first by themselves, and of their true ten nearest that are found. Keys are
/// compared: in a heap the scores of right and wrong ones are nearly the same.
fn own_and_recall(world: &World, snapshot: &Snapshot, keys: &[u64], effort: Effort) -> (f64, f64) {
    let (mut own, mut recall) = (0, 0);
    for &key in keys {
        let query = &world.vectors[&key];
        let search = |effort| snapshot.search(query, &SearchParams { k: 10, effort }, Filter::All).unwrap();
        let (exact, hits) = (search(Effort::Exact), search(effort));
        world.check(query, &hits, Filter::All);
        own += usize::from(hits[0].key == key);
        recall += hits.iter().filter(|hit| exact.iter().any(|exact| exact.key == hit.key)).count();
    }
    (own as f64 / keys.len() as f64, recall as f64 / (10 * keys.len()) as f64)
}

fn each_of_a_heap_is_found_by_itself_and_so_are_its_neighbours(layout: Layout) {
    let world = world(layout);
    let between = cosine(&world.vectors[&0], &world.vectors[&1]);
    assert!((0.9995..0.9997).contains(&between), "twice as far from one another as from the middle: {between}");
    let snapshot = world.writer.snapshot();
    assert_eq!((snapshot.verify(), snapshot.segment_count()), (vec![], 1));
    let heap: Vec<u64> = (0..HEAP as u64).step_by(4).collect();
    let others: Vec<u64> = (HEAP as u64..).step_by(ORDINARY / 100).take(100).collect();
    for (effort, least) in
        [(Effort::Ef(40), 0.7), (Effort::FAST, 0.75), (Effort::BALANCED, at_least(layout, 0.9, 0.85))]
    {
        for (what, keys, least) in [("the heap", &heap, least), ("the others", &others, 0.94)] {
            let (own, recall) = own_and_recall(&world, &snapshot, keys, effort);
            println!("{effort:?}: {own:.2} of {what} found first by themselves, recall {recall:.3}");
            // Those of the heap differ by little more than 8 bits show.
            let least_own = if what == "the heap" { at_least(layout, 0.95, 0.75) } else { 0.95 };
            assert!(own >= least_own, "{effort:?}: {own} of {what} found first by themselves");
            assert!(recall >= least, "{effort:?}: recall {recall} among {what}");
        }
    }
}

/// An effort is measured on some vectors of a segment, also on those of a heap: where they are hard to find, all searches
/// have to try harder, for nothing.
fn a_heap_does_not_turn_all_searches_into_scans(layout: Layout) {
    let efforts = efforts(world(layout).folder.path());
    // That of `Effort::HIGH`.
    let (recall, ef) = efforts[6];
    assert!(recall == 0.995 && ef < 500, "{efforts:?}");
}
