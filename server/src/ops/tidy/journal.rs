//! The journal of a run: `STORE/tidy/TIME.jsonl`, a line for each change, on disk before the change is made. It holds no texts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::PathBuf;

use jiff::Timestamp;
use memorist_durable::{LockedFile, PrivateFolder, sync_folder};
use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::types::{LinkKind, RecordId};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::wire::tidy::TidyRun;

const KEPT: usize = 20;
const SUFFIX: &str = ".jsonl";
/// Names the last run that has something to undo.
const LAST: &str = "last";
/// Bytes of a journal that are read at most: more than 100,000 proposals.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum JournalLine {
    /// The run begins in the store with this lineage.
    Begun(String),
    /// A change is about to be made.
    Change(Change),
    /// The change of this proposal was refused.
    Refused(u32),
    /// The change of this proposal was taken back.
    Undone(u32),
}

/// The change of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// The number of the proposal.
    pub n: u32,
    /// The links that it makes: none of them was there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(RecordId, LinkKind, RecordId)>,
    /// The memory whose fields it changes, and its version before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<(RecordId, i64)>,
}

/// A journal that this process writes: no other one does meanwhile.
#[derive(Debug)]
pub struct Journal {
    /// The name of the run.
    pub run: String,
    path: PathBuf,
    file: LockedFile,
}

impl Journal {
    /// Begins a journal, and removes all but the newest ones.
    pub fn begin(engine: &Engine) -> Result<Self, Failure> {
        let folder = folder(engine);
        let failure = |error| Failure::file(&folder, &error);
        PrivateFolder::create(&folder).map_err(failure)?;
        for old in names(engine)?.iter().rev().skip(KEPT - 1) {
            match fs::remove_file(path(engine, old)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failure(error)),
                _ => {}
            }
        }
        let now = Timestamp::from_millisecond(engine.now()).unwrap_or_default();
        let begun = now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let later = (2_u32..).map(|number| format!("{begun}-{number:03}"));
        for run in [begun.clone()].into_iter().chain(later) {
            let path = path(engine, &run);
            let mut options = writable();
            options.create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(file) => {
                    sync_folder(&folder).map_err(failure)?;
                    let mut journal = Journal { file: locked(file, &run, &path)?, run, path };
                    journal.write(&JournalLine::Begun(engine.lineage().to_owned()))?;
                    return Ok(journal);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::file(&path, &error)),
            }
        }
        Err(Failure::input("there is no name left for a journal"))
    }

    /// Opens the journal of a run for its undo. Returns the changes that can be taken back, the first one first.
    pub fn open(engine: &Engine, run: &str) -> Result<(Self, Vec<Change>), Failure> {
        let run = match run {
            LAST => last(engine)?,
            named if names(engine)?.iter().any(|run| run == named) => named.to_owned(),
            named => {
                let why = format!("no run {named:?}; `memorist tidy --undo list` lists the runs");
                return Err(Failure::input(why));
            }
        };
        let path = path(engine, &run);
        // It checks whose file it is; the folder is private.
        Entries::read(engine, &run)?;
        let failure = |error| Failure::file(&path, &error);
        let file = writable().open(&path).map_err(failure)?;
        let file = locked(file, &run, &path)?;
        // By this handle: on Windows, no other one can read what it has locked.
        let Entries { bytes, store, open, .. } = Entries::parse(&*file).map_err(failure)?;
        if store.as_deref() != Some(engine.lineage()) {
            let why = format!("the run {run} is of another store, or of this one before it was restored");
            return Err(Failure::input(why));
        }
        // A line that was cut is removed.
        let cut = file.set_len(bytes).and_then(|()| (&*file).seek(SeekFrom::End(0)));
        cut.map_err(failure)?;
        Ok((Journal { run, path, file }, open))
    }

    /// Writes a line, to the disk.
    pub fn write(&mut self, line: &JournalLine) -> Result<(), Failure> {
        let text = serde_json::to_string(line).map_err(|error| Failure::file(&self.path, &error.into()))? + "\n";
        let written = (&*self.file).write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| Failure::file(&self.path, &error))
    }

    /// Removes a journal of a run that changed nothing.
    pub fn discard(self) {
        // If it stays, it is a run with nothing to undo.
        let _ = fs::remove_file(&self.path);
    }
}

