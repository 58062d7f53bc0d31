use memorist_embed::HashEmbedder;

use super::*;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::Remedy;
use crate::progress::NoProgress;
use crate::types::{NewRecord, Seq};
use crate::vectors::exact::ExactIndex;
use crate::vectors::{VectorBatch, VectorIndex};
use roaring::RoaringTreemap;

const OPTIONS: BenchOptions = BenchOptions { queries: 20, limit: 10, seed: 7 };

/// Unit vectors on a spiral, so that each has neighbours of its own.
fn spiral(count: i64) -> Arc<dyn VectorSnapshot> {
    let vector = |id: i64| {
        let angle = id as f32 * 0.01;
        vec![angle.cos() * 0.8, angle.sin() * 0.8, 0.6]
    };
    filled((1..=count).map(|id| (PassageKey::from(id as u64), vector(id))).collect())
}

fn filled(upserts: Vec<(PassageKey, Vec<f32>)>) -> Arc<dyn VectorSnapshot> {
    let index = ExactIndex::new("test model");
    index.apply(VectorBatch { upserts, deletes: Vec::new() }, 1.into()).unwrap();
    index.snapshot().unwrap()
}

fn measured(index: &dyn VectorSnapshot, options: &BenchOptions, setting: Quality) -> VectorBench {
    Bench::new(index, options).unwrap().run(setting, &NoProgress).unwrap()
}

/// Misses half of the neighbours below `ef` 100, and one in ten at the fast level.
struct Lossy(Arc<dyn VectorSnapshot>);

impl VectorSnapshot for Lossy {
    fn backend(&self) -> Backend {
        self.0.backend()
    }

    fn applied(&self) -> Seq {
        self.0.applied()
    }

    fn wait_verified(&self, timeout: Duration) -> Result<bool> {
        self.0.wait_verified(timeout)
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn keys(&self) -> RoaringTreemap {
        self.0.keys()
    }

    fn further(&self) -> &RoaringTreemap {
        self.0.further()
    }

    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, quality: Quality) -> Result<Vec<(PassageKey, f32)>> {
        let mut found = self.0.search(query, 2 * k, filter, quality)?;
        let missed = match quality {
            Quality::Ef(0..100) => k / 2,
            Quality::Fast => 1,
            _ => 0,
        };
        // The query's own record is the first.
        found.drain(1..=missed);
        found.truncate(k);
        Ok(found)
    }

    fn vector(&self, id: PassageKey) -> Option<Vec<f32>> {
        self.0.vector(id)
    }

    fn scores(&self, query: &[f32], ids: &[PassageKey]) -> Result<Vec<Option<f32>>> {
        self.0.scores(query, ids)
    }
}

#[test]
fn recall_is_the_share_of_the_true_neighbours_that_was_found() {
    let bench = measured(&Lossy(spiral(500)), &OPTIONS, Quality::Ef(24));
    let ladder: Vec<_> = bench.ladder.iter().map(|row| (row.quality, row.recall)).collect();
    let below = [12, 16, 24, 32, 48, 64, 96].map(|ef| (Quality::Ef(ef), 0.5));
    assert_eq!(ladder[..7], below);
    assert_eq!(ladder[7..], [(Quality::Ef(128), 1.0)], "the ladder ends where nothing is left to find");
    let levels: Vec<_> = bench.levels.iter().map(|row| (row.quality, row.recall)).collect();
    let named = [(Quality::Fast, 0.9), (Quality::Balanced, 1.0), (Quality::High, 1.0)];
    assert_eq!((&levels[..3], &levels[3..]), (&named[..], &[(Quality::Ef(24), 0.5)][..]), "and the setting");
    assert_eq!((bench.vectors, bench.dims, bench.queries), (500, 3, 20));
    assert_eq!((bench.exact.quality, bench.exact.recall), (Quality::Exact, 1.0));
    let Latency { p50, p95, p99 } = bench.exact.latency;
    assert!(Duration::ZERO < p50 && p50 <= p95 && p95 <= p99);
}

#[test]
fn a_query_excludes_itself_and_ties_count_as_hits() {
    let twelve = spiral(12);
    let bench = Bench::new(&*twelve, &BenchOptions { queries: 12, limit: 11, seed: 1 }).unwrap();
    let (questions, _) = bench.scan(&NoProgress).unwrap();
    assert_eq!(questions.iter().map(|question| question.key).collect::<HashSet<_>>().len(), 12);
    for question in &questions {
        let (found, _) = bench.ask(question, Quality::Exact).unwrap();
        assert!(found.len() == 11 && found.iter().all(|(id, _)| *id != question.key), "{found:?}");
    }
    let same = filled((1..=100).map(|id| (id.into(), vec![1.0, 0.0])).collect());
    assert_eq!(measured(&*same, &OPTIONS, Quality::Balanced).levels[0].recall, 1.0);
}

