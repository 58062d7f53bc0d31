//! The smallest, largest, emptiest and worst input.

use std::collections::BTreeSet;

use memorist_index::{
    Effort, Filter, IndexOptions, Layout, MAX_PAYLOAD, OpenError, Reader, SearchError, SearchParams, VectorError,
};
use memorist_index::{WriteError, Writer};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::support::{World, at_least, clustered, shapes, small, tolerance, with_layout};

in_both_layouts!(
    every_number_of_dimensions,
    more_wanted_than_there_are,
    duplicates_by_the_thousand,
    duplicates_through_merges,
    an_index_of_duplicates_alone_returns_every_key,
    vectors_that_have_no_direction_are_refused_by_name,
    the_length_of_a_vector_does_not_count,
    a_vector_comes_back_as_it_was_but_for_its_length,
    the_smallest_graphs,
);

#[test]
fn an_empty_index() {
    let world = World::new(IndexOptions::new(3));
    let snapshot = Reader::open(world.folder.path()).unwrap().snapshot();
    assert_eq!(snapshot.search(&[1.0, 0.0, 0.0], &SearchParams::new(10), Filter::All).unwrap(), []);
    assert_eq!(snapshot.scores(&[1.0, 0.0, 0.0], &[1]).unwrap(), [None]);
    assert!(snapshot.is_empty() && !snapshot.contains(1) && snapshot.vector(1).is_none());
    assert_eq!((snapshot.verify(), snapshot.keys().count(), snapshot.dims()), (vec![], 0, 3));
}

fn every_number_of_dimensions(layout: Layout) {
    for dims in [1, 2, 3, 15, 63, 64, 65, 384, 1000, 4096] {
        let count = if dims > 1000 { 120 } else { 400 };
        let world = World::filled(with_layout(layout, small(dims, 100)), &clustered(30, count, dims, 10), count);
        let snapshot = world.writer.snapshot();
        assert_eq!(snapshot.verify(), [], "{dims} dimensions");
        let recall = world.recall(&snapshot, &clustered(31, 10, dims, 10), SearchParams::new(10), Filter::All);
        assert!(recall >= 0.95, "{dims} dimensions: recall {recall}");
    }
}

fn more_wanted_than_there_are(layout: Layout) {
    for count in [1, 2, 10, 300] {
        let world = World::filled(with_layout(layout, small(8, 100)), &clustered(32, count, 8, 3), count);
        let snapshot = world.writer.snapshot();
        for k in [count, count + 1, 1_000_000, usize::MAX] {
            let query = &clustered(33, 1, 8, 1)[0];
            let hits = snapshot.search(query, &SearchParams::new(k), Filter::All).unwrap();
            let exact = world.exact(query, k, Filter::All);
            world.check(query, &hits, Filter::All);
            let keys = |keys: &mut dyn Iterator<Item = u64>| keys.collect::<BTreeSet<_>>();
            assert_eq!(keys(&mut hits.iter().map(|hit| hit.key)), keys(&mut exact.iter().map(|&(key, _)| key)), "{k}");
        }
        let params = SearchParams { k: 0, effort: Effort::default() };
        assert_eq!(snapshot.search(&[1.0; 8], &params, Filter::All).unwrap(), []);
        let params = SearchParams { k: 5, effort: Effort::Ef(0) };
        assert_eq!(snapshot.search(&[1.0; 8], &params, Filter::All).unwrap().len(), count.min(5));
    }
}

fn duplicates_by_the_thousand(layout: Layout) {
    let mut vectors = vec![vec![1.0, 2.0, 3.0, 4.0]; 3000];
    vectors.extend(vec![vec![-1.0, 0.5, 0.0, 2.0]; 2000]);
    vectors.extend(clustered(34, 1000, 4, 20));
    let world = World::filled(with_layout(layout, small(4, 500)), &vectors, 2000);
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), []);
    let least = at_least(layout, 0.99999, 0.999);
    for query in [&vectors[0], &vectors[3000]] {
        let hits = snapshot.search(query, &SearchParams::new(50), Filter::All).unwrap();
        assert!(hits.len() == 50 && hits.iter().all(|hit| f64::from(hit.score) > least), "{hits:?}");
    }
    let recall = world.recall(&snapshot, &vectors[5000..5100], SearchParams::new(10), Filter::All);
    assert!(recall >= 0.95, "the others, between the duplicates: recall {recall}");
}

