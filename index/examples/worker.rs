//! Speaks a line protocol on standard input and output, so that a program that compares vector indexes can build this one,
//! search it, and compute recall and times. One JSON object per line:
//!
//! | command | answer |
//! |---|---|
//! | `{"cmd": "build", "threads": 1}` | `build_cpu_s`, `build_wall_s`, `bytes` |
//! | `{"cmd": "open"}` | `open_ms`, `rss_kb` |
//! | `{"cmd": "search", "ef": 40, "k": 10, "nq": 300, "filter": null}` | `cpu_us`, `p50_us`, `p99_us`, `ids` |
//! | the same with `"recall": 0.98` instead of `"ef"` | the same |
//! | `{"cmd": "quit"}` | none |
//!
//! The environment says where the vectors are: `ANN_BASE` and `ANN_QUERY` (raw little-endian f32, row after row), `ANN_DIM`,
//! and a folder `ANN_DIR` for the index and the answers. `filter` is the path of allowed ids, raw little-endian u32.
//! `ANN_BATCH` reads and applies the vectors in batches of so many, with merges in between; `ANN_EF_CONSTRUCTION` and `ANN_M` change
//! how the graph is built. `ANN_LAYOUT=compact` builds a compact index.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use memorist_index::{Effort, Filter, IndexOptions, Layout, Reader, SearchParams, WriteError, Writer};
use roaring::RoaringTreemap;
use serde_json::{Value, json};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const NO_RESULT: u32 = u32::MAX;
const WARM_UP: usize = 10;

