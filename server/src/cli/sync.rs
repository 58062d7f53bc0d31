//! `memorist sync`: reads the files that have changed, then embeds what is new.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use memorist_engine::progress::Progress as _;
use memorist_engine::types::{FileChanges, SourceId};
use memorist_ingest::note::GUESSED;
use memorist_ingest::noted::Noted;
use memorist_ingest::sync::{SyncOptions, SyncReport, Syncer};
use memorist_ingest::watch::Watcher;

use super::app::Maintenance;
use super::progress::Bars;
use super::{App, format};
use crate::args::SyncFiles;
use crate::exit::{Failure, Kind, Outcome};
use crate::wire::{SyncResult, SyncedSource};
use crate::wording::Worded as _;

/// How often a watching process looks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);
/// A hint after an interrupted run.
const RESTART: &str = "indexed files stay; run it again to continue";
/// The message where another process reads the files that hooks have named.
const ANOTHER: &str = "another process is indexing the transcripts that hooks queued";
/// Texts that are embedded to see how long one takes, and what is long for all.
const TRIED: u64 = 64;
const LONG: Duration = Duration::from_secs(120);
/// Reasons that a line names.
const NAMED: usize = 4;

/// The message where there are no sources.
pub const NONE: &str = "no sources; `memorist source discover` finds some, and `memorist source add PATH` adds one";

pub fn run(app: &App, args: &SyncFiles) -> Outcome {
    if args.watch {
        return watch(app, !args.no_embed);
    }
    let noted = Noted::of(&app.settings().store);
    if args.noted && noted.is_any().map_err(noted_failure)? && noted.alone().map_err(noted_failure)?.is_none() {
        app.output().result(&SyncResult::default(), |_| ANOTHER.to_owned())?;
        return Ok(0);
    }
    let engine = app.engine(Maintenance::Off)?;
    let source = args.source.as_deref().map(|source| find(&engine, source)).transpose()?;
    if engine.sources()?.is_empty() {
        app.output().note(NONE);
    }
    let bars = app.bars()?;
    let result = if args.noted {
        read_noted(app, &engine, &noted, args, &bars)?
    } else {
        read(app, &engine, &[SyncOptions { source, force: args.force }], !args.no_embed, &bars)?
    };
    engine.close();
    drop(bars);
    app.output().result(&result, text)?;
    Ok(0)
}

/// Reads the sources that hooks have named, until none is left: who starts meanwhile leaves its own to this process.
fn read_noted(app: &App, engine: &Engine, noted: &Noted, args: &SyncFiles, bars: &Bars) -> Result<SyncResult, Failure> {
    let mut all = SyncResult::default();
    while noted.is_any().map_err(noted_failure)? {
        let Some(alone) = noted.alone().map_err(noted_failure)? else { break };
        let taken = noted.take().map_err(noted_failure)?;
        let sources = taken.sources(engine)?.into_iter();
        let options: Vec<_> = sources.map(|id| SyncOptions { source: Some(id), force: args.force }).collect();
        let result = read(app, engine, &options, !args.no_embed, bars)?;
        all.sources.extend(result.sources);
        all.embedded += result.embedded;
        all.warnings.extend(result.warnings);
        all.warnings.dedup();
        taken.forget().map_err(noted_failure)?;
        drop(alone);
    }
    Ok(all)
}

fn noted_failure(error: std::io::Error) -> Failure {
    Failure::new(Kind::Io, format!("the transcripts that hooks queued: {error}"))
}

/// Reads what changes until Ctrl-C. Each line that is printed is what a reading changed.
fn watch(app: &App, embed: bool) -> Outcome {
    let bars = app.bars()?;
    let mut config = app.config(Maintenance::On);
    config.fetch_in_background = embed && config.model.source != ModelSource::None && config.model.may_download;
    let settings = app.settings();
    let engine = Arc::new(Engine::open(&settings.store, config)?);
    if engine.sources()?.is_empty() {
        app.output().note(NONE);
    }
    let mut watching = settings.sync.clone();
    watching.watch = true;
    let syncer = Arc::new(Syncer::new(&settings.store, watching, settings.engine.model.clone()));
    let output = app.output();
    let watcher = Watcher::start_with(engine.clone(), syncer, move |report| {
        if report.changes() != FileChanges::default() || report.sources.iter().any(|source| source.failed > 0) {
            // A closed stream needs no error.
            let _closed = output.result(&SyncResult::from(report.clone()), text);
        }
    });
    output.note("watching the files of the sources; Ctrl-C stops it");
    while !bars.cancelled() {
        std::thread::sleep(LOOK);
    }
    drop(watcher);
    if let Ok(engine) = Arc::try_unwrap(engine).map_err(drop) {
        engine.close();
    }
    Ok(0)
}

/// The source with this number or path.
pub fn find(engine: &Engine, named: &str) -> Result<SourceId, Failure> {
    let sources = engine.sources()?;
    let by_number = named.parse::<i64>().ok();
    let path = dunce::canonicalize(named).unwrap_or_else(|_| PathBuf::from(named));
    let found = sources.iter().find(|source| {
        by_number == Some(source.id.get()) || Path::new(&source.source.path) == path || source.source.path == named
    });
    found.map(|source| source.id).ok_or_else(|| {
        Failure::new(Kind::NotFound, format!("no source {named:?}; `memorist source list` shows the sources"))
    })
}

/// The syncer that reads the files of the store's sources.
pub fn syncer(app: &App) -> Syncer {
    let settings = app.settings();
    Syncer::new(&settings.store, settings.sync.clone(), settings.engine.model.clone())
}

