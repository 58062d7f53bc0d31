//! Merges that find little of an older graph, or that find it otherwise than they would have built it.

use bench_data::vectors::{self, Shape};
use memorist_index::{Filter, Layout};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::support::{World, clustered, shapes, small, with_ef, with_layout};

const DIMS: usize = 48;

in_both_layouts!(
    the_few_vectors_left_of_an_old_graph_stay_findable,
    nearly_all_deleted_then_merged,
    a_graph_is_carried_into_one_of_other_links,
    merges_copy_codes_as_they_are,
    merges_stop_at_the_largest_segment,
);

/// The share of some vectors that a search for themselves finds.
fn own(world: &World, keys: impl Iterator<Item = u64> + Clone, ef: usize) -> f64 {
    let (snapshot, count) = (world.writer.snapshot(), keys.clone().count());
    let is_found = |key: &u64| {
        let hits = snapshot.search(&world.vectors[key], &with_ef(10, ef), Filter::All).unwrap();
        hits.iter().any(|hit| hit.key == *key)
    };
    keys.filter(is_found).count() as f64 / count as f64
}

fn bytes(world: &World) -> u64 {
    std::fs::read_dir(world.folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn the_few_vectors_left_of_an_old_graph_stay_findable(layout: Layout) {
    const OLD: usize = 300;
    const NEW: usize = 2000;
    for (left, seed) in (0..3).flat_map(|seed| [(5, seed), (20, seed)]) {
        let vectors: Vec<Vec<f32>> = vectors::vectors(Shape::Realistic, seed, OLD + NEW, DIMS).collect();
        let mut options = with_layout(layout, small(DIMS, OLD));
        (options.ef_construction, options.seed) = (40, seed);
        let mut world = World::filled(options, &vectors[..OLD], OLD);
        assert_eq!(shapes(world.folder.path()), [(OLD as u32, 32)]);
        let gone: Vec<u64> = (left..OLD as u64).collect();
        world.apply((OLD as u64..).zip(vectors[OLD..].to_vec()).collect(), &gone);
        world.maintain();
        assert_eq!(shapes(world.folder.path()), [(left as u32 + NEW as u32, 32)]);

        let what = format!("{left} left, seed {seed}");
        assert_eq!(world.writer.snapshot().verify(), [], "{what}");
        let new = (OLD + NEW - 300) as u64;
        let (old, new) = (own(&world, 0..left, 40), own(&world, new..new + 300, 40));
        println!("{what}: {old:.2} of the old and {new:.2} of the new ones are found by themselves");
        assert!(old >= 0.9 && new >= 0.9, "{what}: {old} of the old and {new} of the new ones are found by themselves");
    }
}

fn nearly_all_deleted_then_merged(layout: Layout) {
    const COUNT: usize = 6000;
    const LEFT: usize = COUNT / 20;
    let mut world = World::filled(with_layout(layout, small(DIMS, LEFT)), &clustered(22, COUNT, DIMS, 40), COUNT);
    let before = bytes(&world);
    let mut keys: Vec<u64> = (0..COUNT as u64).collect();
    keys.shuffle(&mut ChaCha8Rng::seed_from_u64(22));
    world.apply(Vec::new(), &keys[LEFT..]);
    world.maintain();
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), []);
    assert_eq!(shapes(world.folder.path()), [(LEFT as u32, 32)]);
    assert!(snapshot.keys().all(|key| world.vectors.contains_key(&key)));
    let after = bytes(&world);
    assert!(after < before / 18, "{before} bytes before, {after} after");

    // With little effort it shows how well what is left is linked.
    let own = own(&world, world.vectors.keys().copied(), 10);
    let recall = world.recall(&snapshot, &clustered(99, 100, DIMS, 40), with_ef(10, 20), Filter::All);
    println!("{own:.4} are found by themselves, recall {recall:.4}");
    assert!(own >= 0.98 && recall >= 0.95, "{own} are found by themselves, recall {recall}");
}

fn a_graph_is_carried_into_one_of_other_links(layout: Layout) {
    const OLD: usize = 1000;
    const NEW: usize = 500;
    let vectors = clustered(23, OLD + NEW, DIMS, 40);
    let with_m = |m: usize| {
        let mut options = with_layout(layout, small(DIMS, 300));
        (options.m, options.ef_construction) = (m, 50);
        options
    };
    for [(m, links), (new_m, new_links)] in [[(64, 128), (2, 32)], [(2, 32), (64, 128)], [(64, 128), (20, 64)]] {
        let what = format!("m = {m}, then {new_m}");
        let world = World::filled(with_m(m), &vectors[..OLD], OLD);
        assert_eq!(shapes(world.folder.path()), [(OLD as u32, links)], "{what}");
        let mut world = world.reopen(with_m(new_m));
        // So few that some nodes lose links and others keep all.
        let gone: Vec<u64> = (0..OLD as u64).step_by(80).collect();
        world.apply((OLD as u64..).zip(vectors[OLD..].to_vec()).collect(), &gone);
        world.maintain();
        assert_eq!(shapes(world.folder.path()), [(world.vectors.len() as u32, new_links)], "{what}");
        assert_eq!(world.writer.snapshot().verify(), [], "{what}");
        let own = own(&world, world.vectors.keys().copied(), 30);
        println!("{what}: {own:.4} are found by themselves");
        assert!(own >= 0.95, "{what}: {own} are found by themselves");
    }
}

/// Vectors that were decoded and coded again would change a little with each merge.
fn merges_copy_codes_as_they_are(layout: Layout) {
    let vectors = clustered(24, 1200, DIMS, 40);
    let mut world = World::new(with_layout(layout, small(DIMS, 150)));
    let mut before: Vec<(u64, Vec<f32>)> = Vec::new();
    for (rows, first) in vectors.chunks(100).zip((0..).step_by(100)) {
        world.apply((first..).zip(rows.to_vec()).collect(), &[]);
        let snapshot = world.writer.snapshot();
        before.extend((first..first + 100).map(|key| (key, snapshot.vector(key).unwrap())));
        world.maintain();
    }
    assert!(world.inserted >= 1200, "all went through merges: {}", world.inserted);
    let snapshot = world.writer.snapshot();
    assert!(before.iter().all(|(key, vector)| snapshot.vector(*key).as_ref() == Some(vector)));
}

fn merges_stop_at_the_largest_segment(layout: Layout) {
    let mut options = with_layout(layout, small(DIMS, 300));
    options.max_segment = 1000;
    let vectors = clustered(23, 6000, DIMS, 40);
    let world = World::filled(options.clone(), &vectors, 250);
    let sizes = |world: &World| shapes(world.folder.path()).into_iter().map(|(count, _)| count).collect::<Vec<_>>();
    assert!(sizes(&world).iter().all(|&count| count <= 1000) && sizes(&world).len() <= 12, "{:?}", sizes(&world));
    assert_eq!(world.writer.snapshot().verify(), []);
    assert!(own(&world, 0..6000, 40) >= 0.99);
    // A smaller bound counts as two times 300, so that no merge leaves what it found.
    options.max_segment = 1;
    let world = World::filled(options, &vectors[..2000], 200);
    assert!(sizes(&world).iter().all(|&count| count <= 600) && sizes(&world).len() >= 3, "{:?}", sizes(&world));
}
