//! Filters of every size: the k nearest allowed vectors come back.

use std::collections::BTreeSet;

use memorist_index::{Filter, Layout, SearchParams};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::support::{World, at_least, clustered, in_threads, small, with_ef, with_layout};

const COUNT: usize = 12_000;
const DIMS: usize = 32;

in_both_layouts!(
    random_keys_of_every_share,
    allowed_keys_that_lie_together_and_far_from_the_query,
    allowed_keys_on_the_other_side,
    refused_keys_round_the_query,
    keys_that_are_not_there_are_no_error,
    filters_passing_none_or_all_return_no_hits_or_plain_hits,
);

/// A large segment with a graph, a small one without, and some tombstones.
fn world(layout: Layout) -> World {
    let vectors = clustered(20, COUNT, DIMS, 60);
    let mut world = World::filled(with_layout(layout, small(DIMS, 1000)), &vectors[..COUNT - 500], COUNT);
    let last = (COUNT as u64 - 500..).zip(vectors[COUNT - 500..].to_vec()).collect();
    world.apply(last, &(0..200).collect::<Vec<_>>());
    world
}

fn queries() -> Vec<Vec<f32>> {
    clustered(21, 40, DIMS, 60)
}

fn random_keys_of_every_share(layout: Layout) {
    let world = world(layout);
    let snapshot = world.writer.snapshot();
    for per_mille in [1000, 990, 500, 250, 100, 50, 10, 1] {
        let mut keys: Vec<u64> = (0..COUNT as u64).collect();
        keys.shuffle(&mut ChaCha8Rng::seed_from_u64(per_mille));
        let allowed: BTreeSet<u64> = keys[..COUNT * per_mille as usize / 1000].iter().copied().collect();
        let refused: BTreeSet<u64> = keys[COUNT * per_mille as usize / 1000..].iter().copied().collect();
        for k in [10, 50] {
            for filter in [Filter::Only(&allowed), Filter::Except(&refused)] {
                let recall = world.recall(&snapshot, &queries(), SearchParams::new(k), filter);
                println!("{per_mille} per mille allowed, k = {k}: recall {recall:.4}");
                assert!(recall >= 0.95, "{per_mille} per mille allowed, k = {k}: recall {recall}");
            }
        }
    }
}

fn allowed_keys_that_lie_together_and_far_from_the_query(layout: Layout) {
    let world = world(layout);
    let snapshot = world.writer.snapshot();
    // Whole clusters: for most queries all that is near is refused.
    for clusters in [1, 6, 30] {
        let allowed: BTreeSet<u64> = (0..COUNT as u64).filter(|key| key % 60 < clusters).collect();
        let recall = world.recall(&snapshot, &queries(), SearchParams::new(50), Filter::Only(&allowed));
        println!("{clusters} of 60 clusters allowed: recall {recall:.4}");
        assert!(recall >= 0.95, "{clusters} of 60 clusters allowed: recall {recall}");
    }
}

/// Two heaps that are opposite, and only the other one is allowed: the walk finds none of it, is begun again wider, and gives
/// way to the scan.
fn allowed_keys_on_the_other_side(layout: Layout) {
    let side = |seed: u64, count: usize, side: f32| {
        let mut vectors = clustered(seed, count, DIMS, 60);
        vectors.iter_mut().for_each(|vector| vector[0] += side * 3.0);
        vectors
    };
    let mut world = World::new(with_layout(layout, small(DIMS, 1000)));
    let both = side(22, 4000, 1.0).into_iter().zip(side(23, 4000, -1.0)).flat_map(|(this, other)| [this, other]);
    world.apply((0..).zip(both).collect(), &[]);
    // Always the same graph, so that the walk always goes astray.
    in_threads(1, || world.maintain());
    let snapshot = world.writer.snapshot();
    let other: BTreeSet<u64> = (0..8000).filter(|key| key % 2 == 1).collect();
    let this: BTreeSet<u64> = (0..8000).filter(|key| key % 2 == 0).collect();
    let most: BTreeSet<u64> = other.iter().copied().filter(|key| key % 6 != 1).collect();
    for filter in [Filter::Only(&other), Filter::Except(&this), Filter::Only(&most)] {
        for params in [with_ef(1, 1), with_ef(10, 20), SearchParams::new(10), SearchParams::new(50)] {
            let recall = world.recall(&snapshot, &side(24, 40, 1.0), params, filter);
            let least = at_least(layout, 1.0, 0.9);
            assert!(recall >= least, "{params:?}: recall {recall}");
        }
    }
}

/// All that is nearest is refused, and about as much as a walk keeps. What it finds beyond is not the nearest yet: it has to be
/// begun again wider.
fn refused_keys_round_the_query(layout: Layout) {
    let world = world(layout);
    let snapshot = world.writer.snapshot();
    for refused in [50, 100, 110, 120, 150] {
        let mut recall = 0.0;
        for query in queries() {
            let nearest = world.exact(&query, refused, Filter::All);
            let refused: BTreeSet<u64> = nearest.iter().map(|&(key, _)| key).collect();
            recall += world.recall(&snapshot, &[query], SearchParams::new(10), Filter::Except(&refused)) / 40.0;
        }
        println!("the nearest {refused} refused: recall {recall:.4}");
        assert!(recall >= 0.95, "the nearest {refused} refused: recall {recall}");
    }
}

fn keys_that_are_not_there_are_no_error(layout: Layout) {
    let world = world(layout);
    let snapshot = world.writer.snapshot();
    // Most of what is allowed is not in the index, so a plan by the filter's size alone is wrong.
    let allowed: BTreeSet<u64> = (1 << 40..(1 << 40) + 50_000).chain([300, 700, u64::MAX]).collect();
    let hits = snapshot.search(&queries()[0], &SearchParams::new(10), Filter::Only(&allowed)).unwrap();
    let mut keys: Vec<u64> = hits.iter().map(|hit| hit.key).collect();
    keys.sort_unstable();
    assert_eq!(keys, [300, 700]);
}

fn filters_passing_none_or_all_return_no_hits_or_plain_hits(layout: Layout) {
    let world = world(layout);
    let snapshot = world.writer.snapshot();
    let (none, all) = (BTreeSet::new(), (0..COUNT as u64).collect::<BTreeSet<u64>>());
    for filter in [Filter::Only(&none), Filter::Except(&all)] {
        assert_eq!(snapshot.search(&queries()[0], &SearchParams::new(10), filter).unwrap(), []);
    }
    let plain = snapshot.search(&queries()[0], &SearchParams::new(10), Filter::All).unwrap();
    for filter in [Filter::Except(&none), Filter::Only(&all)] {
        assert_eq!(snapshot.search(&queries()[0], &SearchParams::new(10), filter).unwrap(), plain);
    }
}
