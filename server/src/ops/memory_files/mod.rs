//! Claude's memory tool: files below `/memories`, each of which is a memory. Answers and errors are those of the tool on the
//! local disk in Anthropic's SDK.
//!
//! | file | job |
//! |---|---|
//! | `path.rs` | paths, as models write them |
//! | `files.rs` | which memories are files |
//! | `edit.rs` | changes of a text |
//! | `show.rs` | what `view` answers |

mod edit;
mod files;
mod path;
mod show;
#[cfg(test)]
mod tests;

use memorist_engine::types::{Expect, Filter, Kind, ListQuery, Record, RecordUpdate};
use memorist_engine::{Engine, Error};

use self::files::{MemoryFile, MemoryFiles, metadata_of, moved_to, path_of};
use self::path::MemoryPath;
use super::{Context, core};
use crate::wire::core::CoreGetParams;
use crate::wire::{AddParams, FileCommand, FileParams, Int, SearchParams};

/// Where the memories come from that the tool makes.
const SOURCE: &str = "memory-tool";
/// Most results of a search.
const FOUND: i64 = 10;
/// How often a change is tried where another process is faster.
const TRIES: usize = 100;

/// An error of a command.
#[derive(Debug)]
pub enum FileError {
    /// The command does not fit the files.
    Refused(String),
    /// The store refused it, or failed.
    Store(Error),
}

impl From<Error> for FileError {
    fn from(error: Error) -> Self {
        FileError::Store(error)
    }
}

impl From<String> for FileError {
    fn from(why: String) -> Self {
        FileError::Refused(why)
    }
}

/// Does the command of a call. The answer is for the model.
pub fn call(engine: &Engine, context: &Context, params: FileParams) -> Result<String, FileError> {
    run(engine, context, params.command()?)
}

fn run(engine: &Engine, context: &Context, command: FileCommand) -> Result<String, FileError> {
    let files = MemoryFiles::new(engine, &context.defaults);
    match command {
        FileCommand::View { path, range } => match MemoryPath::search(&path) {
            Some(words) => search(&files, context, words),
            None => view(&files, &MemoryPath::parse(&path)?, range.as_deref()),
        },
        FileCommand::Create { path, text } => create(&files, context, &MemoryPath::parse_new(&path)?, text),
        FileCommand::Replace { path, old, new } => {
            let path = MemoryPath::parse(&path)?;
            let (line, after) = edit(&files, &path, |text| edit::replaced(path.as_str(), text, &old, &new))?;
            let snippet = show::around(&after.content, line);
            Ok(format!(
                "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
            ))
        }
        FileCommand::Insert { path, after, text: lines } => {
            let path = MemoryPath::parse(&path)?;
            edit(&files, &path, |text| Ok((edit::inserted(text, after, &lines)?, 0)))?;
            Ok(format!("The file {} has been edited.", path.as_str()))
        }
        FileCommand::Delete { path } => delete(&files, &MemoryPath::parse(&path)?),
        FileCommand::Rename { old, new } => rename(&files, &MemoryPath::parse(&old)?, &MemoryPath::parse_new(&new)?),
    }
}

/// The memories that fit the words, files or not; of `#12`, the memory with this id.
fn search(files: &MemoryFiles<'_>, context: &Context, words: &str) -> Result<String, FileError> {
    let engine = files.engine;
    if words.is_empty() {
        return Err("Add the words to search for: view /memories/search/WORDS".to_owned().into());
    }
    if let Some(Ok(id)) = words.strip_prefix('#').map(str::parse) {
        return Ok(core::get(engine, context, CoreGetParams { id: Some(Int(id)), ..CoreGetParams::default() })?);
    }
    let params = SearchParams { query: words.to_owned(), limit: Some(Int(FOUND)), ..SearchParams::default() };
    let (mut text, found) = core::search_with_records(engine, context, params)?;
    for record in found.iter().filter(|record| files.has(record)) {
        if let Some(path) = path_of(record) {
            text.push_str(&format!("\n#{} is the file {path}", record.id));
        }
    }
    Ok(text)
}

