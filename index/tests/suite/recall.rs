//! Recall against an exact scan.

use std::ops::ControlFlow;

use bench_data::vectors::{self, Shape};
use memorist_index::{Filter, IndexOptions, Layout, Progress, SearchParams, Stage};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::support::{World, clustered, files, in_threads, shapes, small, with_ef, with_layout};

const FLOOR: f64 = 0.95;
const DIMS: usize = 48;

in_both_layouts!(
    a_single_build_reaches_the_recall_floor,
    batches_and_merges,
    a_random_half_deleted_then_merged,
    whole_clusters_deleted,
    every_vector_replaced_twice,
    deleting_and_replacing_during_a_merge,
    deleting_everything_during_a_merge,
    a_replaced_key_outlives_its_old_segment_during_a_merge,
    index_files_depend_on_the_seed_but_not_on_threads,
    every_number_of_links,
    half_replaced_in_rounds_is_as_good_as_a_new_index,
);

fn small_in(layout: Layout, dims: usize, flat_limit: usize) -> IndexOptions {
    with_layout(layout, small(dims, flat_limit))
}

fn queries() -> Vec<Vec<f32>> {
    clustered(99, 100, DIMS, 40)
}

fn assert_sound(world: &World, what: &str) {
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), [], "{what}");
    assert_eq!(snapshot.len(), world.vectors.len(), "{what}");
    for k in [1, 10, 50] {
        let recall = world.recall(&snapshot, &queries(), SearchParams::new(k), Filter::All);
        println!("{what}: recall@{k} {recall:.4}, {} segments", snapshot.segment_count());
        assert!(recall >= FLOOR, "{what}: recall@{k} {recall}");
    }
}

fn a_single_build_reaches_the_recall_floor(layout: Layout) {
    let world = World::filled(with_layout(layout, IndexOptions::new(DIMS)), &clustered(1, 6000, DIMS, 40), 6000);
    assert_eq!(world.writer.snapshot().segment_count(), 1);
    assert_eq!(world.inserted, 6000, "by the way: all of it went into a graph");
    assert_sound(&world, "one build");
}

fn batches_and_merges(layout: Layout) {
    let world = World::filled(small_in(layout, DIMS, 300), &clustered(2, 6000, DIMS, 40), 250);
    assert_sound(&world, "batches of 250");
}

#[test]
fn merging_inserts_each_vector_a_few_times_at_most() {
    let mut options = small(8, 300);
    options.ef_construction = 10;
    let world = World::filled(options, &clustered(3, 20_000, 8, 40), 600);
    let share = world.inserted as f64 / 20_000.0;
    println!("{share:.2} insertions per vector, {} segments", world.writer.snapshot().segment_count());
    assert!((0.9..2.5).contains(&share), "{share} insertions per vector");
    assert!(world.writer.snapshot().segment_count() <= 8);
}

fn a_random_half_deleted_then_merged(layout: Layout) {
    let mut world = World::filled(small_in(layout, DIMS, 1000), &clustered(4, 6000, DIMS, 40), 6000);
    let mut keys: Vec<u64> = (0..6000).collect();
    keys.shuffle(&mut ChaCha8Rng::seed_from_u64(4));
    world.apply(Vec::new(), &keys[..3000]);
    assert_sound(&world, "half deleted, not merged");
    world.maintain();
    assert_eq!(world.inserted, 6000, "the merge inserts nothing, it mends links");
    assert_eq!(world.writer.snapshot().keys().count(), 3000);
    assert_sound(&world, "half deleted, merged");

    // With little effort the quality of the links shows: it is that of a graph that never had the other half.
    let fresh = World::filled(small_in(layout, DIMS, 1000), &world.vectors.values().cloned().collect::<Vec<_>>(), 3000);
    let recall = |world: &World| world.recall(&world.writer.snapshot(), &queries(), with_ef(10, 15), Filter::All);
    let (mended, built) = (recall(&world), recall(&fresh));
    println!("little effort: recall {mended:.4} mended, {built:.4} built new");
    assert!(mended >= built - 0.02, "{mended} mended, {built} built new");
}

