//! The journal of a run: `STORE/tidy/TIME.jsonl`, a line for each change, on disk before the change is made. It holds no texts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

use jiff::Timestamp;
use memorist_durable::{PrivateFolder, sync_folder};
use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::types::{LinkKind, Millis, RecordId};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::wire::tidy::TidyRun;

/// Journals that are kept.
const KEPT: usize = 20;
const SUFFIX: &str = ".jsonl";
/// The option that undoes the last run.
pub const LAST: &str = "last";

/// A line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Line {
    /// A change is about to be made.
    Change(Change),
    /// All of the above was undone.
    Undone(Millis),
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<(RecordId, i64)>,
}

/// A journal that is written.
#[derive(Debug)]
pub struct Journal {
    /// The name of the run.
    pub run: String,
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Begins a journal, and removes all but the newest ones.
    pub fn begin(engine: &Engine) -> Result<Self, Failure> {
        let path = folder(engine);
        let failure = |error| Failure::file(&path, &error);
        PrivateFolder::create(&path).map_err(failure)?;
        for old in names(engine)?.iter().rev().skip(KEPT - 1) {
            match fs::remove_file(path.join(old.clone() + SUFFIX)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failure(error)),
                _ => {}
            }
        }
        let now = Timestamp::from_millisecond(engine.now()).unwrap_or_default();
        let begun = now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let later = (2_u32..).map(|number| format!("{begun}-{number:03}"));
        for run in [begun.clone()].into_iter().chain(later) {
            let path = path.join(run.clone() + SUFFIX);
            match new_file().open(&path) {
                Ok(file) => {
                    sync_folder(&folder(engine)).map_err(failure)?;
                    return Ok(Journal { run, path, file });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::file(&path, &error)),
            }
        }
        Err(Failure::input("there is no name left for a journal"))
    }

    /// Writes a line, to the disk.
    pub fn write(&mut self, line: &Line) -> Result<(), Failure> {
        let text = serde_json::to_string(line).map_err(|error| Failure::file(&self.path, &error.into()))? + "\n";
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| Failure::file(&self.path, &error))
    }
}

fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens the journal of a run, or of the last one that was not undone, for its undo. Returns its changes, too.
pub fn open(engine: &Engine, run: &str) -> Result<(Journal, Vec<Change>), Failure> {
    let all = names(engine)?;
    let run = match run {
        LAST => {
            let mut newest_first = all.iter().rev();
            let open = newest_first.find_map(|run| match read(engine, run) {
                Ok((_, true)) => None,
                Ok((_, false)) => Some(Ok(run)),
                Err(failure) => Some(Err(failure)),
            });
            open.ok_or_else(|| Failure::input("there is no run of `memorist tidy` to undo"))??
        }
        named => {
            let unknown =
                || Failure::input(format!("there is no run {named:?}; `memorist tidy --undo list` names them"));
            all.iter().find(|run| *run == named).ok_or_else(unknown)?
        }
    };
    let (changes, is_undone) = read(engine, run)?;
    if is_undone {
        return Err(Failure::input(format!("the run {run} was undone already")));
    }
    let path = folder(engine).join(run.clone() + SUFFIX);
    let file = OpenOptions::new().append(true).open(&path).map_err(|error| Failure::file(&path, &error))?;
    Ok((Journal { run: run.clone(), path, file }, changes))
}

/// The runs whose journals are kept, the newest first.
///
/// # Errors
/// If a journal cannot be read.
pub fn runs(engine: &Engine) -> Result<Vec<TidyRun>, Failure> {
    let run = |run: &String| {
        let (changes, undone) = read(engine, run)?;
        Ok(TidyRun { run: run.clone(), proposals: changes.len() as u64, undone })
    };
    names(engine)?.iter().rev().map(run).collect()
}

/// The changes of a run, and whether they were undone.
fn read(engine: &Engine, run: &str) -> Result<(Vec<Change>, bool), Failure> {
    let path = folder(engine).join(run.to_owned() + SUFFIX);
    let failure = |error| Failure::file(&path, &error);
    let (mut changes, mut is_undone) = (Vec::new(), false);
    let opened = PrivateFolder::open(&folder(engine)).and_then(|folder| folder.open_own(&(run.to_owned() + SUFFIX)));
    let mut lines = BufReader::new(opened.map_err(failure)?);
    let mut text = String::new();
    // The last line may be cut: then its change was not made.
    while lines.read_line(&mut text).map_err(failure)? > 0 && text.ends_with('\n') {
        match serde_json::from_str(&text) {
            Ok(Line::Change(change)) => changes.push(change),
            Ok(Line::Undone(_)) => is_undone = true,
            Err(error) => return Err(Failure::input(format!("{}: {error}", path.display()))),
        }
        text.clear();
    }
    Ok((changes, is_undone))
}

/// The runs, the oldest first.
fn names(engine: &Engine) -> Result<Vec<String>, Failure> {
    let path = folder(engine);
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Failure::file(&path, &error))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut runs: Vec<String> = names.filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned)).collect();
    runs.sort_unstable();
    Ok(runs)
}

fn folder(engine: &Engine) -> PathBuf {
    StorePaths::new(engine.root()).tidy()
}
