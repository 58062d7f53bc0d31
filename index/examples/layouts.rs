//! Compares the two layouts: bytes per vector, build time, and the recall of the 10 nearest beside the time of a search, in
//! turns in one run. The recall is that of an exact search of the original vectors.
//!
//! `MEMORIST_SHARED_DATA=DIR cargo run --release -p memorist-index --features roaring --example layouts -- FOLDER [VECTORS
//! [QUERIES [ROUNDS]]]`
//!
//! Indexes that are in the folder already are measured as they are. Without the shared data the vectors are made.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bench_data::vectors::{self, Shape};
use memorist_index::{Effort, Filter, IndexOptions, Layout, Reader, SearchError, SearchParams, Snapshot, Writer};
use rayon::prelude::*;
use roaring::RoaringTreemap;

const LAYOUTS: [(&str, Layout); 2] = [("standard", Layout::Standard), ("compact", Layout::Compact)];
const K: usize = 10;
/// Queries that one layout answers before it is the other's turn.
const TURN: usize = 25;
const RECALLS: [f64; 3] = [0.95, 0.98, 0.99];

type Matrix = Vec<Vec<f32>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let folder = given.next().ok_or("the folder is missing")?;
    let mut number = |default: usize| given.next().map_or(Ok(default), |number| number.parse());
    let (count, queries, rounds) = (number(100_000)?, number(300)?, number(9)?);
    let (base, queries) = data(count, queries)?;
    let corpus = Corpus { base, queries };
    let mut out = io::stdout().lock();

    let mut readers = Vec::new();
    for (name, layout) in LAYOUTS {
        let folder = Path::new(&folder).join(name);
        if !folder.join("manifest").exists() {
            let cpu = cpu_seconds();
            build(&folder, layout, &corpus.base)?;
            writeln!(out, "{name}: built in {:.1} s of the processor", cpu_seconds() - cpu)?;
        }
        let files = fs::read_dir(&folder)?.map(|file| Ok(file?.metadata()?.len())).sum::<io::Result<u64>>()?;
        writeln!(out, "{name}: {:.1} bytes per vector", files as f64 / corpus.base.len() as f64)?;
        readers.push(Reader::open(&folder)?.snapshot());
    }

    let ladder = [10, 14, 20, 28, 40, 56, 80, 112, 160, 224].map(|ef| (format!("ef {ef:4}"), Effort::Ef(ef), 1));
    let named = [0.9f32, 0.95, 0.97, 0.99, 0.995].map(|recall| (format!("recall {recall}"), Effort::Recall(recall), 1));
    let exact = ("exact".to_owned(), Effort::Exact, 1);
    let filtered = [2, 10, 30, 100].map(|step| (format!("1 in {step:3}"), Effort::default(), step));
    let tasks = ladder.into_iter().chain(named).chain([exact]).chain(filtered);
    let mut tasks: Vec<Task> = tasks.map(|(name, effort, step)| Task::new(name, effort, step, &corpus)).collect();
    // The whole ladder in each round, so that other work on the machine meets all of it.
    for round in 0..rounds {
        tasks.iter_mut().try_for_each(|task| task.measure(&corpus, &readers, round))?;
    }
    let mut curves = vec![Vec::new(); LAYOUTS.len()];
    for task in &mut tasks {
        for (at, (layout, _)) in LAYOUTS.iter().enumerate() {
            let (recall, time) = task.figures(at);
            writeln!(out, "{:12} {layout:8} recall {recall:.4}, {time:7.1} µs", task.name)?;
            if matches!(task.effort, Effort::Ef(_)) {
                curves[at].push((recall, time));
            }
        }
    }
    for recall in RECALLS {
        let times = [time_at(&curves[0], recall), time_at(&curves[1], recall)];
        if let [Some(standard), Some(compact)] = times {
            let ratio = compact / standard;
            writeln!(out, "at recall {recall}: {standard:.1} µs standard, {compact:.1} µs compact, {ratio:.2} times")?;
        }
    }
    Ok(())
}

struct Corpus {
    base: Matrix,
    queries: Matrix,
}

/// One effort, where one of so many keys is allowed.
struct Task {
    name: String,
    effort: Effort,
    step: usize,
    /// For each query the score of the last of the nearest.
    worst: Vec<f32>,
    /// For each layout and query its times, in microseconds.
    times: [Vec<Vec<f64>>; LAYOUTS.len()],
    found: [usize; LAYOUTS.len()],
}