/// Reads files with progress, source by source, embeds what is new, and applies it to the indexes.
pub fn read(app: &App, engine: &Engine, each: &[SyncOptions], embed: bool, bars: &Bars) -> Result<SyncResult, Failure> {
    let settings = app.settings();
    let syncer = syncer(app);
    let interrupted = |error: memorist_engine::Error| {
        if matches!(error, memorist_engine::Error::Cancelled) {
            app.output().note(RESTART);
        }
        Failure::from(error)
    };
    let mut report = SyncReport::default();
    for options in each {
        report.sources.extend(syncer.sync(engine, options, bars).map_err(interrupted)?.sources);
    }
    let mut result: SyncResult = report.into();
    if embed && settings.engine.model.source != ModelSource::None {
        let ready = engine.prepare_model(&mut |plan| app.announce(plan), bars);
        match ready.and_then(|()| embed_all(app, engine, bars)) {
            Ok(embedded) => result.embedded = embedded,
            Err(error @ memorist_engine::Error::Cancelled) => return Err(interrupted(error)),
            Err(error) => {
                result.warnings.push(format!("not embedded, so keyword search only for now: {}", error.worded()))
            }
        }
    }
    engine.flush(bars)?;
    Ok(result)
}

/// Embeds what waits. Of many texts it says first how long they take, by a few of them.
fn embed_all(app: &App, engine: &Engine, bars: &Bars) -> memorist_engine::Result<u64> {
    let begun = Instant::now();
    let tried = engine.backfill(TRIED, bars)?;
    let each = begun.elapsed() / u32::try_from(tried.embedded.max(1)).unwrap_or(u32::MAX);
    if let Some(note) = many(tried.remaining, each) {
        app.output().note(&note);
    }
    Ok(tried.embedded + engine.embed_pending(bars)?)
}

/// The message before many texts are embedded; `None` if it does not take long.
fn many(texts: u64, each: Duration) -> Option<String> {
    let seconds = each.as_secs_f64() * texts as f64;
    (seconds >= LONG.as_secs_f64()).then(|| {
        let (minutes, count) = ((seconds / 60.0).ceil(), format::thousands(texts));
        let time = if minutes < 120.0 { format!("{minutes} minutes") } else { format!("{:.0} hours", minutes / 60.0) };
        format!(
            "embedding {count} texts takes about {time}; keyword search finds them already, so Ctrl-C loses nothing; \
             `memorist sync --no-embed` leaves this to a running server or `memorist backfill`"
        )
    })
}

/// Lists the changes, a line a source.
pub fn text(result: &SyncResult) -> String {
    let mut lines: Vec<String> = result.sources.iter().map(line).collect();
    for source in &result.sources {
        lines.extend(source.problems.iter().map(|problem| format!("not read: {}: {}", problem.path, problem.why)));
        let named = source.problems.len() as u64;
        if source.failed > named {
            lines.push(format!("and {} more of it", format::thousands(source.failed - named)));
        }
    }
    if result.embedded > 0 {
        lines.push(format!("embedded {} texts", format::thousands(result.embedded)));
    }
    lines.extend(result.warnings.iter().cloned());
    if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
}

fn line(synced: &SyncedSource) -> String {
    let what = synced.source.format.clone().unwrap_or_else(|| synced.source.kind.to_owned());
    let mut parts = Vec::new();
    let mut part = |count: u64, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", format::thousands(count)));
        }
    };
    part(synced.added, "new");
    part(synced.changed, "changed");
    part(synced.removed, "removed");
    part(synced.gone, "files gone");
    part(synced.forgotten, "skipped (deleted before)");
    let files = format!(
        "{} of {} files read ({})",
        format::thousands(synced.read),
        format::thousands(synced.files),
        format::bytes(synced.bytes)
    );
    let changes = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    format!("{} {what} {}: {changes}; {files}{}", synced.source.id, synced.source.path, skipped(&synced.skipped))
}

/// Counts the files and records that were passed over, by reason, the most frequent first.
pub fn skipped(counts: &BTreeMap<String, u64>) -> String {
    let guessed =
        counts.get(GUESSED).map_or_else(String::new, |count| format!("; {} {GUESSED}", format::thousands(*count)));
    let mut counts: Vec<_> = counts.iter().filter(|(reason, _)| *reason != GUESSED).collect();
    counts.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
    let all: u64 = counts.iter().map(|(_, count)| **count).sum();
    let named: Vec<String> =
        counts.iter().take(NAMED).map(|(reason, count)| format!("{} {reason}", format::thousands(**count))).collect();
    let more = if counts.len() > NAMED { ", ..." } else { "" };
    if all == 0 { guessed } else { format!("{guessed}; skipped: {}{more}", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.10: who would wait for long learns how long, and how not to.
    #[test]
    fn many_texts_are_announced() {
        assert_eq!(many(1_000, Duration::from_millis(100)), None);
        let note = many(36_000, Duration::from_millis(250)).unwrap();
        assert!(
            note.starts_with("embedding 36,000 texts takes about 2 hours;") && note.contains("--no-embed"),
            "{note}"
        );
        assert!(many(1_300, Duration::from_millis(100)).unwrap().contains("about 3 minutes"));
    }

    /// 44.8: guesses are no omissions.
    #[test]
    fn guesses_stand_apart() {
        let counts = [(GUESSED.to_owned(), 3), ("no text".to_owned(), 1)].into();
        assert_eq!(skipped(&counts), "; 3 in a guessed encoding; skipped: 1 no text");
    }
}
