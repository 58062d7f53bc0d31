//! The measurements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::{Config, ServerAddress, TeamSettings};
use memorist_engine::embed::{Embedder, HashEmbedder};
use memorist_engine::progress::NoProgress;
use memorist_engine::team::TeamServer;
use memorist_engine::types::{Filter, NewRecord, Query, Viewer};
use postgres_testing::{Cluster, Database, Options};
use tempfile::TempDir;

use crate::common::{self, Corpus};

/// Duration of each measurement.
const SPAN: Duration = Duration::from_secs(5);
const WRITERS: [usize; 6] = [1, 2, 4, 8, 16, 32];
const SEARCHED: usize = 20_000;
const FRESH: usize = 100_000;

fn team_store(cluster: &Cluster) -> Database<'_> {
    cluster.database_from("team", |address| {
        TeamServer::new(ServerAddress::parse(address).expect("an address")).init().expect("a team store");
    })
}

/// A node in a folder that goes with it.
struct Node {
    engine: Engine,
    _folder: TempDir,
}

impl Node {
    fn open(team: &Database<'_>, config: Config, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let mut config = config;
        let address = ServerAddress::parse(&team.address()).expect("an address");
        config.team = Some(TeamSettings::new(address, "bench"));
        let engine = match embedder {
            Some(embedder) => Engine::open_with_embedder(folder.path(), config, embedder),
            None => Engine::open(folder.path(), config),
        };
        Node { engine: engine.expect("a node"), _folder: folder }
    }

    fn of_words(team: &Database<'_>) -> Self {
        Self::open(team, common::config(), None)
    }
}

fn adds(cluster: &Cluster) {
    for nodes in [1, 4] {
        for writers in WRITERS.into_iter().filter(|writers| *writers >= nodes) {
            let team = team_store(cluster);
            let nodes: Vec<Node> = (0..nodes).map(|_| Node::of_words(&team)).collect();
            nodes.iter().for_each(|node| drop(node.engine.stats(&Filter::default()).expect("a first pull")));
            let started = Instant::now();
            let times: Vec<Duration> = thread::scope(|scope| {
                let all: Vec<_> = (0..writers)
                    .map(|writer| {
                        let engine = &nodes[writer % nodes.len()].engine;
                        scope.spawn(move || {
                            let mut times = Vec::new();
                            while started.elapsed() < SPAN {
                                let text = format!("Writer {writer} saves its memory {} here", times.len());
                                let began = Instant::now();
                                engine.add(&NewRecord::new(text)).expect("a record");
                                times.push(began.elapsed());
                            }
                            times
                        })
                    })
                    .collect();
                all.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect()
            });
            let rate = times.len() as f64 / started.elapsed().as_secs_f64();
            // The server counts them a little later.
            thread::sleep(Duration::from_millis(1_100));
            let ended = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()";
            let retries: i64 = team.client().query_one(ended, &[]).expect("a count").get(0);
            let what = format!("{writers} writers on {} nodes: {rate:.0} adds/s, {retries} retries", nodes.len());
            common::report(&what, times);
        }
    }
}

/// How long the first read on another node takes that begins when a write is acknowledged: it finds it, or panics.
fn visible(cluster: &Cluster) {
    let team = team_store(cluster);
    let [writer, reader, third] = [(); 3].map(|()| Node::of_words(&team));
    for load in [0_u64, 150] {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            if load > 0 {
                scope.spawn(|| {
                    let mut at = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        at += 1;
                        third.engine.add(&NewRecord::new(format!("Load {load}, number {at}"))).expect("a record");
                        thread::sleep(Duration::from_micros(1_000_000 / load).saturating_sub(Duration::from_millis(5)));
                    }
                });
            }
            let timed = |at| {
                let id = writer.engine.add(&NewRecord::new(format!("Beside {load}: {at}"))).expect("a record").id;
                let started = Instant::now();
                reader.engine.viewed_by(&Viewer::OWNER).get(id).expect("it was acknowledged");
                started.elapsed()
            };
            common::report(
                &format!("acknowledged to read on another node, {load} writes/s beside"),
                (0..500).map(timed).collect(),
            );
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

fn search(cluster: &Cluster) {
    let corpus = Corpus::new(SEARCHED);
    let local = Engine::open_with_embedder(common::store(&corpus), common::config(), common::embedder(&corpus));
    let local = local.expect("the local store");
    let team = team_store(cluster);
    let node = Node::open(&team, common::config(), Some(common::embedder(&corpus)));
    let started = Instant::now();
    for chunk in corpus.texts.chunks(2_000) {
        node.engine.add_batch(chunk).expect("records");
    }
    eprintln!("{SEARCHED} memories added in batches: {:.1} s", started.elapsed().as_secs_f64());
    node.engine.embed_pending(&NoProgress).expect("embeds");
    node.engine.flush(&NoProgress).expect("applies");
    eprintln!("and embedded and applied: {:.1} s", started.elapsed().as_secs_f64());
    let mut client = team.client();
    let pulls = || node.engine.node().expect("a node").pulls as f64;
    let before = pulls();
    let (mut of_local, mut of_node, mut of_trip) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (text, vector)) in corpus.queries.iter().enumerate() {
        let query = Query::new(text.as_str());
        let ask = |engine: &Engine| {
            let began = Instant::now();
            engine.search_with(&query, Some(vector.clone())).expect("searches");
            began.elapsed()
        };
        let times = if at % 2 == 0 {
            let first = ask(&local);
            (first, ask(&node.engine))
        } else {
            let second = ask(&node.engine);
            (ask(&local), second)
        };
        let began = Instant::now();
        client.simple_query("SELECT 1").expect("an answer");
        if at >= 100 {
            of_local.push(times.0);
            of_node.push(times.1);
            of_trip.push(began.elapsed());
        }
    }
    eprintln!("{:.1} pulls for a search", (pulls() - before) / corpus.queries.len() as f64);
    let middle = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    let (own, there, trip) = (middle(&of_local), middle(&of_node), middle(&of_trip));
    common::report("hybrid search, a local store", of_local);
    common::report("hybrid search, a node", of_node);
    common::report("a round trip to the server", of_trip);
    eprintln!("a node takes {:.2} times as long, without the round trip", (there - trip) / own);
}

