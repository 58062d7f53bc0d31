//! Latency of a chain and a digest in a large store, and of what the explorer asks; and the cost of excluding superseded records
//! from a search.
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
    ChainQuery, DigestQuery, Direction, Filter, Link, LinkKind, ListOnly, ListOrder, ListQuery, Mode, OutdatedQuery,
    Query, RecordId, Scope, Viewer,
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
    if engine.viewed_by(&Viewer::OWNER).link(links[0]).expect("links") {
        eprintln!("making {} links", links.len());
        for chunk in links.chunks(10_000) {
            engine.viewed_by(&Viewer::OWNER).link_batch(chunk).expect("links");
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
        if !engine.viewed_by(&Viewer::OWNER).unlink(link).expect("unlinks") {
            engine.viewed_by(&Viewer::OWNER).link(link).expect("links");
        }
        let (text, vector) = &corpus.queries[at];
        let started = Instant::now();
        engine.search_with(&Query::new(text.as_str()), Some(vector.clone())).expect("searches");
        started.elapsed()
    };
    common::report("search after such a link changed", (0..100).map(timed).collect());
}

/// Times the functions of the explorer. The engine has a model that knows the texts of the corpus.
fn explored(corpus: &Corpus) {
    let engine =
        Engine::open_with_embedder(common::store(corpus), common::read_only_config(), common::embedder(corpus));
    let engine = engine.expect("the store");
    let text = |at: usize| {
        let record = &corpus.texts[at * 7 % corpus.texts.len()];
        memorist_engine::text::embedding_text(record.context.as_deref(), &record.content)
    };
    let calls = CALLS / 5;
    let found = (0..calls).filter(|at| {
        let id = RecordId::from((at * 11 + 1) as i64);
        engine.viewed_by(&Viewer::OWNER).why(id, &Query::new(text(*at))).expect("why").found
    });
    eprintln!("{} of {calls} are found", found.count());
    common::percentiles("why any memory is not found", calls, |at| {
        engine.viewed_by(&Viewer::OWNER).why(RecordId::from((at * 11 + 1) as i64), &Query::new(text(at))).expect("why");
    });
    common::percentiles("the search itself", calls, |at| {
        engine.search_unlogged(&Query::new(text(at))).expect("searches");
    });
    let beginning = |at: usize, letters: usize| {
        let words: Vec<&str> = corpus.queries[at % corpus.queries.len()].0.split_whitespace().collect();
        let last = words.iter().max_by_key(|word| word.len()).unwrap_or(&"a");
        let first = words.first().unwrap_or(&"a");
        format!("{first} {}", last.chars().take(letters).collect::<String>())
    };
    for letters in [2, 3, 4, 6] {
        for prefix in [false, true] {
            common::percentiles(&format!("{letters} letters typed, prefix {prefix}"), calls, |at| {
                let query = Query {
                    prefix,
                    mode: Mode::Keyword,
                    substring_tier: false,
                    limit: 30,
                    ..Query::new(beginning(at, letters))
                };
                engine.search_with(&query, None).expect("searches");
            });
        }
    }
    common::percentiles("timeline", 50, |_| drop(engine.timeline(&Filter::default(), 0).expect("a timeline")));
    let of_project = Filter::of(Viewer::in_project(project(1)));
    common::percentiles("timeline of a project", 50, |_| drop(engine.timeline(&of_project, 0).expect("a timeline")));
    let (mut before, mut groups, mut pages) = (None, 0, 0);
    common::percentiles("a page of duplicates", 100, |_| {
        let page = engine.viewed_by(&Viewer::OWNER).duplicates(before, 20).expect("a page");
        (before, groups, pages) = (page.next, groups + page.groups.len(), pages + 1);
    });
    eprintln!("    {groups} groups on {pages} pages, down to memory {before:?}");
    let mut after = RecordId::START;
    common::percentiles("a page of what nobody found", 50, |_| {
        let (_, next) = engine.viewed_by(&Viewer::OWNER).unused(i64::MAX, after, 20).expect("a page");
        after = next.unwrap_or(RecordId::START);
    });
    let mut after = RecordId::START;
    common::percentiles("a page of which all were found", 50, |_| {
        let (_, next) = engine.viewed_by(&Viewer::OWNER).unused(0, after, 20).expect("a page");
        after = next.unwrap_or(RecordId::START);
    });
    let mut after = RecordId::START;
    common::percentiles("20 that contradict others", 50, |_| {
        let page = engine.viewed_by(&Viewer::OWNER).contradictions(after, 20).expect("a page");
        after = page.last().map_or(RecordId::START, |(id, _)| *id);
    });
    let expiring =
        ListQuery { only: Some(ListOnly::Expiring), order: ListOrder::Expiry, limit: 20, ..ListQuery::default() };
    common::percentiles("20 that expire", 50, |_| {
        engine.list(&expiring).expect("a list");
    });
    common::percentiles("the links among 150 memories around a hub", calls, |at| {
        let start = RecordId::from((at % HUBS + 1) as i64);
        let chain = engine.chain(&ChainQuery { limit: 150, ..ChainQuery::new(start, Viewer::OWNER) }).expect("a chain");
        let ids: Vec<RecordId> = chain.hops.iter().map(|hop| hop.record.id).collect();
        engine.viewed_by(&Viewer::OWNER).links_among(&ids).expect("links");
    });
}

fn graph(criterion: &mut Criterion) {
    let corpus = corpus();
    let engine = store(&corpus);
    explored(&corpus);
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