/// Not for appending: Windows locks and cuts only files that can be written everywhere.
fn writable() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

fn locked(file: File, run: &str, path: &std::path::Path) -> Result<LockedFile, Failure> {
    let locked = LockedFile::try_lock(file).map_err(|error| Failure::file(path, &error))?;
    locked.ok_or_else(|| Failure::input(format!("the run {run} is still at work in another process; wait for its end")))
}

/// The last run that has something to undo.
fn last(engine: &Engine) -> Result<String, Failure> {
    for run in names(engine)?.into_iter().rev() {
        let entries = Entries::read(engine, &run).map_err(|failure| {
            Failure::input(format!("{failure}; name the run to undo, as `memorist tidy --undo list` shows them"))
        })?;
        if !entries.open.is_empty() {
            return Ok(run);
        }
    }
    Err(Failure::input("no run of `memorist tidy` to undo"))
}

/// The runs whose journals are kept, the newest first.
///
/// # Errors
/// If their folder cannot be read.
pub fn runs(engine: &Engine) -> Result<Vec<TidyRun>, Failure> {
    let run = |run: String| match Entries::read(engine, &run) {
        Ok(Entries { made, open, .. }) => TidyRun { run, applied: made, undone: made - open.len() as u64, error: None },
        Err(failure) => TidyRun { run, applied: 0, undone: 0, error: Some(failure.to_string()) },
    };
    Ok(names(engine)?.into_iter().rev().map(run).collect())
}

/// The content of a journal.
#[derive(Debug, Default)]
struct Entries {
    /// Bytes of its whole lines. The last one may be cut: then its change was not made.
    bytes: u64,
    /// The lineage of its store.
    store: Option<String>,
    /// The number of changes that were made.
    made: u64,
    /// The changes among them that were not taken back.
    open: Vec<Change>,
}

impl Entries {
    fn read(engine: &Engine, run: &str) -> Result<Self, Failure> {
        let file = PrivateFolder::open(&folder(engine)).and_then(|own| own.open_own(&(run.to_owned() + SUFFIX)));
        file.and_then(Entries::parse).map_err(|error| Failure::file(&path(engine, run), &error))
    }

    fn parse(file: impl Read) -> io::Result<Self> {
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        let mut entries = Entries { bytes: text.len() as u64, ..Entries::default() };
        for line in text.lines() {
            match serde_json::from_str(line)? {
                JournalLine::Begun(store) => entries.store = Some(store),
                JournalLine::Change(change) => {
                    entries.made += 1;
                    entries.open.push(change);
                }
                JournalLine::Refused(n) => {
                    entries.made -= u64::from(entries.close(n));
                }
                JournalLine::Undone(n) => drop(entries.close(n)),
            }
        }
        Ok(entries)
    }

    /// Returns whether there was such a change.
    fn close(&mut self, n: u32) -> bool {
        let before = self.open.len();
        self.open.retain(|change| change.n != n);
        self.open.len() < before
    }
}

/// The runs, the oldest first.
fn names(engine: &Engine) -> Result<Vec<String>, Failure> {
    let folder = folder(engine);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Failure::file(&folder, &error))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut runs: Vec<String> = names.filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned)).collect();
    runs.sort_unstable();
    Ok(runs)
}

fn path(engine: &Engine, run: &str) -> PathBuf {
    folder(engine).join(run.to_owned() + SUFFIX)
}

fn folder(engine: &Engine) -> PathBuf {
    StorePaths::new(engine.root()).tidy()
}
