//! How long does a vector search take, and how much does it find?
//!
//! Corpus: the whole bench corpus, 10 nearest. Recall@10 against a full scan is printed beside the speed of each effort
//! `ef`, and for filters that let half, a tenth, a hundredth and a thousandth pass.
//! Run: `cargo bench --bench search`

mod common;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_index::{Effort, Filter, Reader, SearchParams, Snapshot};
use roaring::RoaringTreemap;

const K: usize = 10;
const QUERIES: usize = 200;

/// The ids of the store are the rows plus 1.
fn recall(corpus: &Corpus, index: &Snapshot, params: &SearchParams, allowed: Option<&RoaringTreemap>) -> f64 {
    let filter = || allowed.map_or(Filter::All, Filter::Only);
    let found: usize = corpus.queries[..QUERIES]
        .iter()
        .map(|(_, query)| {
            let passes = |row: usize| allowed.is_none_or(|allowed| allowed.contains(row as u64 + 1));
            let truth = corpus.nearest(query, K, passes);
            let hits = index.search(query, params, filter()).expect("searches");
            hits.iter().take(K).filter(|hit| truth.contains(&(hit.key as usize - 1))).count()
        })
        .sum();
    found as f64 / (QUERIES * K) as f64
}

fn search(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count());
    let reader = Reader::open(common::store(&corpus).join("vectors")).expect("the index of the store");
    let index = reader.snapshot();
    let mut at = (0..QUERIES).cycle();
    let mut next = || &corpus.queries[at.next().unwrap_or(0)].1;
    let mut group = criterion.benchmark_group("search");
    let efforts = [20, 40, 80, 160, 320].map(|ef| (format!("ef {ef}"), SearchParams { k: K, effort: Effort::Ef(ef) }));
    let pool = ("default, pool of 50".to_owned(), SearchParams { k: 50, effort: Effort::default() });
    for (name, params) in efforts.into_iter().chain([pool]) {
        eprintln!("{name}: recall@{K} {:.4}", recall(&corpus, &index, &params, None));
        group.bench_function(BenchmarkId::new(name, corpus.texts.len()), |bench| {
            bench.iter(|| index.search(next(), &params, Filter::All).expect("searches"));
        });
    }
    for (share, step) in [("50 %", 2), ("10 %", 10), ("1 %", 100), ("0.1 %", 1_000)] {
        let allowed: RoaringTreemap = (1..=corpus.texts.len() as u64).filter(|id| id % step == 0).collect();
        let params = SearchParams { k: 50, effort: Effort::default() };
        eprintln!("{share} allowed: recall@{K} {:.4}", recall(&corpus, &index, &params, Some(&allowed)));
        group.bench_function(BenchmarkId::new(format!("{share} allowed"), corpus.texts.len()), |bench| {
            bench.iter(|| index.search(next(), &params, Filter::Only(&allowed)).expect("searches"));
        });
    }
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
