//! Measures the recall of the 10 nearest on data and queries unlike those that an index is tuned for, in both layouts: at the
//! default effort, and with as many candidates as that keeps for usual queries.
//!
//! `cargo run --release -p memorist-index --example unusual -- FOLDER [VECTORS [DIMENSIONS]]`

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use bench_data::unusual::{Case, cases};
use memorist_index::{Effort, Filter, IndexOptions, Layout, SearchParams, Snapshot, Writer};

const QUERIES: usize = 200;
const K: usize = 10;
/// The candidates that the default effort keeps at least.
const FIXED: Effort = Effort::Ef(66);

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let folder = given.next().ok_or("the folder is missing")?;
    let mut number = |default: usize| given.next().map_or(Ok(default), |number| number.parse());
    let (count, dims) = (number(40_000)?, number(384)?);
    let mut out = io::stdout().lock();
    writeln!(out, "| {count} × {dims} | standard: default, {FIXED:?} | compact: default, {FIXED:?} |\n|---|---|---|")?;
    for case in cases(count, dims, QUERIES) {
        write!(out, "| {}", case.name)?;
        for layout in [Layout::Standard, Layout::Compact] {
            let writer = build(Path::new(&folder), layout, &case)?;
            let snapshot = writer.snapshot();
            let exact = Effort::Exact;
            let worst = (case.queries.iter().map(|query| Ok(search(&snapshot, query, exact)?.last().copied())))
                .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
            let default = SearchParams::new(K).effort;
            for (before, effort) in [(" | ", default), (", ", FIXED)] {
                let (mut found, start) = (0, Instant::now());
                for (query, worst) in case.queries.iter().zip(&worst) {
                    found += search(&snapshot, query, effort)?.iter().filter(|score| Some(**score) >= *worst).count();
                }
                let micros = start.elapsed().as_secs_f64() * 1e6 / QUERIES as f64;
                write!(out, "{before}{:.3} in {micros:.0} µs", found as f64 / (K * QUERIES) as f64)?;
            }
            out.flush()?;
        }
        writeln!(out, " |")?;
    }
    Ok(())
}

/// The scores of the results, best first.
fn search(snapshot: &Snapshot, query: &[f32], effort: Effort) -> Result<Vec<f32>, Box<dyn Error>> {
    let hits = snapshot.search(query, &SearchParams { k: K, effort }, Filter::All)?;
    Ok(hits.into_iter().map(|hit| hit.score).collect())
}

/// An index of the vectors, without those that the case deletes.
fn build(folder: &Path, layout: Layout, case: &Case) -> Result<Writer, Box<dyn Error>> {
    let folder = folder.join("unusual");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut options = IndexOptions::new(case.vectors[0].len());
    options.layout = layout;
    let mut writer = Writer::create(&folder, options, b"")?;
    let rows: Vec<(u64, &[f32])> = (0..).zip(case.vectors.iter().map(Vec::as_slice)).collect();
    writer.apply(&rows, &[], b"")?;
    while writer.maintain(&|_| ControlFlow::Continue(()))? {}
    if case.deleted > 0 {
        let mut gone = Vec::new();
        for query in &case.queries {
            let nearest = SearchParams { k: case.deleted, effort: Effort::Exact };
            gone.extend(writer.snapshot().search(query, &nearest, Filter::All)?.iter().map(|hit| hit.key));
        }
        gone.sort_unstable();
        gone.dedup();
        writer.apply(&[], &gone, b"")?;
    }
    Ok(writer)
}
