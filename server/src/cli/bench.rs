//! `memorist bench`: recall and latency of the vector search of this store; with `--quality` or the name
//! of a benchmark, how well searches find.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use memorist_engine::bench::{BenchOptions, Measured, VectorBench};
use memorist_engine::quality::Quality;
use serde_json::{Value, json};

use super::app::Maintenance;
use super::plot::{Plot, Point, Role};
use super::{App, benchmark, format, quality, table};
use crate::args::Bench;
use crate::atomic_file;
use crate::exit::{Failure, Outcome};

pub fn run(app: &App, args: &Bench) -> Outcome {
    if let Some(pairs) = &args.quality {
        return quality::run(app, pairs);
    }
    if let Some(outcome) = benchmark::run(app, args) {
        return outcome;
    }
    let options = BenchOptions { queries: args.queries, limit: args.limit, seed: args.seed };
    let Some(file) = &args.svg else {
        let bench = measure(app, &options)?;
        return show(app, &options, &bench, &plot(&bench, &options));
    };
    // The file is created first, so that a write error is not found out after minutes.
    let (bench, plot) = atomic_file::write(&app.settings().store, file, |out| {
        let bench = measure(app, &options)?;
        let plot = plot(&bench, &options);
        out.write_all(plot.svg().as_bytes()).map_err(|error| Failure::file(file, &error))?;
        Ok((bench, plot))
    })?;
    app.output().note(format!("wrote the plot to {}", file.display()));
    show(app, &options, &bench, &plot)
}

fn measure(app: &App, options: &BenchOptions) -> Result<VectorBench, Failure> {
    let bars = app.bars()?;
    let engine = app.existing(Maintenance::Off)?;
    let bench = engine.bench_vectors(options, &bars)?;
    engine.close();
    Ok(bench)
}

fn show(app: &App, options: &BenchOptions, bench: &VectorBench, plot: &Plot) -> Outcome {
    let output = app.output();
    if output.json {
        output.document(&document(bench, options))?;
    } else {
        let [head, rest] = text(bench, options, plot);
        output.text(head)?;
        output.own(plot.text(is_coloured()).as_bytes())?;
        output.text(rest)?;
    }
    Ok(0)
}

fn document(bench: &VectorBench, options: &BenchOptions) -> Value {
    let levels = Quality::LEVELS.map(|level| json!({ "quality": level.to_string(), "targetRecall": share(level) }));
    json!({
        "vectors": bench.vectors,
        "dims": bench.dims,
        "backend": bench.backend,
        "limit": options.limit,
        "queries": bench.queries,
        "seed": options.seed,
        "setting": bench.setting.to_string(),
        "levels": levels,
        "measured": rows(bench).map(|row| entry(row, bench)).collect::<Vec<_>>(),
    })
}

fn entry(row: &Measured, bench: &VectorBench) -> Value {
    let micros = |time: Duration| (time.as_secs_f64() * 1e7).round() / 10.0;
    let mut entry = json!({
        "quality": row.quality.to_string(),
        "recall": row.recall,
        "p50Us": micros(row.latency.p50),
        "p95Us": micros(row.latency.p95),
        "p99Us": micros(row.latency.p99),
        "yourSetting": is_own(row, bench),
    });
    match row.quality {
        Quality::Ef(ef) => entry["ef"] = json!(ef),
        quality => entry["targetRecall"] = json!(share(quality)),
    }
    entry
}

/// The target recall, with the digits that it was given with.
fn share(quality: Quality) -> Option<f64> {
    quality.target().map(|share| (f64::from(share) * 1e6).round() / 1e6)
}

fn rows(bench: &VectorBench) -> impl Iterator<Item = &Measured> {
    bench.ladder.iter().chain(&bench.levels).chain([&bench.exact])
}

/// Whether the store is set to this: an `ef` of the series that equals the setting is measured once more as the
/// setting.
fn is_own(row: &Measured, bench: &VectorBench) -> bool {
    row.quality == bench.setting && bench.levels.iter().any(|level| std::ptr::eq(level, row))
}

fn plot(bench: &VectorBench, options: &BenchOptions) -> Plot {
    let point = |row: &Measured, label: String, role| Point {
        recall: row.recall,
        micros: row.latency.p50.as_secs_f64() * 1e6,
        label,
        role,
    };
    let efforts = bench.ladder.iter().map(|row| {
        let label = match row.quality {
            Quality::Ef(ef) => ef.to_string(),
            other => other.to_string(),
        };
        point(row, label, Role::Effort)
    });
    let levels = bench.levels.iter().map(|row| {
        let role = if is_own(row, bench) { Role::Own } else { Role::Level };
        point(row, row.quality.to_string(), role)
    });
    Plot {
        title: format!("{} vectors of {} numbers", format::thousands(bench.vectors), bench.dims),
        recall: format!("recall@{}", options.limit),
        time: "time of a search, p50".to_owned(),
        points: efforts.chain(levels).collect(),
    }
}

/// The text before the plot, and after it.
fn text(bench: &VectorBench, options: &BenchOptions, plot: &Plot) -> [String; 2] {
    let BenchOptions { limit, seed, .. } = options;
    let queries = format::thousands(bench.queries as u64);
    let head = format!("{}\n{queries} of them searched for, the {limit} nearest of each, seed {seed}\n", plot.title);
    let targets = Quality::LEVELS.map(|level| format!("{level} {}", share(level).unwrap_or_default()));
    let levels = format!("quality levels, and the recall they aim at: {}", targets.join(", "));
    [head, ["\n".to_owned(), table_of(bench, *limit), levels, verdict(bench)].join("\n")]
}

fn table_of(bench: &VectorBench, limit: usize) -> String {
    let mut table = table::table(&["quality", &format!("recall@{limit}"), "p50", "p95", "p99", ""]);
    for row in rows(bench) {
        let time = |time: Duration| format::micros(time.as_micros() as u64);
        let latency = row.latency;
        let own = if is_own(row, bench) { "◆ your setting" } else { "" };
        let cells = vec![
            row.quality.to_string(),
            format!("{:.4}", row.recall),
            time(latency.p50),
            time(latency.p95),
            time(latency.p99),
            own.to_owned(),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[1, 2, 3, 4]);
    table.trim_fmt()
}

/// The recall and latency of the setting.
fn verdict(bench: &VectorBench) -> String {
    let Some(own) = bench.levels.iter().find(|row| is_own(row, bench)) else { return String::new() };
    let times = bench.exact.latency.p50.as_secs_f64() / own.latency.p50.as_secs_f64().max(f64::MIN_POSITIVE);
    let faster = if times >= 2.0 { format!(", {times:.0} times as fast as an exact scan") } else { String::new() };
    format!("your setting, {}: {:.2} % found{faster}", own.quality, own.recall * 100.0)
}

/// Old Windows consoles print colours as characters.
fn is_coloured() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !cfg!(windows) && !unwanted && std::io::stdout().is_terminal()
}
