//! Filters, and their results, which successive snapshots share.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::ranking::{some_filter, varied};
use super::*;

/// A snapshot and its results, to be compared again after later changes.
type Evaluated = (Arc<dyn KeywordSnapshot>, Vec<RoaringTreemap>);

#[test]
fn results_are_right_after_each_publish_delete_and_merge() {
    let config = Config { cases: 6, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let filters = prop::collection::vec(some_filter(), 2..5);
    runner.run(&(any::<u64>(), filters), |(seed, filters)| check_answers(seed, &filters)).unwrap();
}

fn check_answers(seed: u64, filters: &[Filter]) -> Result<(), TestCaseError> {
    let (mut random, mut next) = (TextGenerator(seed), 1);
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &[]);
    let mut live: BTreeMap<RecordId, Record> = BTreeMap::new();
    let mut before: Vec<Evaluated> = Vec::new();
    for step in 2..16 {
        match random.below(4) {
            0 => index.maintain().unwrap(),
            _ => change(&index, &mut live, &mut random, &mut next, step),
        }
        let snapshot = index.snapshot().unwrap();
        let fresh = TantivyIndex::open(folder.path(), STORE).unwrap().snapshot().unwrap();
        let mut answers = Vec::new();
        for filter in filters {
            let allowed: RoaringTreemap =
                live.values().filter(|record| filter.allows(record)).map(|record| record.id.key()).collect();
            prop_assert_eq!(&snapshot.matching(filter).unwrap(), &allowed, "step {}, {:?}", step, filter);
            prop_assert_eq!(&fresh.matching(filter).unwrap(), &allowed, "step {}, {:?}", step, filter);
            let found = |snapshot: &dyn KeywordSnapshot| {
                snapshot.search(&KeywordQuery::new("word0 word1"), 1_000, filter, &RoaringTreemap::new(), None).unwrap()
            };
            prop_assert_eq!(found(&*snapshot), found(&*fresh), "step {}, {:?}", step, filter);
            answers.push(allowed);
        }
        before.push((snapshot, answers));
    }
    for (snapshot, answers) in before {
        for (filter, answer) in filters.iter().zip(answers) {
            prop_assert_eq!(snapshot.matching(filter).unwrap(), answer, "asked again, {:?}", filter);
        }
    }
    Ok(())
}

/// Adds, replaces and deletes some records.
fn change(
    index: &TantivyIndex,
    live: &mut BTreeMap<RecordId, Record>,
    random: &mut TextGenerator,
    next: &mut i64,
    applied: u64,
) {
    let mut upserts: Vec<Record> = (0..random.below(30)).map(|_| varied(random, next)).collect();
    let touched: Vec<RecordId> = live.keys().copied().filter(|_| random.below(8) == 0).collect();
    let (replaced, deleted) = touched.split_at(touched.len() / 2);
    upserts.extend(replaced.iter().map(|&id| Record { id, ..varied(random, next) }));
    index.apply(&upserts, deleted, applied.into()).unwrap();
    deleted.iter().for_each(|id| drop(live.remove(id)));
    live.extend(upserts.into_iter().map(|record| (record.id, record)));
}
