//! Random operations against a map. Every search asks for all there is, so its answer is known exactly.

use memorist_index::{Filter, IndexOptions, Reader, SearchParams, Writer};
use proptest::prelude::*;
use roaring::RoaringTreemap;

use crate::support::{World, small};

const DIMS: usize = 6;

#[derive(Debug, Clone)]
enum Operation {
    Apply { upserts: Vec<(u64, Vec<f32>)>, deletes: Vec<u64> },
    Again,
    Maintain,
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || 0..60u64;
    // Whole numbers, so that equal and opposite vectors come up; never all zero.
    let vector = prop::collection::vec((-3i8..=3).prop_map(f32::from), DIMS).prop_map(|mut vector| {
        vector[0] += 3.5;
        vector
    });
    let upserts = prop::collection::vec((key(), vector), 0..30);
    let deletes = prop::collection::vec(key(), 0..12);
    prop_oneof![
        6 => (upserts, deletes).prop_map(|(upserts, deletes)| Operation::Apply { upserts, deletes }),
        1 => Just(Operation::Again),
        3 => Just(Operation::Maintain),
        1 => Just(Operation::Reopen),
    ]
}

fn options() -> IndexOptions {
    let mut options = small(DIMS, 20);
    options.m = 4;
    options
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_index_is_the_map(operations in prop::collection::vec(operation(), 1..25)) {
        let mut world = World::new(options());
        let reader = Reader::open(world.directory.path()).unwrap();
        let mut last = (Vec::new(), Vec::new());
        for operation in operations {
            match operation {
                Operation::Apply { upserts, deletes } => {
                    world.apply(upserts.clone(), &deletes);
                    last = (upserts, deletes);
                }
                Operation::Again => world.apply(last.0.clone(), &last.1),
                Operation::Maintain => world.maintain(),
                Operation::Reopen => world.writer = Writer::open(world.directory.path(), options()).unwrap(),
            }
            reader.refresh().unwrap();
            prop_assert_eq!(reader.snapshot().generation(), world.writer.snapshot().generation());
            compare(&world, &reader)?;
        }
    }
}

fn compare(world: &World, reader: &Reader) -> Result<(), TestCaseError> {
    let snapshot = reader.snapshot();
    prop_assert_eq!(snapshot.verify(), vec![]);
    prop_assert_eq!(snapshot.len(), world.vectors.len());
    let mut keys: Vec<u64> = snapshot.keys().collect();
    keys.sort_unstable();
    prop_assert!(keys.iter().eq(world.vectors.keys()));
    let even: RoaringTreemap = (0..60).filter(|key| key % 2 == 0).collect();
    let query = [1.0, -2.0, 0.5, 3.0, 0.25, -1.0];
    for filter in [Filter::All, Filter::Only(&even), Filter::Except(&even)] {
        let hits = snapshot.search(&query, &SearchParams::new(100), filter).unwrap();
        world.check(&query, &hits, filter);
        prop_assert_eq!(hits.len(), world.vectors.keys().filter(|&&key| filter.allows(key)).count());
    }
    let asked: Vec<u64> = (0..60).collect();
    let scores = snapshot.scores(&query, &asked).unwrap();
    for (key, score) in asked.iter().zip(scores) {
        prop_assert_eq!(score.is_some(), world.vectors.contains_key(key));
        prop_assert_eq!(snapshot.contains(*key), score.is_some());
        if let (Some(score), Some(vector)) = (score, world.vectors.get(key)) {
            prop_assert!((f64::from(score) - crate::support::cosine(&query, vector)).abs() < 2e-5);
        }
    }
    Ok(())
}
