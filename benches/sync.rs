//! How long it takes to read notes and transcripts: for the first time, again when nothing has changed, and after an edit.
//!
//! Corpus: a vault of 10,000 notes, and 1,000 sessions of 200 turns, in the formats of six agents. Nothing is embedded.
//! Run: `cargo bench --bench sync`; `MEMORIST_BENCH_COUNT` is how many notes, and ten times as many as sessions.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_data::transcripts::Agent;
use bench_data::{sessions, vault};
use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::{ModelSettings, Tokenizer, local_tokenizer};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewSource, Query, Scope, SourceKind};
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sources::chunks::{Limits, chunk};
use memorist_ingest::sources::formats;
use memorist_ingest::sources::notes::kind_of;
use memorist_ingest::sources::tokens::{Estimate, TokenCount};
use memorist_ingest::sync::{SyncOptions, Syncer};
use memorist_ingest::watch::Watcher;

const SEED: u64 = 42;
const TURNS: usize = 200;
const DEBOUNCE: u64 = 100;

/// The names of the formats in which [`Agent::ALL`] writes.
const FORMATS: [&str; 6] = ["claude-code", "codex", "gemini", "openclaw", "cursor", "gimli"];

struct ModelTokens(Tokenizer);

impl TokenCount for ModelTokens {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

fn create(path: &Path) -> BufWriter<File> {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    BufWriter::new(File::create(path).expect("made"))
}

/// Writes the files. Returns their bytes: of the notes, and of the sessions.
fn write(home: &Path, count: usize) -> (u64, u64) {
    let (mut notes, mut transcripts) = (0, 0);
    for note in vault(SEED, count) {
        create(&home.join("vault").join(note.path)).write_all(note.text.as_bytes()).expect("written");
        notes += note.text.len() as u64;
    }
    for (index, session) in sessions(SEED, count / 10, TURNS).enumerate() {
        let agent = Agent::ALL[index % Agent::ALL.len()];
        let path = home.join(agent.path(&session));
        agent.write(&session, &mut create(&path)).expect("written");
        transcripts += fs::metadata(&path).expect("there").len();
    }
    (notes, transcripts)
}

/// Megabytes in a second.
fn rate(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// Parse and chunk alone, on this thread.
fn parse(home: &Path, notes: u64, transcripts: u64, tokens: &dyn TokenCount) {
    let mut paths: Vec<PathBuf> = Vec::new();
    files(&home.join("vault"), &mut paths);
    let texts: Vec<_> = paths.iter().map(|path| (path, fs::read_to_string(path).expect("text"))).collect();
    let began = Instant::now();
    let chunks: usize = texts
        .iter()
        .map(|(path, text)| chunk(text, kind_of(path), &Limits::default(), tokens, &Default::default()).chunks.len())
        .sum();
    eprintln!("notes, parsed and cut into {chunks} chunks on one core: {:.0} MB/s", rate(notes, began.elapsed()));
    let began = Instant::now();
    let (mut turns, mut said) = (0, 0);
    for format in FORMATS.into_iter().filter_map(formats::by_name) {
        for place in format.places(&memorist_ingest::sources::machine::Machine::new(home, [])) {
            let mut paths = Vec::new();
            files(&place, &mut paths);
            for path in paths.iter().filter(|path| format.is_transcript(path)) {
                let batch = format.read(path, None).expect("read");
                turns += batch.turns.len();
                said += batch.turns.iter().map(|turn| turn.text.len()).sum::<usize>();
            }
        }
    }
    let time = began.elapsed();
    let text = rate(said as u64, time);
    eprintln!(
        "transcripts, parsed into {turns} turns on one core: {:.0} MB/s of files, {text:.0} MB/s of what was said",
        rate(transcripts, time)
    );
}

fn files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, paths) } else { paths.push(path) }
    }
}

fn sources(home: &Path) -> Vec<NewSource> {
    let source = |kind, path: PathBuf, format: Option<&str>| NewSource {
        kind,
        path: path.to_str().expect("Unicode").to_owned(),
        format: format.map(str::to_owned),
        globs: Vec::new(),
        scope: Scope::default(),
    };
    let mut all = vec![source(SourceKind::Notes, home.join("vault"), None)];
    for format in FORMATS.into_iter().filter_map(formats::by_name) {
        let places = format.places(&memorist_ingest::sources::machine::Machine::new(home, []));
        let there = places.into_iter().filter(|place| place.exists());
        all.extend(there.map(|place| source(SourceKind::Sessions, place, Some(format.name()))));
    }
    all
}

/// The most memory that this process has had, in MiB.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? / 1024)
}

fn main() {
    let count = std::env::var("MEMORIST_BENCH_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let (notes, transcripts) = write(&home, count);
    eprintln!("{count} notes, {} MB; {} sessions, {} MB", notes / 1_000_000, count / 10, transcripts / 1_000_000);

    let store = folder.path().join("store");
    let config = Config::without_model();
    let engine = Arc::new(Engine::open(&store, config).expect("opens"));
    let mut settings = SyncSettings::default();
    settings.watch_debounce_ms = DEBOUNCE;
    let model = ModelSettings::default();
    let syncer = Arc::new(Syncer::new(&store, settings.clone(), model.clone()));
    for source in sources(&home) {
        engine.add_source(&source).expect("added");
    }
    let sync = || syncer.sync(&engine, &SyncOptions::default(), &NoProgress).expect("read");
    let began = Instant::now();
    let first = sync().changes();
    let time = began.elapsed();
    eprintln!(
        "first reading, saved: {} records in {:.1} s, {:.0} MB/s of files",
        first.added,
        time.as_secs_f64(),
        rate(notes + transcripts, time)
    );
    engine.flush(&NoProgress).expect("applied");
    eprintln!(
        "and found by their words after {:.1} s; peak memory {} MiB",
        began.elapsed().as_secs_f64(),
        peak().unwrap_or(0)
    );

    let mut times: Vec<Duration> = (0..7)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(sync().changes(), Default::default(), "nothing changed");
            began.elapsed()
        })
        .collect();
    times.sort();
    eprintln!("again, nothing changed: {} ms (median of 7)", times[3].as_millis());

    let watcher = Watcher::start(engine.clone(), syncer.clone());
    std::thread::sleep(Duration::from_secs(3));
    let mut waits: Vec<Duration> = (0..7)
        .map(|number| {
            let word = format!("zqedit{number}");
            fs::write(home.join("vault/edit.md"), format!("# Edit\n\nThe word is {word}.\n")).expect("written");
            let began = Instant::now();
            // Parts of words are not searched: that reads every text.
            let query = Query { substring_tier: false, ..Query::new(&word) };
            while engine.search(&query).expect("searched").hits.iter().all(|hit| !hit.record.content.contains(&word)) {
                std::thread::sleep(Duration::from_millis(2));
            }
            let wait = began.elapsed();
            std::thread::sleep(Duration::from_millis(300));
            wait
        })
        .collect();
    waits.sort();
    eprintln!("an edit is found after {} ms, with a debounce of {DEBOUNCE} ms (median of 7)", waits[3].as_millis());
    drop(watcher);

    let tokens = local_tokenizer(&model).map(ModelTokens);
    let named = if tokens.is_some() { "the model's tokenizer" } else { "an estimate, as the model is not here" };
    eprintln!("tokens are counted by {named}");
    parse(&home, notes, transcripts, tokens.as_ref().map_or(&Estimate as &dyn TokenCount, |tokens| tokens));
}