/// Heaps of duplicates that each merge adds to, carries on, and at last takes half of away.
fn duplicates_through_merges(layout: Layout) {
    let batch = |round: u64| {
        let mut vectors = vec![vec![1.0, 2.0, 3.0, 4.0]; 1200];
        vectors.extend(vec![vec![-1.0, 0.5, 0.0, 2.0]; 400]);
        vectors.extend(clustered(60 + round, 400, 4, 20));
        vectors.shuffle(&mut ChaCha8Rng::seed_from_u64(round));
        vectors
    };
    let assert_sound = |world: &World, what: &str| {
        let snapshot = world.writer.snapshot();
        assert_eq!(snapshot.verify(), [], "{what}");
        let (count, links) = shapes(world.folder.path())[0];
        assert_eq!((snapshot.segment_count(), count as usize, links), (1, world.vectors.len(), 32), "{what}");
        let heaps = [vec![1.0, 2.0, 3.0, 4.0], vec![-1.0, 0.5, 0.0, 2.0]];
        for k in [1, 10, 50] {
            let recall = |queries: &[Vec<f32>]| world.recall(&snapshot, queries, SearchParams::new(k), Filter::All);
            assert_eq!(recall(&heaps), 1.0, "{what}, k = {k}");
            let others = recall(&clustered(64, 100, 4, 20));
            assert!(
                others >= at_least(layout, 0.995, 0.985),
                "{what}, k = {k}, the others, between the duplicates: recall {others}"
            );
        }
    };
    let mut world = World::new(with_layout(layout, small(4, 500)));
    for round in 0..3 {
        world.apply((round * 2000..).zip(batch(round)).collect(), &[]);
        world.maintain();
        assert_sound(&world, &format!("after {} merges", round + 1));
    }
    let mut keys: Vec<u64> = (0..6000).collect();
    keys.shuffle(&mut ChaCha8Rng::seed_from_u64(65));
    world.apply(Vec::new(), &keys[..3000]);
    world.maintain();
    assert_sound(&world, "half deleted");
}

fn an_index_of_duplicates_alone_returns_every_key(layout: Layout) {
    let world = World::filled(with_layout(layout, small(4, 500)), &vec![vec![0.0, 0.0, 1.0, 0.0]; 2500], 2500);
    let snapshot = world.writer.snapshot();
    assert_eq!(snapshot.verify(), []);
    let hits = snapshot.search(&[0.0, 0.0, 2.0, 0.0], &SearchParams::new(2500), Filter::All).unwrap();
    assert!(hits.iter().map(|hit| hit.key).eq(0..2500));
}

fn vectors_that_have_no_direction_are_refused_by_name(layout: Layout) {
    let mut world = World::filled(with_layout(layout, small(3, 100)), &clustered(35, 10, 3, 2), 10);
    for (bad, expected) in [
        (vec![0.0; 3], VectorError::Zero),
        (vec![1.0, f32::NAN, 0.0], VectorError::NotANumber { position: 1 }),
        (vec![f32::INFINITY, 0.0, 0.0], VectorError::Infinite { position: 0 }),
        (vec![1.0; 4], VectorError::Dimensions { expected: 3, found: 4 }),
        (vec![], VectorError::Dimensions { expected: 3, found: 0 }),
    ] {
        let generation = world.writer.snapshot().generation();
        let refused = world.writer.apply(&[(70, &[1.0; 3]), (77, &bad)], &[1], b"new");
        let Err(WriteError::Vector { key: 77, why }) = refused else { panic!("{refused:?}") };
        assert_eq!(why, expected);
        // Also where a later one of the same key would have counted.
        assert!(world.writer.apply(&[(70, &bad), (70, &[1.0; 3])], &[], b"new").is_err());
        let snapshot = world.writer.snapshot();
        assert_eq!((snapshot.generation(), snapshot.len(), snapshot.payload()), (generation, 10, &b""[..]));
        assert_eq!(
            snapshot.search(&bad, &SearchParams::new(1), Filter::All),
            Err(SearchError::Query(expected.clone()))
        );
        assert_eq!(snapshot.scores(&bad, &[1]), Err(SearchError::Query(expected)));
    }
}

fn the_length_of_a_vector_does_not_count(layout: Layout) {
    let mut world = World::new(with_layout(layout, IndexOptions::new(2)));
    world.apply(vec![(1, vec![3e38, 3e38]), (2, vec![1e-45, 0.0]), (3, vec![0.0, 5.0])], &[]);
    let hits = world.writer.snapshot().search(&[1e30, 1e30], &SearchParams::new(3), Filter::All).unwrap();
    let mut keys: Vec<u64> = hits.iter().map(|hit| hit.key).collect();
    if layout == Layout::Compact {
        // Both are equally far, but for 8 bits.
        keys[1..].sort_unstable();
    }
    assert_eq!(keys, [1, 2, 3]);
    assert_eq!(world.writer.snapshot().verify(), []);
}