fn view(files: &MemoryFiles<'_>, path: &MemoryPath, range: Option<&[Int]>) -> Result<String, FileError> {
    if let Some(file) = files.find(path)? {
        return Ok(show::file(path, &file.record.content, range));
    }
    let below = files.below(path)?;
    if below.is_empty() && !path.is_root() {
        return Err(missing(path));
    }
    let mut text = show::folder(path, &below);
    if path.is_root() {
        let all = ListQuery { filter: Filter::of(files.searched.clone()), ..ListQuery::default() };
        text += &show::searches(files.engine.list_count(&all)?);
    }
    Ok(text)
}

fn missing(path: &MemoryPath) -> FileError {
    format!("The path {} does not exist. Please provide a valid path.", path.as_str()).into()
}

fn create(files: &MemoryFiles<'_>, context: &Context, path: &MemoryPath, text: String) -> Result<String, FileError> {
    check_text(&text)?;
    let taken = || format!("File {} already exists", path.as_str());
    check_free(files, path, taken)?;
    let made = AddParams {
        content: text.clone(),
        entry_type: Some(Kind::Background),
        source: Some(SOURCE.to_owned()),
        context: Some(path.words()),
        metadata: Some(metadata_of(path).into()),
        ..AddParams::default()
    };
    let saved = super::save(files.engine, context, made)?;
    let mut record = files.record(saved.id.into())?;
    if !saved.created {
        // A memory has this text already. One that is no file becomes this one.
        if record.kind == Kind::Profile || path_of(&record).is_some() {
            return Err(same_text(&record));
        }
        let update = RecordUpdate {
            content: Some(text.clone()),
            expires_at: Some(None),
            reason: Some("became a file".to_owned()),
            ..moved_to(&record, path)
        };
        record = files.memories().update(record.id, &update)?.record;
    }
    // Another process may have made one at the same time: the one that was saved first has the path.
    if files.find(path)?.is_some_and(|first| first.record.id != record.id) {
        match saved.created {
            true => drop(files.memories().delete(record.id)?),
            false => drop(files.memories().undo_expected(record.id, Some(&Expect::Version(record.version)))?),
        }
        return Err(taken().into());
    }
    let redacted = (record.content != text).then(|| "passwords and keys were redacted".to_owned());
    let notes = redacted.into_iter().chain(saved.notes).map(|note| format!("\n({note})"));
    Ok(format!("File created successfully at: {}{}", path.as_str(), notes.collect::<String>()))
}

fn check_text(text: &str) -> Result<(), FileError> {
    match text.trim().is_empty() {
        true => Err("A memory file cannot be empty: give it a text, or delete it".to_owned().into()),
        false => Ok(()),
    }
}

/// A scope has a text once.
fn same_text(other: &Record) -> FileError {
    let name = path_of(other).map_or_else(|| format!("Memory #{}", other.id), str::to_owned);
    format!("{name} has exactly this text already: use it, or write another text").into()
}

/// Checks that a file can be made there: nothing is, and what it is in are folders.
fn check_free(files: &MemoryFiles<'_>, path: &MemoryPath, taken: impl FnOnce() -> String) -> Result<(), FileError> {
    if path.is_root() || files.is_taken(path)? {
        return Err(taken().into());
    }
    for folder in path.folders() {
        if files.find(&MemoryPath::parse(folder)?)?.is_some() {
            return Err(format!("The path {folder} is a file, not a folder").into());
        }
    }
    Ok(())
}

/// Does what depends on the versions of files, again if another process has changed one of them.
fn retried<T>(mut attempt: impl FnMut() -> Result<T, FileError>) -> Result<T, FileError> {
    for _ in 1..TRIES {
        match attempt() {
            Err(FileError::Store(Error::Invalid { field: "expect", .. } | Error::NotFound(_))) => {}
            done => return done,
        }
    }
    attempt()
}

