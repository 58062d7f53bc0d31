//! Latency of a chain and a digest in a large store, and the cost of excluding superseded records from a search.
//!
//! Corpus: the whole bench corpus, half of it global and half in ten projects, with twice as many links: 150,000 between
//! random pairs, 30,000 that supersede, 20 hubs of 1,000. All chains are of depth 3.
//! Run: `cargo bench --bench graph`

mod common;

use std::time::{Duration, Instant};

use common::Corpus;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use memorist_engine::Engine;
use memorist_engine::types::{
    ChainQuery, DigestQuery, Direction, Link, LinkKind, OutdatedQuery, Query, RecordId, Scope, Viewer,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PROJECTS: usize = 10;
const HUBS: usize = 20;
const CALLS: usize = 1_000;

/// The bench corpus as ten projects would share it.
fn corpus() -> Corpus {
    let mut corpus = Corpus::new(common::count());
    corpus.name.push_str("-linked");
    for (at, record) in corpus.texts.iter_mut().enumerate().filter(|(at, _)| at % 2 == 1) {
        record.scope = Scope { agent: None, project: Some(project(at / 2 % PROJECTS)) };
    }
    corpus
}

fn project(at: usize) -> String {
    format!("project {at}")
}

/// The hubs are the first records.
fn links(records: usize) -> Vec<Link> {
    let mut random = ChaCha8Rng::seed_from_u64(common::SEED);
    let mut pick = |kinds: &[LinkKind], from: Option<i64>| {
        let (one, other) = (random.random_range(1..=records as i64), random.random_range(1..records as i64));
        let from = from.unwrap_or(one);
        let to = if other < from { other } else { other + 1 };
        let (from, to) = (RecordId::from(from), RecordId::from(to));
        let kind = kinds[random.random_range(0..kinds.len())];
        // A hub is one to which links lead as well as from which.
        if random.random() { Link { from, to, kind } } else { Link { from: to, to: from, kind } }
    };
    let others = [LinkKind::Caused, LinkKind::Related, LinkKind::Implements, LinkKind::Contradicts];
    let mut links: Vec<Link> = (0..records * 3 / 2).map(|_| pick(&others, None)).collect();
    links.extend((0..records * 3 / 10).map(|_| pick(&[LinkKind::Supersedes], None)));
    for hub in 1..=HUBS {
        links.extend((0..records / 100).map(|_| pick(&others, Some(hub as i64))));
    }
    links
}

fn store(corpus: &Corpus) -> Engine {
    let engine = Engine::open(common::store(corpus), common::config()).expect("the store");
    // Links are created once: the first one shows whether they exist.
    let links = links(corpus.texts.len());
    if engine.link(links[0], &Viewer::OWNER).expect("links") {
        eprintln!("making {} links", links.len());
        for chunk in links.chunks(10_000) {
            engine.link_batch(chunk, &Viewer::OWNER).expect("links");
        }
    }
    engine
}

fn chains(engine: &Engine, records: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(common::SEED + 1);
    for direction in Direction::ALL {
        for (from, starts) in [("any memory", 1..=records), ("a hub", 1..=HUBS)] {
            // 50 is the default of the tool.
            for (limit, calls) in [(50, CALLS), (1_000, CALLS / 10)] {
                let (mut hops, mut cut) = (0, 0);
                common::percentiles(&format!("chain {direction} from {from}, {limit} at most"), calls, |_| {
                    let start = RecordId::from(random.random_range(starts.clone()) as i64);
                    let query = ChainQuery { direction, limit, ..ChainQuery::new(start, Viewer::OWNER) };
                    let chain = engine.chain(&query).expect("a chain");
                    hops += chain.hops.len();
                    cut += usize::from(chain.truncated);
                });
                let calls = calls + 100;
                eprintln!("    {} memories on average, cut in {} % of the calls", hops / calls, cut * 100 / calls);
            }
        }
    }
    let viewer = Viewer::in_project(project(1));
    common::percentiles("chain both from a hub, seen from a project", CALLS, |at| {
        let start = RecordId::from((at % HUBS + 1) as i64);
        engine.chain(&ChainQuery::new(start, viewer.clone())).expect("a chain");
    });
}

fn digests(engine: &Engine) {
    let whole = DigestQuery::default();
    let from_project = DigestQuery { viewer: Viewer::in_project(project(1)), ..DigestQuery::default() };
    let of_project = DigestQuery { project: Some(project(1)), ..from_project.clone() };
    for (name, query) in [("of all", whole), ("of what a project sees", from_project), ("of a project", of_project)] {
        let digest = engine.digest(&query).expect("a digest");
        eprintln!("{} memories, {} outdated, {:?}", digest.total, digest.outdated, digest.by_kind);
        common::percentiles(&format!("digest {name}"), CALLS, |_| drop(engine.digest(&query).expect("a digest")));
    }
    for project in [None, Some(project(1))] {
        let query = OutdatedQuery { project, before: None, limit: 50, viewer: Viewer::OWNER };
        common::percentiles(&format!("50 outdated, project {:?}", query.project), CALLS, |_| {
            engine.outdated(&query).expect("a list");
        });
    }
}

/// Each query in both ways, alternating, so that other load on the machine affects both alike.
fn leaving_out(engine: &Engine, corpus: &Corpus) {
    let mut times = [Vec::new(), Vec::new()];
    for at in 0..2 * CALLS {
        let (text, vector) = &corpus.queries[at % corpus.queries.len()];
        for turn in 0..2 {
            let include_superseded = (at + turn) % 2 == 0;
            let query = Query { include_superseded, ..Query::new(text.as_str()) };
            let started = Instant::now();
            engine.search_with(&query, Some(vector.clone())).expect("searches");
            times[usize::from(include_superseded)].push(started.elapsed());
        }
    }
    let median = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    let ratio = median(&times[0]) / median(&times[1]);
    let [without, with] = times;
    common::report("search with what is superseded", with);
    common::report("search without", without);
    eprintln!("    {ratio:.3} times");
}

/// The first search after a link that supersedes was created or removed: the superseded records are read again.
fn after_a_link(engine: &Engine, corpus: &Corpus) {
    let link = Link { from: 1.into(), to: 2.into(), kind: LinkKind::Supersedes };
    let timed = |at: usize| {
        if !engine.unlink(link, &Viewer::OWNER).expect("unlinks") {
            engine.link(link, &Viewer::OWNER).expect("links");
        }
        let (text, vector) = &corpus.queries[at];
        let started = Instant::now();
        engine.search_with(&Query::new(text.as_str()), Some(vector.clone())).expect("searches");
        started.elapsed()
    };
    common::report("search after such a link changed", (0..100).map(timed).collect());
}

fn graph(criterion: &mut Criterion) {
    let corpus = corpus();
    let engine = store(&corpus);
    chains(&engine, corpus.texts.len());
    digests(&engine);
    leaving_out(&engine, &corpus);
    after_a_link(&engine, &corpus);
    let mut group = criterion.benchmark_group("graph");
    group.bench_function(BenchmarkId::new("chain from a hub", corpus.texts.len()), |bench| {
        bench.iter(|| engine.chain(&ChainQuery::new(1.into(), Viewer::OWNER)).expect("a chain"));
    });
    group.bench_function(BenchmarkId::new("digest", corpus.texts.len()), |bench| {
        bench.iter(|| engine.digest(&DigestQuery::default()).expect("a digest"));
    });
    group.finish();
}

criterion_group!(benches, graph);
criterion_main!(benches);