fn pulls(cluster: &Cluster) {
    let team = team_store(cluster);
    for count in [1, 4, 8] {
        let nodes: Vec<Node> = (0..count).map(|_| Node::of_words(&team)).collect();
        let id = nodes[0].engine.add(&NewRecord::new("something")).expect("a record").id;
        let pulled = AtomicUsize::new(0);
        let started = Instant::now();
        thread::scope(|scope| {
            for node in &nodes {
                let pulled = &pulled;
                scope.spawn(move || {
                    while started.elapsed() < SPAN {
                        node.engine.viewed_by(&Viewer::OWNER).get(id).expect("a record");
                        pulled.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let rate = pulled.into_inner() as f64 / started.elapsed().as_secs_f64();
        eprintln!("{count} nodes that read: {rate:.0} pulls/s");
    }
}

/// The server is filled by itself, in seconds; its triggers are left out, as they are for what a node compares.
fn fresh(cluster: &Cluster) {
    let team = team_store(cluster);
    let embedder = Arc::new(HashEmbedder::new(384));
    // The model is known from a memory that was embedded.
    let first = Node::open(&team, common::config(), Some(embedder.clone()));
    first.engine.add(&NewRecord::new("the first")).expect("a record");
    first.engine.embed_pending(&NoProgress).expect("embeds");
    drop(first);
    team.execute(&format!(
        "SET session_replication_role = replica; SET search_path = memorist, pg_catalog;
         INSERT INTO embeddings (model_id, hash, vector)
             SELECT e.model_id, sha256(('e' || n)::bytea), (SELECT string_agg(sha256((n || ' ' || p)::bytea), '') FROM generate_series(1, octet_length(e.vector) / 32) p)
             FROM generate_series(1, {FRESH}) n, (SELECT * FROM embeddings LIMIT 1) e;
         INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, content_hash,
                 embedding_hash, embedding_id, source, tags, content)
             SELECT substr(sha256(('u' || n)::bytea), 1, 16), 1, 0, 1, 5, 1, 1700000000000 + n, 1700000000000 + n,
                 sha256(('c' || n)::bytea), e.hash, e.id, 'bench', '[\"a tag\"]',
                 'Memory ' || n || ' says ' || (SELECT string_agg(md5(n || ' ' || p), ' ') FROM generate_series(1, 4) p)
             FROM generate_series(1, {FRESH}) n JOIN embeddings e ON e.hash = sha256(('e' || n)::bytea);
         ANALYZE;"
    ));
    for round in 1..=2 {
        let started = Instant::now();
        let node = Node::open(&team, common::read_only_config(), Some(embedder.clone()));
        let total = node.engine.stats(&Filter::default()).expect("stats").total;
        let took = started.elapsed().as_secs_f64();
        assert_eq!(total as usize, FRESH + 1, "the copy is whole");
        eprintln!("a fresh node of {FRESH} memories, round {round}: {took:.1} s");
    }
}

pub fn measure() {
    let parts = std::env::var("MEMORIST_BENCH_PARTS").unwrap_or_default();
    let Some(cluster) = postgres_testing::start("benches/team", Options::default()) else { return };
    cluster.set("shared_buffers", "256MB");
    cluster.restart();
    type Part = (&'static str, fn(&Cluster));
    let all: [Part; 5] = [("adds", adds), ("visible", visible), ("search", search), ("pulls", pulls), ("fresh", fresh)];
    for (name, part) in all {
        if parts.is_empty() || parts.split(',').any(|wanted| wanted == name) {
            part(&cluster);
        }
    }
}