#[test]
fn an_impossible_measurement_is_rejected_with_advice() {
    let refusal = |vectors, options: &BenchOptions| Bench::new(&*spiral(vectors), options).err().unwrap().to_string();
    let few = refusal(10, &OPTIONS);
    assert!(few.starts_with("limit: 10 ") && few.contains("ask for 9 or fewer"), "{few}");
    assert!(refusal(1, &BenchOptions { limit: 1, ..OPTIONS }).contains("save more memories"));
    for options in [BenchOptions { limit: 0, ..OPTIONS }, BenchOptions { limit: MAX_LIMIT + 1, ..OPTIONS }] {
        assert!(refusal(2_000, &options).starts_with("limit: "));
    }
    assert!(refusal(100, &BenchOptions { queries: 0, ..OPTIONS }).starts_with("queries: 0 is outside 1 to "));
}

#[test]
fn a_bench_can_be_cancelled() {
    struct Stop;
    impl Progress for Stop {
        fn start(&self, _what: &str, _total: Option<u64>) {}
        fn advance(&self, _units: u64) {}
        fn finish(&self) {}
        fn cancelled(&self) -> bool {
            true
        }
    }
    let index = spiral(50);
    let stopped = Bench::new(&*index, &OPTIONS).unwrap().run(Quality::Fast, &Stop);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

#[test]
fn queries_are_drawn_by_the_seed_and_none_twice() {
    assert_eq!(draw(20, 1_000, 3), draw(20, 1_000, 3));
    assert_ne!(draw(20, 1_000, 3), draw(20, 1_000, 4));
    for (count, of) in [(20, 1_000), (50, 50), (1, 1)] {
        let drawn: HashSet<_> = draw(count, of, 5).into_iter().collect();
        assert!(drawn.len() == count && drawn.iter().all(|number| *number < of), "{drawn:?}");
    }
}

#[test]
fn every_backend_is_measured_and_an_exact_scan_finds_all() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Arc::new(HashEmbedder::new(64));
    let open = |backend| {
        let config = Config { backend, quality: Quality::Ef(1), ..Config::default() };
        Engine::open_with_embedder(folder.path(), config, embedder.clone()).unwrap()
    };
    let engine = open(Backend::Hnsw);
    let empty = engine.bench_vectors(&OPTIONS, &NoProgress).unwrap_err().to_string();
    assert!(empty.contains("no memories"), "{empty}");
    let text = |at: u64| NewRecord::new(format!("note {at} on topic {} with team {} in {}", at % 97, at % 89, at % 83));
    engine.add_batch(&(0..2_300).map(text).collect::<Vec<_>>()).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    drop(engine);
    let backends = [
        Backend::Hnsw,
        Backend::Exact,
        #[cfg(feature = "hnsw-rs")]
        Backend::HnswRs,
    ];
    // The layout on disk is that of the last rebuild, whatever the settings say.
    for (setting, before) in [(Backend::HnswCompact, Backend::Hnsw), (Backend::Hnsw, Backend::HnswCompact)] {
        let engine = open(setting);
        assert_eq!(engine.bench_vectors(&OPTIONS, &NoProgress).unwrap().backend, before);
        assert_eq!(engine.rebuild(&NoProgress).unwrap().vectors, 2_300);
        assert_eq!(engine.bench_vectors(&OPTIONS, &NoProgress).unwrap().backend, setting);
    }
    for backend in backends {
        let bench = open(backend).bench_vectors(&OPTIONS, &NoProgress).unwrap();
        assert_eq!((bench.backend, bench.vectors, bench.dims, bench.exact.recall), (backend, 2_300, 64, 1.0));
        let (low, high) = (bench.ladder.first().unwrap(), bench.ladder.last().unwrap());
        assert!(low.recall <= high.recall && high.recall <= 1.0 && high.recall > 0.9, "{backend:?}: {low:?} {high:?}");
        let setting = bench.levels.last().unwrap();
        assert!(setting.quality == Quality::Ef(1) && setting.recall <= high.recall, "{backend:?}: {setting:?}");
        if backend == Backend::Hnsw {
            assert!(low.recall < 1.0, "a walk of least effort misses some: {low:?}");
        }
    }
}

#[test]
fn memories_without_vectors_are_distinguished_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
    engine.add(&NewRecord::new("a memory without a vector")).unwrap();
    let error = engine.bench_vectors(&OPTIONS, &NoProgress).unwrap_err();
    assert!(error.to_string().contains("no memory has a vector"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::ConfigureModel));
}
