//! `memorist bench --locomo`, `--longmemeval` and `--beam`: how well searches find the evidence of known benchmarks.

mod beam;
mod history;
mod locomo;
mod longmemeval;
mod report;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memorist_engine::config::ModelSource;
use memorist_engine::progress::Progress;
use memorist_engine::sensitive::Sensitive;
use memorist_engine::types::{Kind, NewRecord, Query, RecordId, Span, Tier};
use memorist_engine::{Engine, Error};

use self::history::{ChatHistory, Session, Turn};
use self::report::{BenchmarkReport, Scored};
use super::App;
use super::app::Maintenance;
use super::progress::Bars;
use crate::args::Bench;
use crate::exit::{Failure, Outcome};
use crate::wire;

/// Records per transaction.
const BATCH: usize = 500;
/// Results of a search, so that the first ten sessions are among them.
const LIMIT: usize = 50;

/// Runs the command, if a benchmark was named.
pub fn run(app: &App, args: &Bench) -> Option<Outcome> {
    let (name, path, histories) = match (&args.locomo, &args.longmemeval, &args.beam) {
        (Some(file), ..) => ("LoCoMo", file, locomo::read(file)),
        (_, Some(file), _) => ("LongMemEval", file, longmemeval::read(file)),
        (.., Some(folder)) => ("BEAM", folder, beam::read(folder)),
        _ => return None,
    };
    Some(histories.and_then(|histories| {
        let questions = histories.iter().map(|history| history.questions.len()).sum::<usize>();
        let turns = histories.iter().map(ChatHistory::turns).sum::<usize>();
        if let Some((_, what)) = [(questions, "question"), (turns, "turn")].into_iter().find(|(number, _)| *number == 0)
        {
            return Err(Failure::input(format!("{}: has no {what}", path.display())));
        }
        measure(app, name, histories, (questions + turns) as u64)
    }))
}

/// `steps`: of the progress bar.
fn measure(app: &App, name: &'static str, histories: Vec<ChatHistory>, steps: u64) -> Outcome {
    let bars = app.bars()?;
    let mut report = BenchmarkReport::new(name, &histories, app.settings().context.rerank);
    for (at, history) in histories.into_iter().enumerate() {
        let failure = |error| Failure::file(&std::env::temp_dir(), &error);
        let folder = tempfile::tempdir().map_err(failure)?;
        let engine = open(app, folder.path())?;
        if at == 0 {
            if has_model(app) {
                engine.prepare_model(&mut |plan| app.announce(plan), &bars)?;
            }
            bars.start("embedding and searching", Some(steps));
        }
        answer(app, &engine, history, &mut report, &bars)?;
        engine.close();
    }
    bars.finish();
    report.finish();
    app.output().result(&report, BenchmarkReport::text)?;
    Ok(0)
}

fn open(app: &App, folder: &Path) -> Result<Engine, Failure> {
    let mut config = app.config(Maintenance::Off);
    config.team = None;
    config.log_searches = false;
    config.sensitive = Sensitive::Redact;
    Ok(Engine::open(folder, config)?)
}

fn has_model(app: &App) -> bool {
    app.settings().engine.model.source != ModelSource::None
}

fn answer(
    app: &App,
    engine: &Engine,
    history: ChatHistory,
    report: &mut BenchmarkReport,
    bars: &Bars,
) -> Result<(), Failure> {
    // Questions without a date are asked at the end of the history, so that every day gives the same.
    let end = history.sessions.iter().filter_map(|session| session.date).max();
    let (ids, sessions) = save(engine, &history.sessions, bars)?;
    if has_model(app) {
        engine.embed_pending(&Silent(bars))?;
        engine.await_batch_jobs(&Silent(bars))?;
    }
    engine.flush(&Silent(bars))?;
    bars.advance(history.turns() as u64);
    for question in history.questions {
        if bars.cancelled() {
            return Err(Error::Cancelled.into());
        }
        bars.advance(1);
        let turns: BTreeSet<RecordId> = question.turns.iter().filter_map(|turn| ids.get(turn)).copied().collect();
        if turns.is_empty() && question.sessions.is_empty() {
            report.without_evidence += 1;
            continue;
        }
        let of_turns = turns.iter().filter_map(|id| sessions.get(id).cloned());
        let wanted = if question.sessions.is_empty() { of_turns.collect() } else { question.sessions };
        let reply = engine.search(&query(app, &question.text, question.date.or(end)))?;
        let found: Vec<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
        let mut found_sessions: Vec<String> = Vec::new();
        for hit in &reply.hits {
            if let Some(session) = hit.record.session.as_ref().filter(|session| !found_sessions.contains(session)) {
                found_sessions.push(session.clone());
            }
        }
        report.add(Scored {
            kind: question.kind,
            turns: (!turns.is_empty()).then(|| report::measured(&found, &turns)),
            sessions: report::measured(&found_sessions, &wanted),
            is_by_words: reply.tier != Tier::Full,
            is_reranked: reply.hits.iter().any(|hit| hit.logit.is_some()),
            micros: reply.explain.total_us,
        });
    }
    Ok(())
}

/// The record of each turn, and the session of each record. A text that was said before has the record of that.
type TurnRecords = (HashMap<String, RecordId>, HashMap<RecordId, String>);

fn save(engine: &Engine, sessions: &[Session], bars: &Bars) -> Result<TurnRecords, Failure> {
    let (mut names, mut records) = (Vec::new(), Vec::new());
    for session in sessions {
        let from = session.date.and_then(in_utc).map(|date| date.timestamp().as_millisecond());
        for (turn, Turn { id, text }) in session.turns.iter().enumerate() {
            names.push((id, &session.id));
            records.push(NewRecord {
                kind: Kind::Conversation,
                valid: Span { from, to: None },
                session: Some(session.id.clone()),
                turn: Some(turn as i64),
                ..NewRecord::new(text.replace('\0', " "))
            });
        }
    }
    let (mut ids, mut of_records) = TurnRecords::default();
    for (names, batch) in names.chunks(BATCH).zip(records.chunks(BATCH)) {
        if bars.cancelled() {
            return Err(Error::Cancelled.into());
        }
        for ((turn, session), outcome) in names.iter().zip(engine.add_batch(batch)?) {
            let id = outcome.map_err(|error| Failure::input(format!("turn {turn}: {error}")))?.id;
            ids.insert((*turn).clone(), id);
            of_records.entry(id).or_insert_with(|| (*session).clone());
        }
    }
    Ok((ids, of_records))
}

/// A query as an agent makes it with `memory_search`, but with more results, and weak ones too: their order is measured.
fn query(app: &App, text: &str, date: Option<DateTime>) -> Query {
    let now = date.and_then(in_utc).unwrap_or_else(Zoned::now);
    let period = wire::period(text, &now);
    Query { limit: LIMIT, period, rerank: app.settings().context.rerank, ..Query::new(text) }
}

fn in_utc(date: DateTime) -> Option<Zoned> {
    date.to_zoned(TimeZone::UTC).ok()
}

/// Its progress is not shown, but it ends when the command is cancelled.
struct Silent<'a>(&'a Bars);

impl Progress for Silent<'_> {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
