//! `memorist demo`: a store of 2,000 memories, filled and searched in the terminal, and explored in a browser.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use bench_data::{Question, Style};
use memorist_durable::ThisProgram;
use memorist_engine::Engine;
use memorist_engine::config::Clock;
use memorist_engine::progress::Progress;
use memorist_engine::types::{Kind, Millis, Mode, RecordId, Viewer};
use serde::Serialize;
use serde_json::Value;

use super::progress::Bars;
use super::{App, closing, format, table};
use crate::args::Demo;
use crate::exit::{Failure, Kind as Sort, Outcome};
use crate::explorer;
use crate::ops::Context;
use crate::output::Output;
use crate::wire::{self, AddParams, Defaults, Importance, Int, SearchHit, SearchParams};

/// Seed of the memories, which are equal every time.
const SEED: u64 = 1;
const MEMORIES: usize = 2_000;
/// Memories of each day of a week, times those of five days in turn: some days have many, others none. That is 39 a week
/// and so a year.
const OF_WEEK: [usize; 7] = [3, 11, 1, 6, 15, 2, 1];
/// See [`OF_WEEK`].
const IN_TURN: [usize; 5] = [1, 0, 2, 1, 1];
const DAY: Millis = 24 * 3_600_000;
/// Questions per style.
const PER_STYLE: usize = 2;

/// The measurements, and the result with `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoReport {
    memories: usize,
    saved_millis: u64,
    embedded: u64,
    embedded_millis: u64,
    indexed_millis: u64,
    searches: Vec<DemoSearch>,
}

/// One search and its results.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoSearch {
    query: String,
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'static str>,
    /// Microseconds for the embedding of the query.
    embed_us: u64,
    /// Microseconds of everything else.
    search_us: u64,
    results: Vec<SearchHit>,
    /// Ids of the expected memories, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<RecordId>,
}

pub fn run(app: &App, args: &Demo) -> Outcome {
    let bars = app.bars()?;
    let temporary;
    let folder = match &args.keep {
        Some(folder) => folder.as_path(),
        None => {
            let failure = |error| Failure::new(Sort::Io, format!("cannot make a temporary folder: {error}"));
            temporary = tempfile::tempdir().map_err(failure)?;
            temporary.path()
        }
    };
    let mut config = app.settings().engine.clone();
    config.index_writer = false;
    config.team = None;
    let (clock, at) = clock();
    config.clock = clock;
    let engine = Engine::open(folder, config)?;
    engine.prepare_model(&mut |plan| app.announce(plan), &bars)?;
    let output = app.output();
    let report = show(&engine, &bars, output, &at)?;
    engine.close();
    if args.explore {
        let options = explorer::ExplorerOptions { port: 0, open: true, read_only: false };
        let mut settings = app.settings().at(folder)?;
        settings.context.defaults = Defaults::default();
        return explorer::run(settings, options);
    }
    if output.json {
        output.document(&report)?;
    } else {
        output.text(closing(args.keep.as_deref())?)?;
    }
    Ok(0)
}

