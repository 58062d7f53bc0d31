//! How long does a whole hybrid search take, from a query with its embedding to the records?
//!
//! Corpus: the whole bench corpus, default settings, 10 results. The embedding of the query is not in it: that is the
//! model's time, not ours. Also: under a filter that 1 % pass, and how much of the exact answer is found; under broad
//! filters that were never asked before; and right after a write, when the tail of the log is first indexed in memory.
//! Run: `cargo bench --bench hybrid`; on one core: `taskset -c 0 cargo bench --bench hybrid`

mod common;

use std::fs;
use std::path::Path;
use std::time::Instant;

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::types::{Filter, Mode, NewRecord, Query};

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

/// Broad filters, each for the first time: what a search costs before the answer to its filter is kept.
fn new_filters(engine: &Engine, corpus: &Corpus) {
    let moment = memorist_engine::now();
    common::percentiles("a broad filter for the first time", 300, |at| {
        let filter = Filter { min_importance: Some(3), created_before: Some(moment + at as i64), ..Filter::default() };
        let (text, vector) = &corpus.queries[at];
        engine.search_with(&Query { filter, ..Query::new(text.as_str()) }, Some(vector.clone())).expect("searches");
    });
}

/// The first search after a write, with so many records in the unapplied tail. In a copy of the store, of which no
/// index is written.
fn after_a_write(store: &Path, corpus: &Corpus) {
    for tail in [1, 100, 1_000] {
        let folder = tempfile::tempdir_in(store.parent().expect("a folder of stores")).expect("a folder");
        copy(store, folder.path());
        let engine = Engine::open(folder.path(), Config { index_writer: false, ..common::config() }).expect("the copy");
        let fresh: Vec<NewRecord> = (0..tail)
            .map(|at| NewRecord { content: format!("{} again", corpus.texts[at].content), ..corpus.texts[at].clone() })
            .collect();
        engine.add_batch(&fresh).expect("records");
        let timed = |at: usize| {
            engine.add(&NewRecord::new(format!("a memory of its own, number {at}"))).expect("a record");
            let (text, vector) = &corpus.queries[at];
            let started = Instant::now();
            engine.search_with(&Query::new(text.as_str()), Some(vector.clone())).expect("searches");
            started.elapsed()
        };
        common::report(&format!("after a write, {tail} unapplied"), (0..50).map(timed).collect());
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        if path.is_dir() {
            fs::create_dir(to.join(&name)).expect("a folder");
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("copies");
        }
    }
}

fn hybrid(criterion: &mut Criterion) {
    let corpus = Corpus::new(common::count());
    let store = common::store(&corpus);
    let engine = Engine::open(&store, common::config()).expect("the store");
    new_filters(&engine, &corpus);
    after_a_write(&store, &corpus);
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
