//! The contract of every vector index, as one suite of tests that runs against each backend.

use std::sync::Arc;

use memorist_index::Layout;
use roaring::RoaringTreemap;

use super::exact::{best_first, cosine};
use super::hnsw::HnswIndex;
use super::{IdFilter, VectorBatch, VectorIndex};
use crate::passages::PassageKey;
use crate::progress::NoProgress;
use crate::quality::Quality;

const DIMS: usize = 24;

/// Unit vectors from a seed: a few directions with noise around them, as embeddings have.
fn vectors(count: usize, seed: u64) -> Vec<(PassageKey, Vec<f32>)> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u32 << 24) as f32 - 0.5
    };
    let centres: Vec<Vec<f32>> = (0..20).map(|_| (0..DIMS).map(|_| next()).collect()).collect();
    (0..count)
        .map(|at| {
            let centre = &centres[at % centres.len()];
            let raw: Vec<f32> = centre.iter().map(|c| c + 0.6 * next()).collect();
            (PassageKey::from(at as u64 + 1), unit(&raw))
        })
        .collect()
}

fn unit(raw: &[f32]) -> Vec<f32> {
    let norm = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.iter().map(|x| x / norm).collect()
}

fn upsert(vectors: &[(PassageKey, Vec<f32>)]) -> VectorBatch {
    batch(vectors, &[])
}

fn batch(upserts: &[(PassageKey, Vec<f32>)], deletes: &[u64]) -> VectorBatch {
    VectorBatch { upserts: upserts.to_vec(), deletes: deletes.iter().copied().map(PassageKey::from).collect() }
}

fn exact(vectors: &[(PassageKey, Vec<f32>)], query: &[f32], k: usize, filter: &IdFilter) -> Vec<(PassageKey, f32)> {
    let mut found: Vec<_> =
        vectors.iter().filter(|(id, _)| filter.allows(*id)).map(|(id, v)| (*id, cosine(query, v))).collect();
    best_first(&mut found, k);
    found
}

/// Recall of `found` against the exact result, counting equal scores as found.
fn recall(found: &[(PassageKey, f32)], exact: &[(PassageKey, f32)]) -> f64 {
    let Some((_, worst)) = exact.last() else { return 1.0 };
    let good = found.iter().filter(|(_, score)| *score >= worst - 2e-5).count();
    good.min(exact.len()) as f64 / exact.len() as f64
}

fn mean_recall(index: &dyn VectorIndex, all: &[(PassageKey, Vec<f32>)], filter: &IdFilter, quality: Quality) -> f64 {
    let snapshot = index.snapshot().unwrap();
    let queries = vectors(50, 99);
    let sum: f64 = queries
        .iter()
        .map(|(_, query)| {
            let found = snapshot.search(query, 10, filter, quality).unwrap();
            assert!(found.iter().all(|(id, _)| filter.allows(*id)));
            assert_eq!(found.len(), 10.min(filter.at_most(all.len())), "as many as there are");
            recall(&found, &exact(all, query, 10, filter))
        })
        .sum();
    sum / queries.len() as f64
}

/// Runs the whole suite; `make` returns an empty index for vectors of [`DIMS`] numbers.
fn suite(make: &dyn Fn() -> Arc<dyn VectorIndex>) {
    starts_empty(&*make());
    finds_what_was_added(&*make());
    recalls_like_the_exact_scan(&*make());
    replaces_and_deletes(&*make());
    applying_twice_is_applying_once(&*make());
    a_snapshot_never_changes(&*make());
    scores_exactly(&*make());
    survives_duplicates(&*make());
}

fn starts_empty(index: &dyn VectorIndex) {
    let snapshot = index.snapshot().unwrap();
    assert_eq!((snapshot.len(), snapshot.applied().get()), (0, 0));
    assert!(snapshot.search(&vectors(1, 1)[0].1, 10, &IdFilter::All, Quality::default()).unwrap().is_empty());
    assert_eq!(snapshot.scores(&vectors(1, 1)[0].1, &[1, 2].map(PassageKey::from)).unwrap(), [None, None]);
}

fn finds_what_was_added(index: &dyn VectorIndex) {
    let all = vectors(12, 2);
    index.apply(upsert(&all), 12.into()).unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!((snapshot.len(), snapshot.applied().get()), (12, 12));
    assert_eq!(snapshot.vector(13.into()), None);
    for (id, vector) in &all {
        assert!(cosine(&snapshot.vector(*id).unwrap(), vector) > 0.9999);
        let found = snapshot.search(vector, 3, &IdFilter::All, Quality::default()).unwrap();
        assert_eq!(found[0].0, *id);
        assert!((found[0].1 - 1.0).abs() < 1e-4, "{found:?}");
    }
    assert_eq!(
        snapshot.search(&all[0].1, 100, &IdFilter::All, Quality::default()).unwrap().len(),
        12,
        "k above the count"
    );
}

fn recalls_like_the_exact_scan(index: &dyn VectorIndex) {
    let all = vectors(4_000, 3);
    for (batch, chunk) in all.chunks(1_000).enumerate() {
        index.apply(upsert(chunk), (batch as u64 + 1).into()).unwrap();
        while index.maintain(&NoProgress).unwrap() {}
    }
    assert_eq!(index.verify().unwrap(), Vec::<String>::new());
    let only = |step: usize| IdFilter::Only((1..=4_000u64).step_by(step).collect());
    let except = IdFilter::Except((1..=4_000u64).filter(|id| id % 3 == 0).collect());
    for filter in [IdFilter::All, only(2), only(10), only(100), only(1_000), except] {
        let recall = mean_recall(index, &all, &filter, Quality::default());
        assert!(recall >= 0.95, "recall {recall} with {} allowed", filter.at_most(all.len()));
    }
    let recall = |quality| mean_recall(index, &all, &IdFilter::All, quality);
    assert_eq!(recall(Quality::Exact), 1.0);
    let [low, more, high] = [Quality::Ef(1), Quality::Ef(40), Quality::Ef(400)].map(recall);
    assert!(low <= more && more <= high && high >= 0.99, "{low} {more} {high}");
    for (quality, least) in [(Quality::Fast, 0.85), (Quality::High, 0.98), (Quality::Recall(0.98), 0.96)] {
        assert!(recall(quality) >= least, "{quality}: {}", recall(quality));
    }
    let nothing = IdFilter::Only(RoaringTreemap::new());
    assert!(index.snapshot().unwrap().search(&all[0].1, 10, &nothing, Quality::default()).unwrap().is_empty());
}