/// Fills the store and searches it, with a commentary.
fn show(engine: &Engine, bars: &Bars, output: Output, at: &AtomicI64) -> Result<DemoReport, Failure> {
    let tell = |text: String| if output.json { Ok(()) } else { output.text(text) };
    let started = Instant::now();
    let ids = fill(engine, bars, at)?;
    let saved = started.elapsed();
    let started = Instant::now();
    let embedded = engine.embed_pending(bars)?;
    let embedding = started.elapsed();
    let started = Instant::now();
    engine.flush(bars)?;
    let indexing = started.elapsed();
    bars.finish();
    tell(format!(
        "{} saved in {}, embedded in {} ({:.0} per second), indexed in {}.\n",
        format::memories(MEMORIES as u64),
        format::micros(micros(saved)),
        format::micros(micros(embedding)),
        embedded as f64 / embedding.as_secs_f64().max(1e-6),
        format::micros(micros(indexing)),
    ))?;
    let mut report = DemoReport {
        memories: MEMORIES,
        saved_millis: micros(saved) / 1_000,
        embedded,
        embedded_millis: micros(embedding) / 1_000,
        indexed_millis: micros(indexing) / 1_000,
        searches: Vec::new(),
    };
    for question in chosen() {
        let answers = question.answers.iter().filter_map(|index| ids.get(*index).copied()).collect();
        let mode = mode(question.style);
        let params = SearchParams { query: question.text, mode: Some(mode), limit: Some(Int(3)), ..Default::default() };
        let search = search(engine, params, None, answers)?;
        tell(text(&search))?;
        report.searches.push(search);
    }
    let params = SearchParams {
        query: "what should I keep in mind about food".into(),
        limit: Some(Int(3)),
        entry_types: Some(vec![Kind::Preference]),
        min_importance: Some(Importance(6)),
        ..Default::default()
    };
    let search = search(engine, params, Some("preferences of importance 6 or more"), Vec::new())?;
    tell(text(&search))?;
    report.searches.push(search);
    Ok(report)
}

/// A clock that stands still until it is set, and the time on it.
fn clock() -> (Clock, Arc<AtomicI64>) {
    let at = Arc::new(AtomicI64::new(memorist_engine::now()));
    let shown = Arc::clone(&at);
    (Clock::new(move || shown.load(Ordering::Relaxed)), at)
}