/// Gives a file the text that `change` makes of its text. Returns what else `change` says, and the record.
fn edit<T>(
    files: &MemoryFiles<'_>,
    path: &MemoryPath,
    change: impl Fn(&str) -> Result<(String, T), String>,
) -> Result<(T, Record), FileError> {
    retried(|| {
        let before = match files.find(path)? {
            Some(file) => file.record,
            None if path.is_root() || files.is_taken(path)? => {
                return Err(format!("The path {} is not a file.", path.as_str()).into());
            }
            None => return Err(missing(path)),
        };
        let (text, said) = change(&before.content)?;
        check_text(&text)?;
        let expect = Some(Expect::Version(before.version));
        let update = RecordUpdate { content: Some(text), expect, ..RecordUpdate::default() };
        match files.memories().update(before.id, &update) {
            Ok(outcome) => Ok((said, outcome.record)),
            Err(Error::Duplicate(id)) => Err(same_text(&files.record(id)?)),
            Err(error) => Err(error.into()),
        }
    })
}

/// The files that a path names: one, or those of a folder.
fn named(files: &MemoryFiles<'_>, path: &MemoryPath) -> Result<Vec<MemoryFile>, FileError> {
    let named = match files.find(path)? {
        Some(file) => vec![file],
        None => files.below(path)?,
    };
    match named.is_empty() {
        true => Err(format!("The path {} does not exist", path.as_str()).into()),
        false => Ok(named),
    }
}

fn delete(files: &MemoryFiles<'_>, path: &MemoryPath) -> Result<String, FileError> {
    if path.is_root() {
        return Err("Cannot delete the /memories directory itself".to_owned().into());
    }
    retried(|| delete_all(files, &named(files, path)?))?;
    Ok(format!("Successfully deleted {}", path.as_str()))
}

/// Deletes all files.
pub fn clear(engine: &Engine, context: &Context) -> Result<String, FileError> {
    let files = MemoryFiles::new(engine, &context.defaults);
    retried(|| delete_all(&files, &files.below(&MemoryPath::root())?))?;
    Ok("All memory cleared".to_owned())
}

fn delete_all(files: &MemoryFiles<'_>, deleted: &[MemoryFile]) -> Result<(), FileError> {
    let each = deleted.iter().map(|file| (file.record.id, Expect::Version(file.record.version)));
    files.memories().delete_all(&each.collect::<Vec<_>>())?;
    Ok(())
}

fn rename(files: &MemoryFiles<'_>, old: &MemoryPath, new: &MemoryPath) -> Result<String, FileError> {
    if old.is_root() {
        return Err("Cannot rename the /memories directory itself".to_owned().into());
    }
    if new.is_in(old.as_str()) {
        return Err(format!("Cannot rename {} into itself", old.as_str()).into());
    }
    let taken = || format!("The destination {} already exists", new.as_str());
    let moved = retried(|| {
        let moved = named(files, old)?;
        check_free(files, new, taken)?;
        let updates = moved.iter().map(|file| {
            let below = &file.path[old.as_str().len()..];
            let path = MemoryPath::parse_new(&format!("{}{below}", new.as_str()))?;
            Ok((file.record.id, moved_to(&file.record, &path)))
        });
        let updates: Vec<_> = updates.collect::<Result<_, String>>()?;
        Ok(files.memories().update_all(&updates)?)
    })?;
    // Another process may have made something there at the same time.
    let is_moved = |record: &Record| moved.iter().any(|outcome| outcome.record.id == record.id);
    let below = files.below(new)?.into_iter().map(|file| file.record);
    if files.at(new.as_str())?.into_iter().chain(below).any(|record| !is_moved(&record)) {
        for outcome in &moved {
            let expect = Expect::Version(outcome.record.version);
            files.memories().undo_expected(outcome.record.id, Some(&expect))?;
        }
        return Err(taken().into());
    }
    Ok(format!("Successfully renamed {} to {}", old.as_str(), new.as_str()))
}
