//! Vectors, an index beside an exact answer, and recall.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use memorist_index::{Effort, Filter, Hit, IndexOptions, Layout, Progress, SearchParams, Snapshot, Stage, Writer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

/// The file that a writer locks.
pub const LOCK: &str = "writer.lock";

/// The names of the files of an index, but for the lock.
pub fn files(folder: &Path) -> Vec<String> {
    let name = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).filter(|name| name != LOCK).collect();
    names.sort();
    names
}

/// Vectors in clusters, so that some are much nearer to one another than the others; the row modulo `clusters` is the
/// cluster. Equal seeds give equal vectors; other seeds give other vectors round the same centers.
pub fn clustered(seed: u64, count: usize, dims: usize, clusters: usize) -> Vec<Vec<f32>> {
    let point = |random: &mut ChaCha8Rng, spread: f32| -> Vec<f32> {
        (0..dims).map(|_| spread * (random.random::<f32>() - 0.5)).collect()
    };
    let (mut for_centres, mut for_noise) = (ChaCha8Rng::seed_from_u64(0), ChaCha8Rng::seed_from_u64(seed + 1));
    let centres: Vec<Vec<f32>> = (0..clusters).map(|_| point(&mut for_centres, 1.0)).collect();
    let near = |centre: &Vec<f32>| {
        let noise = point(&mut for_noise, 0.8);
        centre.iter().zip(noise).map(|(centre, noise)| centre + noise).collect()
    };
    centres.iter().cycle().take(count).map(near).collect()
}

/// An index in a temporary folder, and what should be in it.
pub struct World {
    pub folder: TempDir,
    pub writer: Writer,
    pub vectors: BTreeMap<u64, Vec<f32>>,
    /// Vectors inserted into graphs so far.
    pub inserted: usize,
}

impl World {
    pub fn new(options: IndexOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::create(folder.path(), options, b"").unwrap();
        Self { folder, writer, vectors: BTreeMap::new(), inserted: 0 }
    }

    /// An index of these vectors, with the keys from 0, in batches, merged as it goes.
    pub fn filled(options: IndexOptions, vectors: &[Vec<f32>], batch: usize) -> Self {
        let mut world = Self::new(options);
        for (i, rows) in vectors.chunks(batch).enumerate() {
            let rows = rows.iter().zip((i * batch) as u64..).map(|(vector, key)| (key, vector.clone()));
            world.apply(rows.collect(), &[]);
            world.maintain();
        }
        world
    }

    /// The index with another writer.
    pub fn reopen(self, options: IndexOptions) -> Self {
        let Self { folder, writer, vectors, inserted } = self;
        drop(writer);
        let writer = Writer::open(folder.path(), options).unwrap();
        Self { folder, writer, vectors, inserted }
    }

    pub fn apply(&mut self, upserts: Vec<(u64, Vec<f32>)>, deletes: &[u64]) {
        let rows: Vec<(u64, &[f32])> = upserts.iter().map(|(key, vector)| (*key, vector.as_slice())).collect();
        self.writer.apply(&rows, deletes, b"").unwrap();
        deletes.iter().for_each(|key| drop(self.vectors.remove(key)));
        self.vectors.extend(upserts);
    }

    pub fn maintain(&mut self) {
        loop {
            let total = parking_lot::Mutex::new(0);
            let progress = |progress: Progress| {
                if progress.stage == Stage::Linking {
                    *total.lock() = progress.total;
                }
                ControlFlow::Continue(())
            };
            let more = self.writer.maintain(&progress).unwrap();
            self.inserted += total.into_inner();
            if !more {
                break;
            }
        }
    }

    /// The exact answer.
    pub fn exact(&self, query: &[f32], k: usize, filter: Filter<'_>) -> Vec<(u64, f64)> {
        let mut all: Vec<(u64, f64)> = (self.vectors.iter())
            .filter(|&(&key, _)| filter.allows(key))
            .map(|(&key, vector)| (key, cosine(query, vector)))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(k);
        all
    }

    /// The mean share of the true `k` nearest that a search finds, with everything checked that can be.
    pub fn recall(&self, snapshot: &Snapshot, queries: &[Vec<f32>], params: SearchParams, filter: Filter<'_>) -> f64 {
        let mut share = 0.0;
        for query in queries {
            let exact = self.exact(query, params.k, filter);
            let hits = snapshot.search(query, &params, filter).unwrap();
            assert_eq!(hits.len(), exact.len(), "as many results as there are, up to k");
            self.check(query, &hits, filter);
            let worst = exact.last().map_or(0.0, |&(_, score)| score) - 2e-5;
            let is_true = |hit: &&Hit| cosine(query, &self.vectors[&hit.key]) >= worst;
            share += hits.iter().filter(is_true).count() as f64 / exact.len().max(1) as f64;
        }
        share / queries.len() as f64
    }

    /// Hits are allowed, there, each once, in order, and their scores are as exact as the layout promises.
    pub fn check(&self, query: &[f32], hits: &[Hit], filter: Filter<'_>) {
        for hit in hits {
            assert!(filter.allows(hit.key), "the filter refuses {}", hit.key);
            let vector = self.vectors.get(&hit.key).expect("only what is there is found");
            let off = (f64::from(hit.score) - cosine(query, vector)).abs();
            assert!(off < tolerance(self.writer.snapshot().layout()), "{hit:?} is off by {off}");
        }
        let in_order = |pair: &[Hit]| (pair[1].score, pair[0].key) < (pair[0].score, pair[1].key);
        assert!(hits.windows(2).all(in_order), "best first, ties by key, no key twice: {hits:?}");
    }
}

/// How far the scores of a layout may be off.
pub fn tolerance(layout: Layout) -> f64 {
    match layout {
        Layout::Compact => 3e-3,
        _ => 2e-5,
    }
}

pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// A search that keeps `ef` candidates: with few, the quality of a graph shows, and small graphs are walked.
pub fn with_ef(k: usize, ef: usize) -> SearchParams {
    SearchParams { k, effort: Effort::Ef(ef) }
}

/// How many vectors each segment has, and how many links a node of its graph; 0 where it has none. As the page of the format
/// says where they are.
pub fn shapes(folder: &Path) -> Vec<(u32, u32)> {
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let segments = names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("segment-"));
    segments.map(|path| shape(&std::fs::read(path).unwrap())).collect()
}

/// The vectors of one segment, and the links of a node of its graph.
pub fn shape(segment: &[u8]) -> (u32, u32) {
    let number = |offset: usize| u32::from_le_bytes(segment[offset..offset + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The recalls that the efforts of the first segment were measured for, and how many candidates a walk keeps for each; the
/// greatest number stands for a scan. As the page of the format says where they are in a manifest without a payload.
pub fn efforts(folder: &Path) -> Vec<(f32, u32)> {
    let manifest = std::fs::read(folder.join("manifest")).unwrap();
    let efforts = manifest[96..128].chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999].into_iter().zip(efforts).collect()
}

/// The least that a test asks of a layout: what 8 bits confuse costs the compact one some.
pub fn at_least(layout: Layout, standard: f64, compact: f64) -> f64 {
    if layout == Layout::Compact { compact } else { standard }
}

pub fn with_layout(layout: Layout, mut options: IndexOptions) -> IndexOptions {
    options.layout = layout;
    options
}

/// Small and fast to build: graphs begin at `flat_limit` vectors.
pub fn small(dims: usize, flat_limit: usize) -> IndexOptions {
    let mut options = IndexOptions::new(dims);
    options.flat_limit = flat_limit;
    options.ef_construction = 100;
    options
}

pub fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