fn replaces_and_deletes(index: &dyn VectorIndex) {
    let before = vectors(600, 4);
    index.apply(upsert(&before), 1.into()).unwrap();
    let moved = (7.into(), unit(&[1.0; DIMS]));
    index.apply(batch(std::slice::from_ref(&moved), &[8, 9, 12_345]), 2.into()).unwrap();
    while index.maintain(&NoProgress).unwrap() {}
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.len(), 598);
    assert_eq!(snapshot.keys(), (1..=600u64).filter(|id| *id != 8 && *id != 9).collect());
    assert_eq!(snapshot.search(&moved.1, 1, &IdFilter::All, Quality::default()).unwrap()[0].0, 7.into());
    for (gone, vector) in &before[7..9] {
        let found = snapshot.search(vector, 598, &IdFilter::All, Quality::default()).unwrap();
        assert!(found.iter().all(|(id, _)| id != gone), "{gone} is deleted");
        assert_eq!(snapshot.scores(vector, &[*gone]).unwrap(), [None]);
    }
    let old_place = snapshot.search(&before[6].1, 598, &IdFilter::All, Quality::default()).unwrap();
    let score = old_place.iter().find(|(id, _)| id.get() == 7).expect("still there, elsewhere").1;
    assert!((score - cosine(&before[6].1, &moved.1)).abs() < 1e-4, "scored by its new vector");
    assert_eq!(index.verify().unwrap(), Vec::<String>::new());
}

fn applying_twice_is_applying_once(index: &dyn VectorIndex) {
    let all = vectors(50, 5);
    index.apply(upsert(&all), 3.into()).unwrap();
    index.apply(upsert(&all), 3.into()).unwrap();
    index.apply(batch(&[], &[1]), 4.into()).unwrap();
    index.apply(batch(&[], &[1]), 4.into()).unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!((snapshot.len(), snapshot.applied().get()), (49, 4));
    let found = snapshot.search(&all[3].1, 50, &IdFilter::All, Quality::default()).unwrap();
    let distinct: std::collections::HashSet<_> = found.iter().map(|(id, _)| id).collect();
    assert_eq!((found.len(), distinct.len()), (49, 49));
}

fn a_snapshot_never_changes(index: &dyn VectorIndex) {
    let all = vectors(40, 6);
    index.apply(upsert(&all[..20]), 1.into()).unwrap();
    let before = index.snapshot().unwrap();
    let answer = before.search(&all[0].1, 40, &IdFilter::All, Quality::default()).unwrap();
    index.apply(batch(&all[20..], &[1, 2, 3]), 2.into()).unwrap();
    while index.maintain(&NoProgress).unwrap() {}
    assert_eq!(before.search(&all[0].1, 40, &IdFilter::All, Quality::default()).unwrap(), answer);
    assert_eq!((before.len(), before.applied().get()), (20, 1));
    assert_eq!(index.snapshot().unwrap().len(), 37);
}

fn scores_exactly(index: &dyn VectorIndex) {
    let all = vectors(300, 7);
    index.apply(upsert(&all), 1.into()).unwrap();
    let snapshot = index.snapshot().unwrap();
    let query = &vectors(1, 8)[0].1;
    let ids = [300, 1, 77, 9_999, 1].map(PassageKey::from);
    let scores = snapshot.scores(query, &ids).unwrap();
    for (id, score) in ids.iter().zip(scores) {
        match all.iter().find(|(known, _)| known == id) {
            Some((_, vector)) => assert!((score.unwrap() - cosine(query, vector)).abs() < 2e-5),
            None => assert_eq!(score, None),
        }
    }
}

fn survives_duplicates(index: &dyn VectorIndex) {
    let one = vectors(1, 9)[0].1.clone();
    let same: Vec<_> = (1..=3_000).map(|id| (PassageKey::from(id), one.clone())).collect();
    index.apply(upsert(&same), 1.into()).unwrap();
    while index.maintain(&NoProgress).unwrap() {}
    let found = index.snapshot().unwrap().search(&one, 20, &IdFilter::All, Quality::default()).unwrap();
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|(_, score)| (score - 1.0).abs() < 1e-4));
}

#[test]
fn exact_keeps_the_contract() {
    suite(&|| Arc::new(super::exact::ExactIndex::new("test model")));
}

#[cfg(feature = "hnsw-rs")]
#[test]
fn hnsw_rs_keeps_the_contract() {
    suite(&|| Arc::new(super::hnsw_rs::HnswRsIndex::new("test model")));
}

/// In the standard layout: a compact index confuses what is about equally near.
#[test]
fn ours_keeps_the_contract() {
    let folders = std::cell::RefCell::new(Vec::new());
    suite(&|| {
        let folder = tempfile::tempdir().unwrap();
        let index = HnswIndex::create(folder.path(), "test store", "test model", DIMS, Layout::Standard).unwrap();
        folders.borrow_mut().push(folder);
        Arc::new(index)
    });
}