impl Task {
    fn new(name: String, effort: Effort, step: usize, corpus: &Corpus) -> Self {
        let Corpus { base, queries } = corpus;
        let worst = queries.par_iter().map(|query| worst_of_the_nearest(base, query, step)).collect();
        let times = LAYOUTS.map(|_| vec![Vec::new(); queries.len()]);
        Self { name, effort, step, worst, times, found: [0; LAYOUTS.len()] }
    }

    fn measure(&mut self, corpus: &Corpus, indexes: &[Arc<Snapshot>], round: usize) -> Result<(), SearchError> {
        let Corpus { base, queries } = corpus;
        if self.effort == Effort::Exact && round > 0 {
            return Ok(());
        }
        let params = SearchParams { k: K, effort: self.effort };
        let allowed: RoaringTreemap = (0..base.len() as u64).step_by(self.step).collect();
        let filter = if self.step == 1 { Filter::All } else { Filter::Only(&allowed) };
        for first in (0..queries.len()).step_by(TURN) {
            for (at, snapshot) in indexes.iter().enumerate() {
                for (query, vector) in queries.iter().enumerate().skip(first).take(TURN) {
                    let start = Instant::now();
                    let hits = snapshot.search(vector, &params, filter)?;
                    self.times[at][query].push(start.elapsed().as_secs_f64() * 1e6);
                    if round == 0 {
                        let worst = self.worst[query] - 1e-5;
                        let is_true = |key: u64| dot(&base[key as usize], vector) >= worst;
                        self.found[at] += hits.iter().filter(|hit| is_true(hit.key)).count();
                    }
                }
            }
        }
        Ok(())
    }

    /// The recall of a layout, and the mean of the medians of each query's times.
    fn figures(&mut self, at: usize) -> (f64, f64) {
        let queries = self.worst.len();
        let time = self.times[at].iter_mut().map(|times| median(times)).sum::<f64>() / queries as f64;
        (self.found[at] as f64 / (K * queries) as f64, time)
    }
}

/// Vectors and queries.
fn data(count: usize, queries: usize) -> Result<(Matrix, Matrix), Box<dyn Error>> {
    let folder = bench_data::real::directory();
    if let Some(real) = folder.map(|folder| bench_data::real::load(&folder)).transpose()?.flatten() {
        let rows = |numbers: &[f32], most| numbers.chunks(real.dims).take(most).map(<[f32]>::to_vec).collect();
        return Ok((rows(&real.base, count), rows(&real.queries, queries)));
    }
    let made = vectors::vectors(Shape::Realistic, 1, count, 384).collect();
    Ok((made, vectors::queries_for(Shape::Realistic, 1, count, 384, queries).collect()))
}

fn build(folder: &Path, layout: Layout, base: &Matrix) -> Result<(), Box<dyn Error>> {
    let mut options = IndexOptions::new(base[0].len());
    options.layout = layout;
    let mut writer = Writer::create(folder, options, b"")?;
    let rows: Vec<(u64, &[f32])> = (0..).zip(base.iter().map(Vec::as_slice)).collect();
    writer.apply(&rows, &[], b"")?;
    while writer.maintain(&|_| ControlFlow::Continue(()))? {}
    Ok(())
}

/// The score of the last of the nearest, of one in so many.
fn worst_of_the_nearest(base: &Matrix, query: &[f32], step: usize) -> f32 {
    let mut scores: Vec<f32> = base.iter().step_by(step).map(|vector| dot(vector, query)).collect();
    let at = K.min(scores.len()) - 1;
    *scores.select_nth_unstable_by(at, |one, other| other.total_cmp(one)).1
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        (0..16).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The time at which a curve of recall and time crosses a recall. Between two efforts, the logarithm of the time is linear
/// in that of what the recall lacks.
fn time_at(curve: &[(f64, f64)], recall: f64) -> Option<f64> {
    let pair = curve.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&recall))?;
    let lack = |recall: f64| (1.0 - recall).max(1e-6).ln();
    let [(low, time), (high, more)] = [pair[0], pair[1]];
    let share = if high > low { (lack(low) - lack(recall)) / (lack(low) - lack(high)) } else { 1.0 };
    Some(time * (more / time).powf(share))
}

/// Seconds of the processor of all threads, as the kernel counts them (in ticks of 10 ms); 0 where it does not say.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