fn whole_clusters_deleted(layout: Layout) {
    let mut world = World::filled(small_in(layout, DIMS, 1000), &clustered(5, 6000, DIMS, 40), 6000);
    let gone: Vec<u64> = (0..6000).filter(|key| key % 40 < 30).collect();
    world.apply(Vec::new(), &gone);
    world.maintain();
    assert_sound(&world, "30 of 40 clusters deleted");
}

fn every_vector_replaced_twice(layout: Layout) {
    let count = 3000;
    let mut world = World::filled(small_in(layout, DIMS, 500), &clustered(6, count, DIMS, 40), count);
    for round in 0..2 {
        let vectors = clustered(60 + round, count, DIMS, 40);
        let mut keys: Vec<usize> = (0..count).collect();
        keys.shuffle(&mut ChaCha8Rng::seed_from_u64(round));
        for keys in keys.chunks(500) {
            world.apply(keys.iter().map(|&key| (key as u64, vectors[key].clone())).collect(), &[]);
            world.maintain();
        }
    }
    assert_sound(&world, "every vector replaced twice");
}

fn deleting_and_replacing_during_a_merge(layout: Layout) {
    let vectors = clustered(7, 3000, DIMS, 40);
    let mut world = World::new(small_in(layout, DIMS, 500));
    world.apply((0..).zip(vectors[..2000].to_vec()).collect(), &[]);
    let merge = world.writer.begin_merge().unwrap();
    assert_eq!(merge.vectors(), 2000);
    world.apply((500..1000).zip(vectors[2000..2500].to_vec()).collect(), &(0..500).collect::<Vec<_>>());
    world.apply((0..100).zip(vectors[2500..2600].to_vec()).collect(), &[]);
    let merged = merge.run(&|_| ControlFlow::Continue(())).unwrap();
    assert_sound(&world, "before the merge is put in");
    world.writer.finish_merge(merged).unwrap();
    assert_sound(&world, "after the merge is put in");
    world.maintain();
    assert_sound(&world, "after all merges");
}

fn deleting_everything_during_a_merge(layout: Layout) {
    let mut world = World::new(small_in(layout, DIMS, 100));
    world.apply((0..).zip(clustered(8, 200, DIMS, 4)).collect(), &[]);
    let merge = world.writer.begin_merge().unwrap();
    world.apply(Vec::new(), &(0..200).collect::<Vec<_>>());
    world.writer.finish_merge(merge.run(&|_| ControlFlow::Continue(())).unwrap()).unwrap();
    let snapshot = world.writer.snapshot();
    assert_eq!((snapshot.len(), snapshot.segment_count(), snapshot.verify()), (0, 0, vec![]));
}

fn a_replaced_key_outlives_its_old_segment_during_a_merge(layout: Layout) {
    let mut world = World::new(small_in(layout, DIMS, 100));
    let vectors = clustered(11, 300, DIMS, 4);
    world.apply((0..2).zip(vectors[..2].to_vec()).collect(), &[]);
    world.apply((1..200).zip(vectors[100..299].to_vec()).collect(), &[]);
    let merge = world.writer.begin_merge().unwrap();
    world.apply(Vec::new(), &[0]);
    world.writer.finish_merge(merge.run(&|_| ControlFlow::Continue(())).unwrap()).unwrap();
    assert!(world.writer.snapshot().contains(1));
    assert_sound(&world, "key 1 was replaced before the merge, key 0 deleted during it");
}

