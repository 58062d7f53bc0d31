//! Recall and latency of the vector search.
//!
//! Corpus: the whole bench corpus, 10 nearest, one search at a time. Recall@10 against a full scan is printed beside
//! latency percentiles: for a series of `ef` values, for the named qualities, and for the pool of 50 of a hybrid
//! search; among all vectors, and under filters that pass half, a tenth, a hundredth and a thousandth. Criterion times
//! the same among all, and the default quality under each filter.
//! Run: `cargo bench --bench ann`; on one core: `taskset -c 0 cargo bench --bench ann`

mod common;

use std::hint::black_box;
use std::sync::Arc;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_index::{Effort, Filter, Hit, Reader, SearchParams, Snapshot};
use roaring::RoaringTreemap;

const K: usize = 10;
const QUERIES: usize = 200;
/// Number of searches for the percentiles.
const TIMED: usize = 2_000;

struct Bench {
    corpus: Corpus,
    index: Arc<Snapshot>,
}

/// A filter, and the expected results.
struct Task {
    name: &'static str,
    /// `None` for all.
    allowed: Option<RoaringTreemap>,
    /// The nearest rows of each query.
    truths: Vec<Vec<usize>>,
}

impl Bench {
    /// Passes every `step`th record. The ids of the store are the rows plus 1.
    fn task(&self, name: &'static str, step: usize) -> Task {
        let passes = |row: usize| (row + 1).is_multiple_of(step);
        let allowed =
            (step > 1).then(|| (0..self.corpus.texts.len()).filter(|row| passes(*row)).map(|row| row as u64 + 1));
        let queries = self.corpus.queries[..QUERIES].iter();
        Task {
            name,
            allowed: allowed.map(Iterator::collect),
            truths: queries.map(|(_, query)| self.corpus.nearest(query, K, passes)).collect(),
        }
    }

    fn search(&self, at: usize, params: &SearchParams, task: &Task) -> Vec<Hit> {
        let filter = task.allowed.as_ref().map_or(Filter::All, |keys| Filter::Only(keys));
        self.index.search(&self.corpus.queries[at % QUERIES].1, params, filter).expect("searches")
    }

    fn recall(&self, params: &SearchParams, task: &Task) -> f64 {
        let found = task.truths.iter().enumerate().map(|(at, truth)| {
            let hits = self.search(at, params, task);
            hits.iter().take(K).filter(|hit| truth.contains(&(hit.key as usize - 1))).count()
        });
        let wanted: usize = task.truths.iter().map(Vec::len).sum();
        found.sum::<usize>() as f64 / wanted as f64
    }
}

fn efforts() -> Vec<(String, SearchParams)> {
    let ladder = [10, 20, 40, 80, 160, 320].map(|ef| (format!("ef {ef}"), Effort::Ef(ef)));
    let levels = [("fast", Effort::FAST), ("balanced", Effort::BALANCED), ("high", Effort::HIGH)];
    let levels = levels.map(|(name, effort)| (name.to_owned(), effort));
    let all = ladder.into_iter().chain(levels).chain([("exact".to_owned(), Effort::Exact)]);
    let all = all.map(|(name, effort)| (name, SearchParams { k: K, effort }));
    all.chain([("balanced, pool of 50".to_owned(), SearchParams::new(50))]).collect()
}

fn ann(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count());
    let reader = Reader::open(common::store(&corpus).join("vectors")).expect("the index of the store");
    let bench = Bench { corpus, index: reader.snapshot() };
    eprintln!("{} vectors in {} segments", bench.index.len(), bench.index.segment_count());

    let tasks = [("all", 1), ("50 %", 2), ("10 %", 10), ("1 %", 100), ("0.1 %", 1_000)];
    let tasks = tasks.map(|(name, step)| bench.task(name, step));
    for task in &tasks {
        for (name, params) in efforts() {
            let what = format!("{:<5} {name:<20} recall@{K} {:.4}", task.name, bench.recall(&params, task));
            let calls = if params.effort == Effort::Exact { QUERIES } else { TIMED };
            common::percentiles(&what, calls, |at| drop(black_box(bench.search(at, &params, task))));
        }
    }

    let mut group = criterion.benchmark_group("ann");
    let mut at = 0;
    let mut time = |name: String, params: &SearchParams, task: &Task| {
        group.bench_function(BenchmarkId::new(name, bench.index.len()), |bencher| {
            bencher.iter(|| {
                at += 1;
                bench.search(at, params, task)
            });
        });
    };
    for (name, params) in efforts().into_iter().filter(|(_, params)| params.effort != Effort::Exact) {
        time(name, &params, &tasks[0]);
    }
    for task in &tasks[1..] {
        time(format!("{} allowed", task.name), &SearchParams::new(K), task);
    }
    group.finish();
}

criterion_group!(benches, ann);
criterion_main!(benches);
