//! How long does a whole hybrid search take, from a query with its embedding to the records?
//!
//! Corpus: the whole bench corpus, default settings, 10 results. The embedding of the query is not in it: that is the
//! model's time, not ours. Also: under a filter that 1 % pass, and how much of the exact answer is found.
//! Run: `cargo bench --bench hybrid`; on one core: `taskset -c 0 cargo bench --bench hybrid`

mod common;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_engine::types::{Filter, Mode, Query};

const QUERIES: usize = 200;

fn recall(engine: &Engine, corpus: &Corpus, filter: &Filter) -> f64 {
    let mut found = 0;
    let mut wanted = 0;
    for (text, vector) in &corpus.queries[..QUERIES] {
        let truth = corpus.nearest(vector, 10, |row| {
            let record = &corpus.texts[row];
            (filter.tags.is_empty() || record.tags.iter().any(|tag| filter.tags.contains(tag)))
                && filter.min_importance.is_none_or(|least| record.importance >= least)
        });
        let query = Query { mode: Mode::Vector, filter: filter.clone(), ..Query::new(text.as_str()) };
        let reply = engine.search_with(&query, Some(vector.clone())).expect("searches");
        found += reply.hits.iter().filter(|hit| truth.contains(&(hit.record.id as usize - 1))).count();
        wanted += truth.len();
    }
    found as f64 / wanted as f64
}

/// A filter that about one in a hundred passes.
fn one_percent(corpus: &Corpus) -> Filter {
    let mut tags = std::collections::BTreeMap::<&str, usize>::new();
    for tag in corpus.texts.iter().flat_map(|record| &record.tags) {
        *tags.entry(tag).or_default() += 1;
    }
    let wanted = corpus.texts.len() / 100;
    let nearest = tags.into_iter().min_by_key(|(_, count)| count.abs_diff(wanted));
    Filter { tags: nearest.into_iter().map(|(tag, _)| tag.to_owned()).collect(), ..Filter::default() }
}

fn hybrid(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count());
    let engine = Engine::open(common::store(&corpus), common::config()).expect("the store");
    let tagged = one_percent(&corpus);
    let mut group = criterion.benchmark_group("hybrid");
    for (name, filter) in [("no filter", Filter::default()), ("1 % filter", tagged)] {
        let ask = |at: usize| {
            let (text, vector) = &corpus.queries[at % corpus.queries.len()];
            let query = Query { filter: filter.clone(), ..Query::new(text.as_str()) };
            engine.search_with(&query, Some(vector.clone())).expect("searches")
        };
        let first = ask(0);
        eprintln!(
            "{name}: {} results, {} records allowed, recall@10 of the vector side {:.4}",
            first.hits.len(),
            first.explain.allowed.unwrap_or(corpus.texts.len() as u64),
            recall(&engine, &corpus, &filter)
        );
        common::percentiles(name, 1_000, |at| drop(ask(at)));
        let mut at = 0;
        group.bench_function(BenchmarkId::new(name, corpus.texts.len()), |bench| {
            bench.iter(|| {
                at += 1;
                ask(at)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hybrid);
criterion_main!(benches);
