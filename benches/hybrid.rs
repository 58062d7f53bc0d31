//! Latency of a whole hybrid search, from a query with its embedding to the records.
//!
//! Corpus: the whole bench corpus, default settings, 10 results. The embedding of the query is not included: that is
//! the model's time, not ours. Also: under a filter that 1 % pass, with its recall; under broad filters that are used
//! for the first time; right after a write, when the tail of the log is first indexed in memory; similar memories, as a
//! save reports them; and for the viewer of a project, against all records, also right after a publish.
//! `MEMORIST_BENCH_VIEWS=1` runs only the last, and `MEMORIST_BENCH_VIEWS=0` all others.
//! Run: `cargo bench --bench hybrid`; on one core: `taskset -c 0 cargo bench --bench hybrid`

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Explain, Filter, Mode, NewRecord, Query, RecordUpdate, Scope, Viewer};

const QUERIES: usize = 200;

/// Recall of the vector search under `filter`, which passes the records for which `allows` returns true.
fn recall(engine: &Engine, corpus: &Corpus, filter: &Filter, allows: impl Fn(&NewRecord) -> bool) -> f64 {
    let mut found = 0;
    let mut wanted = 0;
    for (text, vector) in &corpus.queries[..QUERIES] {
        let truth = corpus.nearest(vector, 10, |row| allows(&corpus.texts[row]));
        let query = Query { mode: Mode::Vector, filter: filter.clone(), ..Query::new(text.as_str()) };
        let reply = engine.search_with(&query, Some(vector.clone())).expect("searches");
        found += reply.hits.iter().filter(|hit| truth.contains(&(hit.record.id.get() as usize - 1))).count();
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

/// Broad filters, each for the first time: the cost of a search before its filter is cached.
fn new_filters(engine: &Engine, corpus: &Corpus) {
    let moment = memorist_engine::now();
    common::percentiles("a broad filter for the first time", 300, |at| {
        let filter = Filter { min_importance: Some(3), created_before: Some(moment + at as i64), ..Filter::default() };
        let (text, vector) = &corpus.queries[at];
        engine.search_with(&Query { filter, ..Query::new(text.as_str()) }, Some(vector.clone())).expect("searches");
    });
}

/// Times the search for similar memories, which `memory_add` does beside saving: by vector and keywords, as after its
/// embedding was made; and by the keywords of long texts. In a copy of the store, because the long texts are saved.
fn resembling(store: &Path, corpus: &Corpus) {
    let folder = tempfile::tempdir_in(store.parent().expect("a folder of stores")).expect("a folder");
    copy(store, folder.path());
    let engine = Engine::open(folder.path(), common::read_only_config()).expect("the copy");
    common::percentiles("what resembles a memory", 1_000, |at| {
        let id = 1 + (at * 7_919 % corpus.texts.len()) as i64;
        engine.viewed_by(&Viewer::OWNER).similar(id.into(), 3).expect("searches");
    });
    for kib in [1, 8, 64] {
        let ids: Vec<_> = (0..50)
            .map(|at| {
                let texts = corpus.texts.iter().cycle().skip(at * 997).map(|record| record.content.as_str());
                let mut long = texts.take(2_000).collect::<Vec<_>>().join(" ");
                long.truncate(long.floor_char_boundary(kib << 10));
                engine.add(&NewRecord::new(long)).expect("a record").id
            })
            .collect();
        common::percentiles(&format!("what resembles a text of {kib} KiB, by its words"), 50, |at| {
            engine.viewed_by(&Viewer::OWNER).similar(ids[at], 3).expect("searches");
        });
    }
}

/// The first search after a write, with this many records in the unapplied tail. In a copy of the store, whose indexes
/// are not written.
fn after_a_write(store: &Path, corpus: &Corpus) {
    for tail in [1, 100, 1_000] {
        let folder = tempfile::tempdir_in(store.parent().expect("a folder of stores")).expect("a folder");
        copy(store, folder.path());
        let engine = Engine::open(folder.path(), common::read_only_config()).expect("the copy");
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

/// Two of twenty records belong to one project, ten to another, one is global; the projects of the others do not
/// matter.
fn project_of(row: usize) -> Option<String> {
    let place = (row as u32).wrapping_mul(0x9e37_79b1) >> 16;
    match place % 20 {
        0..=1 => Some("a tenth".into()),
        2..=11 => Some("a half".into()),
        12 => None,
        _ => Some("elsewhere".into()),
    }
}

/// The cost of a project's viewer. Searches of all records and of two projects take turns: first with everything
/// cached, then each right after a publish that replaced a record and added one. In a copy of the store, whose indexes
/// nobody else writes.
fn views(mut corpus: Corpus) {
    corpus.name += "-in-projects";
    for (row, record) in corpus.texts.iter_mut().enumerate() {
        record.scope = Scope { project: project_of(row), ..Scope::default() };
    }
    let store = common::store(&corpus);
    let folder = tempfile::tempdir_in(store.parent().expect("a folder of stores")).expect("a folder");
    copy(&store, folder.path());
    let engine = Engine::open(folder.path(), common::read_only_config()).expect("the copy");
    let seen_by = |project: &str| Filter::of(Viewer::in_project(project));
    let views = [("all", Filter::default()), ("a tenth", seen_by("a tenth")), ("a half", seen_by("a half"))];
    let timed = |at: usize, filter: &Filter| {
        let (text, vector) = &corpus.queries[at % corpus.queries.len()];
        let query = Query { filter: filter.clone(), ..Query::new(text.as_str()) };
        let explain = engine.search_with(&query, Some(vector.clone())).expect("searches").explain;
        let Explain { total_us, filter_us, vector_us, keyword_us, merge_us, load_us, .. } = explain;
        [total_us, filter_us, vector_us, keyword_us, merge_us, load_us].map(Duration::from_micros)
    };
    let publish = |at: usize| {
        let importance = Some(1 + (at % 10) as i64);
        let id = 1 + (at * 7_919 % corpus.texts.len()) as i64;
        engine
            .viewed_by(&Viewer::OWNER)
            .update(id.into(), &RecordUpdate { importance, ..RecordUpdate::default() })
            .expect("a record");
        engine.add(&NewRecord::new(format!("a memory of its own, number {at}"))).expect("a record");
        engine.flush(&NoProgress).expect("applies");
    };
    for (name, filter) in &views {
        let allows = |record: &NewRecord| {
            filter.is_empty() || record.scope.project.as_deref().is_none_or(|project| project == *name)
        };
        let recall = recall(&engine, &corpus, filter, allows);
        eprintln!("the view of {name}: recall@10 of the vector side {recall:.4}");
    }
    let turns = |what: &str, rounds: usize, before: &dyn Fn(usize)| {
        let mut times = views.each_ref().map(|_| Vec::with_capacity(rounds));
        for round in 0..rounds {
            for (view, (_, filter)) in views.iter().enumerate() {
                before(round * views.len() + view);
                times[view].push(timed(round, filter));
            }
        }
        let whole = median(&times[0], 0);
        for ((name, _), times) in views.iter().zip(times) {
            let ratio = median(&times, 0).as_secs_f64() / whole.as_secs_f64();
            let what = format!("the view of {name}, {what}, {ratio:.2} times that of all");
            let [filter, meaning, words, merge, load] = [1, 2, 3, 4, 5].map(|part| median(&times, part));
            common::report(&what, times.into_iter().map(|parts| parts[0]).collect());
            eprintln!(
                "    of which, p50: the filter {filter:?}, meaning {meaning:?}, words {words:?}, \
                 merging {merge:?}, loading {load:?}"
            );
        }
    };
    turns("cached", 1_000, &|_| ());
    turns("right after a publish", 100, &publish);
}

fn median<const PARTS: usize>(times: &[[Duration; PARTS]], part: usize) -> Duration {
    let mut times: Vec<Duration> = times.iter().map(|parts| parts[part]).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn hybrid(criterion: &mut Criterion) {
    let only_views = std::env::var("MEMORIST_BENCH_VIEWS").ok();
    if only_views.as_deref() != Some("0") {
        views(Corpus::new(common::count()));
    }
    if only_views.as_deref() == Some("1") {
        return;
    }
    let corpus = Corpus::new(common::count());
    let store = common::store(&corpus);
    let engine = Engine::open(&store, common::config()).expect("the store");
    new_filters(&engine, &corpus);
    after_a_write(&store, &corpus);
    resembling(&store, &corpus);
    let tagged = one_percent(&corpus);
    let mut group = criterion.benchmark_group("hybrid");
    for (name, filter) in [("no filter", Filter::default()), ("1 % filter", tagged)] {
        let ask = |at: usize| {
            let (text, vector) = &corpus.queries[at % corpus.queries.len()];
            let query = Query { filter: filter.clone(), ..Query::new(text.as_str()) };
            engine.search_with(&query, Some(vector.clone())).expect("searches")
        };
        let allows =
            |record: &NewRecord| filter.tags.is_empty() || record.tags.iter().any(|tag| filter.tags.contains(tag));
        let first = ask(0);
        eprintln!(
            "{name}: {} results, {} records allowed, recall@10 of the vector side {:.4}",
            first.hits.len(),
            first.explain.allowed.unwrap_or(corpus.texts.len() as u64),
            recall(&engine, &corpus, &filter, allows)
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