fn a_vector_comes_back_as_it_was_but_for_its_length(layout: Layout) {
    let mut worst = 0f64;
    for dims in [2, 3, 64, 100, 384, 1000, 4096] {
        let is_exact = dims >= 384 && layout == Layout::Standard;
        let tolerance = if is_exact { 1e-5 } else { tolerance(layout) };
        let mut vectors = clustered(39, 30, dims, 4);
        vectors.push([vec![0.0; dims - 1], vec![-3.0]].concat());
        vectors.push(vec![1e-3; dims]);
        let world = World::filled(with_layout(layout, small(dims, 100)), &vectors, 40);
        let snapshot = world.writer.snapshot();
        let length = |vector: &[f32]| vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        for (key, vector) in &world.vectors {
            let found = snapshot.vector(*key).unwrap();
            assert_eq!(found.len(), dims);
            // What 8 bits leave of the zeros that fill a vector up is cut off.
            let unit = if layout == Layout::Compact { 2e-4 } else { 1e-6 };
            assert!((length(&found) - 1.0).abs() < unit, "{dims} dimensions: its length is {}", length(&found));
            let scale = length(vector);
            for (&found, &number) in found.iter().zip(vector) {
                // Each number is the score of a query along its axis.
                let expected = f64::from(number) / scale;
                let off = (f64::from(found) - expected).abs();
                worst = worst.max(off / tolerance);
                assert!(off <= tolerance, "{dims} dimensions: {found} for {expected}");
            }
        }
        assert!(snapshot.vector(77).is_none());
    }
    println!("the worst number is off by {worst:.2} of what it may be");
}

#[test]
fn options_out_of_bounds_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let change = |change: fn(&mut IndexOptions)| {
        let mut options = IndexOptions::new(4);
        change(&mut options);
        options
    };
    for (options, name) in [
        (change(|options| options.dims = 0), "dims"),
        (change(|options| options.dims = 20_000), "dims"),
        (change(|options| options.m = 1), "m "),
        (change(|options| options.m = 65), "m "),
        (change(|options| options.ef_construction = 0), "ef_construction"),
        (change(|options| options.flat_limit = 0), "flat_limit"),
        (change(|options| options.merge_percent = 101), "merge_percent"),
        (change(|options| options.max_segment = 0), "max_segment"),
        (change(|options| options.deleted_percent = 101), "deleted_percent"),
    ] {
        let error = Writer::create(folder.path(), options, b"").unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    let error = Writer::create(folder.path(), IndexOptions::new(4), &[0; MAX_PAYLOAD + 1]).unwrap_err();
    assert!(matches!(error, WriteError::Payload { found: 4097 }), "{error}");
    assert!(matches!(Reader::open(folder.path()), Err(OpenError::Missing { .. })), "nothing was created");
}

#[test]
fn an_index_is_not_created_over_another_nor_opened_as_another() {
    let World { folder, writer, .. } = World::filled(small(3, 100), &clustered(36, 10, 3, 2), 10);
    drop(writer);
    let exists = Writer::create(folder.path(), IndexOptions::new(3), b"");
    assert!(matches!(exists, Err(WriteError::Exists { .. })), "{exists:?}");
    let other = Writer::open(folder.path(), IndexOptions::new(5));
    let Err(WriteError::Open(other)) = other else { panic!("{other:?}") };
    assert!(matches!(other, OpenError::Dimensions { expected: 5, found: 3, .. }), "{other:?}");
}

#[test]
fn a_recall_that_is_no_share_is_refused() {
    let empty = World::new(small(3, 100));
    let filled = World::filled(small(3, 100), &clustered(36, 150, 3, 2), 150);
    let with = |recall| SearchParams { k: 5, effort: Effort::Recall(recall) };
    for refused in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, -0.0, 0.0, 1.000_001, 7.0] {
        for world in [&empty, &filled] {
            let searched = world.writer.snapshot().search(&[1.0; 3], &with(refused), Filter::All);
            let Err(SearchError::Recall { found }) = searched else { panic!("{refused}: {searched:?}") };
            assert_eq!(found.to_bits(), refused.to_bits());
        }
    }
    let error = Effort::Recall(7.0).check().unwrap_err().to_string();
    assert_eq!(error, "recall: 7 is outside the range: it has to be more than 0 and at most 1");
    for least in [f32::MIN_POSITIVE, 0.5, 0.9995, 1.0] {
        let hits = filled.writer.snapshot().search(&[1.0; 3], &with(least), Filter::All).unwrap();
        filled.check(&[1.0; 3], &hits, Filter::All);
        assert_eq!(hits.len(), 5);
    }
}

fn the_smallest_graphs(layout: Layout) {
    for count in [1, 2, 3, 17] {
        for m in [2, 16, 64] {
            let mut options = with_layout(layout, small(5, 1));
            options.m = m;
            let world = World::filled(options, &clustered(37, count, 5, 2), 1);
            assert_eq!(world.writer.snapshot().verify(), [], "{count} vectors, m = {m}");
            let recall =
                world.recall(&world.writer.snapshot(), &clustered(38, 3, 5, 2), SearchParams::new(3), Filter::All);
            assert!(recall > 0.99, "{count} vectors, m = {m}");
        }
    }
}
