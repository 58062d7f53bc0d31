//! Builds a compact index of millions of made vectors, and measures it: build time, size, opening, memory, an update, and the recall
//! of the 10 nearest beside the time of a search.
//!
//! `cargo run --release -p memorist-index --example scale -- FOLDER [VECTORS [QUERIES]]`
//!
//! The build can be killed at any time: the next run goes on where the last step ended. An index that is larger than wanted is
//! refused; a smaller one is extended.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use bench_data::vectors::{Generator, Shape};
use memorist_index::{
    Effort, Filter, IndexOptions, Layout, OpenError, Progress, Reader, SearchParams, Snapshot, WriteError, Writer,
};
use parking_lot::Mutex;
use rayon::prelude::*;

const DIMS: usize = 384;
const K: usize = 10;
const SEED: u64 = 1;
/// Vectors that are made and put in at once.
const STEP: usize = 100_000;
/// Vectors that are put in before they are merged.
const MERGED: usize = 1_000_000;
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let folder = given.next().ok_or("the folder is missing")?;
    let mut number = |default: usize| given.next().map_or(Ok(default), |number| number.parse());
    let (count, queries) = (number(1_000_000)?, number(200)?);
    let (folder, made) = (Path::new(&folder), Generator::new(Shape::Realistic, SEED, DIMS));
    let mut out = io::stdout().lock();

    build(folder, &made, count, &mut out)?;
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.metadata()?.len())).sum::<io::Result<u64>>()?;
    writeln!(out, "{:.0} MB, {:.1} bytes per vector", files as f64 / 1e6, files as f64 / count as f64)?;

    let queries: Vec<Vec<f32>> = (0..queries).map(|number| made.query(count, number)).collect();
    let (worst, seconds) = timed(|| worst_of_the_nearest(&made, count, &queries));
    writeln!(out, "an exact scan of the originals, for {} queries, took {seconds:.0} s", queries.len())?;
    let (reader, seconds) = timed(|| Reader::open(folder));
    let snapshot = reader?.snapshot();
    let segments = snapshot.segment_count();
    writeln!(out, "opened in {:.2} ms: {} vectors in {segments} segments", seconds * 1e3, snapshot.len())?;

    let efforts = [40, 80, 160, 320].map(|ef| (format!("ef {ef:3}"), Effort::Ef(ef)));
    let named = [0.9f32, 0.95, 0.97, 0.99].map(|recall| (format!("recall {recall}"), Effort::Recall(recall)));
    for (name, effort) in efforts.into_iter().chain(named) {
        let (recall, times) = measure(&snapshot, &made, &queries, &worst, effort)?;
        let at = |percent: usize| times[times.len() * percent / 100];
        writeln!(out, "{name:11} recall {recall:.4}, p50 {:.0} µs, p95 {:.0}, p99 {:.0}", at(50), at(95), at(99))?;
    }
    writeln!(out, "private memory after that: {:.0} MB", kilobytes("/proc/self/smaps_rollup", "Private_Dirty") / 1e3)?;
    drop(snapshot);
    update(folder, &made, count, &mut out)
}

/// Puts in what is missing. The payload says how many vectors are there.
fn build(folder: &Path, made: &Generator, count: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut options = IndexOptions::new(DIMS);
    options.layout = Layout::Compact;
    let mut writer = match Writer::open(folder, options.clone()) {
        Err(WriteError::Open(OpenError::Missing { .. })) => Writer::create(folder, options, &0u64.to_le_bytes())?,
        opened => opened?,
    };
    let there = writer.snapshot().payload().try_into().map(u64::from_le_bytes)? as usize;
    if there > count {
        return Err(format!("the index has {there} vectors, more than {count}").into());
    }
    let (start, cpu) = (Instant::now(), cpu_seconds());
    for first in (there..count).step_by(STEP) {
        let last = count.min(first + STEP);
        let vectors: Vec<Vec<f32>> = (first..last).into_par_iter().map(|at| made.vector(at)).collect();
        let rows: Vec<(u64, &[f32])> = (first as u64..).zip(vectors.iter().map(Vec::as_slice)).collect();
        writer.apply(&rows, &[], &(last as u64).to_le_bytes())?;
        if last.is_multiple_of(MERGED) || last == count {
            merge(&mut writer)?;
            let (wall, cpu, most) =
                (start.elapsed().as_secs(), cpu_seconds() - cpu, kilobytes("/proc/self/status", "VmHWM"));
            writeln!(out, "{last} vectors: {wall} s, {cpu:.0} s of the processor, at most {:.1} GB", most / 1e6)?;
        }
    }
    // One that was killed in its last merge.
    merge(&mut writer)
}

