//! Random operations against a map. A search for all there is has an answer that is known exactly; one for a few with little
//! effort walks the graphs, and finds most.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use memorist_index::{Filter, IndexOptions, Layout, Reader, SearchParams};
use proptest::prelude::*;

use crate::support::{World, shapes, small, tolerance, with_ef, with_layout};

const DIMS: usize = 6;
const KEYS: u64 = 200;
/// Nearest vectors that are searched for, and candidates that a walk keeps.
const FEW: usize = 4;
/// How many of them walks have found, in all cases together, and how many there were.
static FOUND: AtomicUsize = AtomicUsize::new(0);
static WANTED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Clone)]
enum Operation {
    Apply { upserts: Vec<(u64, Vec<f32>)>, deletes: Vec<u64> },
    Again,
    Maintain,
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || 0..KEYS;
    // Whole numbers, so that equal and opposite vectors come up; never all zero.
    let vector = prop::collection::vec((-3i8..=3).prop_map(f32::from), DIMS).prop_map(|mut vector| {
        vector[0] += 3.5;
        vector
    });
    let upserts = prop::collection::vec((key(), vector), 0..80);
    let deletes = prop::collection::vec(key(), 0..20);
    prop_oneof![
        6 => (upserts, deletes).prop_map(|(upserts, deletes)| Operation::Apply { upserts, deletes }),
        1 => Just(Operation::Again),
        3 => Just(Operation::Maintain),
        1 => Just(Operation::Reopen),
    ]
}

fn options() -> IndexOptions {
    let mut options = small(DIMS, 40);
    options.m = 4;
    options
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    fn any_operations(is_compact: bool, operations in prop::collection::vec(operation(), 1..25)) {
        let layout = if is_compact { Layout::Compact } else { Layout::Standard };
        let mut world = World::new(with_layout(layout, options()));
        let reader = Reader::open(world.folder.path()).unwrap();
        let mut last = (Vec::new(), Vec::new());
        for operation in operations {
            match operation {
                Operation::Apply { upserts, deletes } => {
                    world.apply(upserts.clone(), &deletes);
                    last = (upserts, deletes);
                }
                Operation::Again => world.apply(last.0.clone(), &last.1),
                Operation::Maintain => world.maintain(),
                Operation::Reopen => world = world.reopen(options()),
            }
            reader.refresh().unwrap();
            prop_assert_eq!(reader.snapshot().generation(), world.writer.snapshot().generation());
            compare(&world, &reader)?;
        }
    }
}

#[test]
fn the_index_is_the_map() {
    any_operations();
    let (found, wanted) = (FOUND.load(Ordering::Relaxed), WANTED.load(Ordering::Relaxed));
    println!("walks found {found} of {wanted}");
    assert!(wanted >= 100, "few graphs were walked");
    assert!(found * 10 >= wanted * 9, "walks found {found} of {wanted}");
}

fn compare(world: &World, reader: &Reader) -> Result<(), TestCaseError> {
    let snapshot = reader.snapshot();
    let layout = snapshot.layout();
    let rows = if layout == Layout::Compact { 14 } else { 7 };
    prop_assert_eq!(layout, world.writer.snapshot().layout());
    prop_assert_eq!(snapshot.verify(), vec![]);
    prop_assert_eq!(snapshot.len(), world.vectors.len());
    let mut keys: Vec<u64> = snapshot.keys().collect();
    keys.sort_unstable();
    prop_assert!(keys.iter().eq(world.vectors.keys()));
    let first = keys.get(keys.len() / 2).copied().unwrap_or(1);
    let mut later: Vec<u64> = snapshot.keys_from(first).collect();
    later.sort_unstable();
    prop_assert!(later.iter().eq(world.vectors.range(first..).map(|(key, _)| key)));
    let even: BTreeSet<u64> = (0..KEYS).filter(|key| key % 2 == 0).collect();
    let query = [1.0, -2.0, 0.5, 3.0, 0.25, -1.0];
    for filter in [Filter::All, Filter::Only(&even), Filter::Except(&even)] {
        let hits = snapshot.search(&query, &SearchParams::new(KEYS as usize), filter).unwrap();
        world.check(&query, &hits, filter);
        prop_assert_eq!(hits.len(), world.vectors.keys().filter(|&&key| filter.allows(key)).count());
    }
    for filter in [Filter::All, Filter::Only(&even), Filter::Except(&even)] {
        let hits = snapshot.search(&query, &with_ef(FEW, FEW), filter).unwrap();
        world.check(&query, &hits, filter);
        let exact = world.exact(&query, FEW, filter);
        prop_assert_eq!(hits.len(), exact.len());
        // A walk costs as much as a scan of some seven times as many as it keeps, or fourteen; one segment, so that it is the one or
        // the other.
        if let [(count, 1..)] = shapes(world.folder.path())[..]
            && FEW * rows * count as usize / keys.len() < keys.len() / 2
        {
            let worst = exact.last().map_or(0.0, |&(_, score)| score) - tolerance(layout);
            FOUND.fetch_add(hits.iter().filter(|hit| f64::from(hit.score) >= worst).count(), Ordering::Relaxed);
            WANTED.fetch_add(hits.len(), Ordering::Relaxed);
        }
    }
    let all: Vec<u64> = (0..KEYS).collect();
    let scores = snapshot.scores(&query, &all).unwrap();
    for (key, score) in all.iter().zip(scores) {
        prop_assert_eq!(score.is_some(), world.vectors.contains_key(key));
        prop_assert_eq!(snapshot.contains(*key), score.is_some());
        if let (Some(score), Some(vector)) = (score, world.vectors.get(key)) {
            prop_assert!((f64::from(score) - crate::support::cosine(&query, vector)).abs() < tolerance(layout));
        }
    }
    Ok(())
}