fn index_files_depend_on_the_seed_but_not_on_threads(layout: Layout) {
    let vectors = clustered(9, 1500, 16, 10);
    let segments = |seed: u64, threads: usize| {
        let mut options = small_in(layout, 16, 400);
        options.seed = seed;
        let world = in_threads(threads, || World::filled(options, &vectors, 500));
        let files = files(world.folder.path()).into_iter().map(|file| world.folder.path().join(file));
        files.map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    assert!(segments(1, 1) == segments(1, 3));
    assert!(segments(1, 3) != segments(2, 3), "the seed counts");
}

#[test]
fn a_merge_can_be_stopped() {
    let mut world = World::new(small(DIMS, 500));
    world.apply((0..).zip(clustered(10, 1000, DIMS, 40)).collect(), &[]);
    let files = |world: &World| std::fs::read_dir(world.folder.path()).unwrap().count();
    let before = files(&world);
    for stage in [Stage::Linking, Stage::Writing, Stage::Measuring] {
        let stop = |now: Progress| if now.stage == stage { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let stopped = world.writer.maintain(&stop);
        assert!(matches!(stopped, Err(memorist_index::WriteError::Cancelled)), "{stage:?}: {stopped:?}");
        assert_eq!((world.writer.snapshot().len(), files(&world)), (1000, before), "{stage:?}");
    }
    world.maintain();
    assert_sound(&world, "merged after a stop");
}

/// A node has its edges in batches of 32: one, two and four of them.
fn every_number_of_links(layout: Layout) {
    for (m, links) in [(2, 32), (16, 32), (17, 64), (64, 128)] {
        let mut options = small_in(layout, DIMS, 500);
        options.m = m;
        let world = World::filled(options, &clustered(12, 3000, DIMS, 40), 1000);
        assert_eq!(shapes(world.folder.path()), [(3000, links)], "m = {m}");
        assert_sound(&world, &format!("m = {m}"));
        let recall = world.recall(&world.writer.snapshot(), &queries(), with_ef(10, 15), Filter::All);
        println!("m = {m}: recall {recall:.4} with little effort");
        assert!(recall >= FLOOR, "m = {m}: recall {recall} with little effort");
    }
}

/// Each merge mends what the deletes have torn and links the new ones to what was there. What is lost by that would add up from
/// round to round.
fn half_replaced_in_rounds_is_as_good_as_a_new_index(layout: Layout) {
    const COUNT: usize = 3000;
    const ROUNDS: usize = 6;
    const DIMS: usize = 96;
    let all: Vec<Vec<f32>> = vectors::vectors(Shape::Realistic, 13, COUNT + COUNT / 2, DIMS).collect();
    let queries: Vec<Vec<f32>> = vectors::queries_for(Shape::Realistic, 13, COUNT, DIMS, 1000).collect();
    let mut keys: Vec<u64> = (0..COUNT as u64).collect();
    keys.shuffle(&mut ChaCha8Rng::seed_from_u64(13));
    let options = || small_in(layout, DIMS, COUNT / 2 / ROUNDS);
    let (churned, fresh) = in_threads(1, || {
        let mut churned = World::filled(options(), &all[..COUNT], COUNT);
        let new: Vec<(u64, Vec<f32>)> = (COUNT as u64..).zip(all[COUNT..].iter().cloned()).collect();
        for (gone, new) in keys[..COUNT / 2].chunks(COUNT / 2 / ROUNDS).zip(new.chunks(COUNT / 2 / ROUNDS)) {
            churned.apply(new.to_vec(), gone);
            churned.maintain();
        }
        let fresh = World::filled(options(), &churned.vectors.values().cloned().collect::<Vec<_>>(), COUNT);
        (churned, fresh)
    });
    assert_eq!(churned.writer.snapshot().verify(), []);
    assert_eq!([&churned, &fresh].map(|world| shapes(world.folder.path())), [[(COUNT as u32, 32)]; 2]);
    for ef in [10, 20, 40] {
        let recall = |world: &World| world.recall(&world.writer.snapshot(), &queries, with_ef(10, ef), Filter::All);
        let (churned, fresh) = (recall(&churned), recall(&fresh));
        println!("ef {ef}: recall {churned:.4} after the rounds, {fresh:.4} built new");
        assert!(churned >= fresh - 0.01, "ef {ef}: recall {churned} after the rounds, {fresh} built new");
    }
}