/// Saves the memories, as if in the last year: the time of the store is `at`. Returns their ids, in order.
fn fill(engine: &Engine, bars: &Bars, at: &AtomicI64) -> Result<Vec<RecordId>, Failure> {
    bars.start("saving", Some(MEMORIES as u64));
    let records = bench_data::memories(SEED, MEMORIES)
        .map(|memory| {
            let Ok(Value::Object(line)) = serde_json::to_value(memory) else {
                return Err(Failure::new(Sort::Internal, "a memory of the demo is not a JSON object"));
            };
            let params = wire::parse::<AddParams>(line).map_err(|error| Failure::new(Sort::Internal, error))?;
            let caller = Defaults::default().caller(&params.project, &params.agent)?;
            Ok(wire::new_record(params, caller.scope)?)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut ids = Vec::with_capacity(MEMORIES);
    let days = days(records.len());
    let (now, mut left) = (at.load(Ordering::Relaxed), records.as_slice());
    for (day, count) in days.iter().enumerate() {
        if bars.cancelled() {
            return Err(memorist_engine::Error::Cancelled.into());
        }
        let (batch, later) = left.split_at(*count);
        left = later;
        at.store(now - (days.len() - 1 - day) as Millis * DAY, Ordering::Relaxed);
        for outcome in engine.add_batch(batch)? {
            ids.push(outcome?.id);
        }
        bars.advance(batch.len() as u64);
    }
    bars.finish();
    Ok(ids)
}

/// How many of `count` memories each day has.
fn days(count: usize) -> Vec<usize> {
    let (mut days, mut left) = (Vec::new(), count);
    while left > 0 {
        let of_day = (OF_WEEK[days.len() % OF_WEEK.len()] * IN_TURN[days.len() % IN_TURN.len()]).min(left);
        left -= of_day;
        days.push(of_day);
    }
    days
}

/// A few questions of each style, those without shared words first.
fn chosen() -> Vec<Question> {
    let all = bench_data::questions(SEED, MEMORIES, 200);
    let of = |style| all.iter().filter(move |question| question.style == style).take(PER_STYLE).cloned();
    of(Style::Meaning).chain(of(Style::Word)).chain(of(Style::Both)).collect()
}

fn mode(style: Style) -> Mode {
    match style {
        Style::Meaning => Mode::Vector,
        Style::Word => Mode::Keyword,
        Style::Both => Mode::Hybrid,
    }
}

fn search(
    engine: &Engine,
    params: SearchParams,
    filter: Option<&'static str>,
    answers: Vec<RecordId>,
) -> Result<DemoSearch, Failure> {
    let query = Context { tool: "memorist demo", ..Context::default() }.query(&params, Viewer::OWNER)?;
    let reply = engine.search(&query)?;
    let embed_us = reply.explain.embed_us;
    let search_us = reply.explain.total_us.saturating_sub(embed_us);
    let results = wire::search_result(reply, &params, &query).results;
    Ok(DemoSearch {
        query: params.query,
        mode: params.mode.unwrap_or_default(),
        filter,
        embed_us,
        search_us,
        results,
        answers,
    })
}

fn text(search: &DemoSearch) -> String {
    let how = match search.mode {
        Mode::Vector => "vector search",
        Mode::Keyword => "keyword search",
        Mode::Hybrid => "hybrid search",
    };
    let filter = search.filter.map(|filter| format!(", only {filter}")).unwrap_or_default();
    let known: HashSet<i64> = search.answers.iter().map(|id| id.get()).collect();
    let right = search.results.iter().position(|hit| known.contains(&hit.id));
    let verdict = match right {
        _ if known.is_empty() => String::new(),
        Some(rank) => format!("; the right answer is number {}", rank + 1),
        None => "; the right answer is not among the first hits".to_owned(),
    };
    let embedding = match search.mode {
        Mode::Keyword => String::new(),
        _ => format!(", after {} to embed the question", format::micros(search.embed_us)),
    };
    let time = format::micros(search.search_us);
    format!(
        "“{}” ({how}{filter})\n{}\nfound in {time}{embedding}{verdict}\n",
        search.query,
        table::hits(&search.results, false)
    )
}

fn closing(kept: Option<&Path>) -> Result<String, Failure> {
    let program = ThisProgram::find()
        .map_err(|error| Failure::new(Sort::Io, format!("cannot tell where this program is: {error}")))?;
    let store = kept.map(std::path::absolute).transpose().map_err(|error| Failure::new(Sort::Io, error.to_string()))?;
    Ok(closing::text(&program, store.as_deref()))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use memorist_engine::config::Config;

    use super::*;

    #[test]
    fn questions_of_every_style_have_answers_in_the_demo() {
        let chosen = chosen();
        assert_eq!(chosen.len(), 3 * PER_STYLE);
        assert!(chosen.iter().all(|question| question.answers.iter().all(|index| *index < MEMORIES)));
    }

    /// 43.14
    #[test]
    fn its_memories_were_saved_over_a_year() {
        let folder = tempfile::tempdir().unwrap();
        let (clock, at) = clock();
        let now = at.load(Ordering::Relaxed);
        let mut config = Config::without_model();
        config.clock = clock;
        let engine = Engine::open(folder.path(), config).unwrap();
        let bars = Bars::new(Output { json: false, quiet: true }, Arc::default());
        let ids = fill(&engine, &bars, &at).unwrap();
        let saved = |id: &RecordId| engine.viewed_by(&Viewer::OWNER).get(*id).unwrap().unwrap().created_at;
        let (first, last) = (saved(&ids[0]), saved(ids.last().unwrap()));
        assert_eq!((ids.len(), last), (MEMORIES, now));
        assert!((330..370).contains(&((last - first) / DAY)), "{first} {last}");
    }

    #[test]
    fn every_memory_of_the_demo_can_be_saved() {
        for memory in bench_data::memories(SEED, MEMORIES) {
            let Ok(Value::Object(line)) = serde_json::to_value(memory) else { panic!("not an object") };
            let params = wire::parse::<AddParams>(line).unwrap();
            let caller = Defaults::default().caller(&params.project, &params.agent).unwrap();
            wire::new_record(params, caller.scope).unwrap().validate().unwrap();
        }
    }
}