fn merge(writer: &mut Writer) -> Result<(), Box<dyn Error>> {
    let shown = Mutex::new(Instant::now());
    let show = |now: Progress| {
        if let Some(mut shown) = shown.try_lock().filter(|shown| shown.elapsed().as_secs() >= 10) {
            *shown = Instant::now();
            eprintln!("  {:?}: {} of {}", now.stage, now.done, now.total);
        }
        ControlFlow::Continue(())
    };
    while writer.maintain(&show)? {}
    Ok(())
}

/// For each query the score of the last of the nearest.
fn worst_of_the_nearest(made: &Generator, count: usize, queries: &[Vec<f32>]) -> Vec<f32> {
    let best_of = |first: usize| {
        let mut best = vec![Vec::new(); queries.len()];
        for vector in (first..count.min(first + STEP / 10)).map(|at| made.vector(at)) {
            for (query, best) in queries.iter().zip(&mut best) {
                best.push(dot(query, &vector));
                if best.len() == 2 * STEP / 100 {
                    keep_best(best);
                }
            }
        }
        best
    };
    let join = |mut one: Vec<Vec<f32>>, other: Vec<Vec<f32>>| {
        for (one, mut other) in one.iter_mut().zip(other) {
            one.append(&mut other);
            keep_best(one);
        }
        one
    };
    let starts: Vec<usize> = (0..count).step_by(STEP / 10).collect();
    let best = starts.into_par_iter().map(best_of).reduce(|| vec![Vec::new(); queries.len()], join);
    best.iter().map(|best| best[K.min(best.len()) - 1]).collect()
}

fn keep_best(scores: &mut Vec<f32>) {
    scores.sort_unstable_by(|one, other| other.total_cmp(one));
    scores.truncate(K);
}

/// The recall, and the times of all searches in microseconds, in ascending order.
fn measure(
    snapshot: &Snapshot,
    made: &Generator,
    queries: &[Vec<f32>],
    worst: &[f32],
    effort: Effort,
) -> Result<(f64, Vec<f64>), Box<dyn Error>> {
    let (params, mut found, mut times) = (SearchParams { k: K, effort }, 0, Vec::new());
    for round in 0..ROUNDS {
        for (query, worst) in queries.iter().zip(worst) {
            let (hits, seconds) = timed(|| snapshot.search(query, &params, Filter::All));
            let is_true = |key: u64| dot(&made.vector(key as usize), query) >= worst - 1e-5;
            if round == 0 {
                // It brings what it reads into memory.
                found += hits?.iter().filter(|hit| is_true(hit.key)).count();
            } else {
                times.push(seconds * 1e6);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    Ok((found as f64 / (K * queries.len()) as f64, times))
}

/// Puts a vector in, finds it from another reader, and removes it.
fn update(folder: &Path, made: &Generator, count: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (reader, vector, key) = (Reader::open(folder)?, made.query(count, usize::MAX), count as u64);
    let payload = (count as u64).to_le_bytes();
    let (applied, seconds) = timed(|| -> Result<_, Box<dyn Error>> {
        let mut writer = Writer::open(folder, IndexOptions::new(DIMS))?;
        writer.apply(&[(key, &vector)], &[], &payload)?;
        Ok(writer)
    });
    let mut writer = applied?;
    let (found, search) = timed(|| {
        reader.refresh()?;
        reader.snapshot().search(&vector, &SearchParams::new(1), Filter::All).map_err(Box::<dyn Error>::from)
    });
    if found?.first().map(|hit| hit.key) != Some(key) {
        return Err("an update is not found".into());
    }
    writer.apply(&[], &[key], &payload)?;
    writeln!(out, "an update took {:.1} ms with opening, and is found {:.1} ms later", seconds * 1e3, search * 1e3)?;
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    (work(), start.elapsed().as_secs_f64())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        (0..16).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum()
}

/// A line of a file of the kernel, in kilobytes; 0 where it is not there.
fn kilobytes(path: &str, name: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

/// Seconds of the processor of all threads, as the kernel counts them (in ticks of 10 ms); 0 where it does not say.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