fn main() -> Result<()> {
    let mut worker = Worker { reader: None };
    for line in io::stdin().lock().lines() {
        let line = line?;
        if !line.starts_with('{') {
            continue;
        }
        let command: Value = serde_json::from_str(&line)?;
        if command["cmd"] == "quit" {
            break;
        }
        let answer = worker.answer(&command).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

struct Worker {
    reader: Option<Reader>,
}

impl Worker {
    fn answer(&mut self, command: &Value) -> Result<Value> {
        match command["cmd"].as_str() {
            Some("build") => build(command["threads"].as_u64().unwrap_or(1) as usize),
            Some("open") => {
                let start = Instant::now();
                self.reader = Some(Reader::open(index_folder()?)?);
                let open_ms = start.elapsed().as_secs_f64() * 1e3;
                Ok(json!({ "open_ms": open_ms, "rss_kb": resident_kb() }))
            }
            Some("search") => search(self.reader.as_ref().ok_or("open comes first")?, command),
            _ => Err("an unknown command".into()),
        }
    }
}

fn build(threads: usize) -> Result<Value> {
    let dims: usize = env::var("ANN_DIM")?.parse()?;
    let base = env::var("ANN_BASE")?;
    let folder = index_folder()?;
    let _ = fs::remove_dir_all(&folder);
    let mut options = IndexOptions::new(dims);
    if let Some(ef) = number("ANN_EF_CONSTRUCTION")? {
        options.ef_construction = ef;
    }
    if let Some(m) = number("ANN_M")? {
        options.m = m;
    }
    if env::var("ANN_LAYOUT").is_ok_and(|layout| layout == "compact") {
        options.layout = Layout::Compact;
    }
    // Read before the clock runs, unless they come in batches: then no more of them than that are in memory.
    let mut batches: Box<dyn Iterator<Item = Result<Vec<f32>>>> = match number("ANN_BATCH")? {
        Some(batch) => Box::new(batches_of(&base, batch.max(1) * dims)?),
        None => Box::new(std::iter::once(Ok(floats(&base)?))),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let (start, cpu) = (Instant::now(), process_cpu_s());
    let mut writer = Writer::create(&folder, options, b"")?;
    let mut first = 0;
    for batch in &mut batches {
        let batch = batch?;
        let rows: Vec<(u64, &[f32])> = (first..).zip(batch.chunks_exact(dims)).collect();
        first += rows.len() as u64;
        pool.install(|| -> Result<(), WriteError> {
            writer.apply(&rows, &[], b"")?;
            while writer.maintain(&|_| ControlFlow::Continue(()))? {}
            Ok(())
        })?;
    }
    let (build_cpu_s, build_wall_s) = (process_cpu_s() - cpu, start.elapsed().as_secs_f64());
    let bytes: u64 = fs::read_dir(&folder)?.map(|file| Ok(file?.metadata()?.len())).sum::<Result<_>>()?;
    Ok(json!({ "build_cpu_s": build_cpu_s, "build_wall_s": build_wall_s, "bytes": bytes }))
}

fn search(reader: &Reader, command: &Value) -> Result<Value> {
    let wanted = |name: &str| command[name].as_u64().ok_or_else(|| format!("{name} is missing"));
    let (k, nq) = (wanted("k")? as usize, wanted("nq")? as usize);
    let effort = match command["recall"].as_f64() {
        Some(recall) => Effort::Recall(recall as f32),
        None => Effort::Ef(wanted("ef")? as usize),
    };
    let dims: usize = env::var("ANN_DIM")?.parse()?;
    let queries = floats(&env::var("ANN_QUERY")?)?;
    let allowed = match command["filter"].as_str() {
        Some(path) => {
            let bytes = fs::read(path)?;
            let ids = bytes.as_chunks::<4>().0.iter().map(|&id| u64::from(u32::from_le_bytes(id)));
            Some(ids.collect::<RoaringTreemap>())
        }
        None => None,
    };
    let filter = allowed.as_ref().map_or(Filter::All, |keys| Filter::Only(keys));
    let params = SearchParams { k, effort };
    let snapshot = reader.snapshot();
    for query in queries.chunks_exact(dims).take(nq.min(WARM_UP)) {
        snapshot.search(query, &params, filter)?;
    }
    let mut times = Vec::with_capacity(nq);
    let mut ids: Vec<u32> = Vec::with_capacity(nq * k);
    let cpu = thread_cpu_us();
    for query in queries.chunks_exact(dims).take(nq) {
        let start = Instant::now();
        let hits = snapshot.search(query, &params, filter)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        ids.extend(hits.iter().map(|hit| hit.key as u32));
        ids.extend(std::iter::repeat_n(NO_RESULT, k - hits.len()));
    }
    let cpu = thread_cpu_us().zip(cpu).map(|(end, start)| (end - start) / times.len().max(1) as f64);
    times.sort_by(f64::total_cmp);
    let percentile = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
    let path = PathBuf::from(env::var("ANN_DIR")?).join("found.u32");
    fs::write(&path, ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>())?;
    let mut answer = json!({ "p50_us": percentile(0.5), "p99_us": percentile(0.99), "ids": path });
    if let Some(cpu) = cpu {
        answer["cpu_us"] = json!(cpu);
    }
    Ok(answer)
}

fn index_folder() -> Result<PathBuf> {
    Ok(PathBuf::from(env::var("ANN_DIR")?).join("index"))
}

fn number(variable: &str) -> Result<Option<usize>> {
    env::var(variable).ok().map(|value| Ok(value.parse()?)).transpose()
}

/// The numbers of a file, so many at a time.
fn batches_of(path: &str, numbers: usize) -> Result<impl Iterator<Item = Result<Vec<f32>>> + use<>> {
    let mut file = io::BufReader::new(fs::File::open(path)?);
    Ok(std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        match file.by_ref().take(4 * numbers as u64).read_to_end(&mut bytes) {
            Ok(0) => None,
            Ok(_) => Some(Ok(bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())),
            Err(error) => Some(Err(error.into())),
        }
    }))
}

fn floats(path: impl AsRef<Path>) -> Result<Vec<f32>> {
    Ok(fs::read(path)?.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}

/// CPU seconds of the process, all threads, as the kernel counts them (in ticks of 10 ms); 0 where it does not say.
fn process_cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// CPU microseconds of this thread, which does the searching alone.
fn thread_cpu_us() -> Option<f64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(stat.split_whitespace().next()?.parse::<f64>().ok()? / 1e3)
}

fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse().ok()).unwrap_or(0)
}
