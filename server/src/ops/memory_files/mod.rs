//! Claude's memory tool: files below `/memories`, each of which is a memory. Answers and errors are those of the tool on the
//! local disk in Anthropic's SDK.
//!
//! | file | job |
//! |---|---|
//! | `path.rs` | paths, as models write them |
//! | `files.rs` | which memories are files |
//! | `show.rs` | what `view` answers |

mod files;
mod path;
mod show;
#[cfg(test)]
mod tests;

use memorist_engine::types::{Expect, Filter, Kind, MAX_LIMIT, RecordId, RecordUpdate};
use memorist_engine::{Engine, Error};

use self::files::{MemoryFile, MemoryFiles, metadata_of, moved_to, path_of};
use self::path::MemoryPath;
use super::Context;
use crate::wire::{AddParams, FileCommand, FileParams, Int, SearchParams};
use crate::wording::Worded;

/// Where the memories come from that the tool makes.
const SOURCE: &str = "memory-tool";
/// Most results of a search.
const FOUND: i64 = 10;

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

impl Worded for FileError {
    fn worded(&self) -> String {
        match self {
            FileError::Refused(why) => why.clone(),
            FileError::Store(error) => error.worded(),
        }
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
            Some(words) => search(engine, context, words),
            None => view(&files, &MemoryPath::parse(&path)?, range.as_deref()),
        },
        FileCommand::Create { path, text } => create(&files, context, &MemoryPath::parse_new(&path)?, text),
        FileCommand::Replace { path, old, new } => {
            let path = MemoryPath::parse(&path)?;
            edit(&files, &path, |text| replaced(&path, text, &old, &new))
        }
        FileCommand::Insert { path, after, text: lines } => {
            let path = MemoryPath::parse(&path)?;
            edit(&files, &path, |text| inserted(&path, text, after, &lines))
        }
        FileCommand::Delete { path } => delete(&files, &MemoryPath::parse(&path)?),
        FileCommand::Rename { old, new } => rename(&files, &MemoryPath::parse(&old)?, &MemoryPath::parse_new(&new)?),
    }
}

/// The memories that fit the words, files or not.
fn search(engine: &Engine, context: &Context, words: &str) -> Result<String, FileError> {
    let params = SearchParams { query: words.to_owned(), limit: Some(Int(FOUND)), ..SearchParams::default() };
    Ok(super::core::search(engine, context, &params)?)
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
        text += &show::searches(files.engine.stats(&Filter::of(files.viewer.clone()))?.total);
    }
    Ok(text)
}

fn missing(path: &MemoryPath) -> FileError {
    format!("The path {} does not exist. Please provide a valid path.", path.as_str()).into()
}

/// The file of a path that is to be changed.
fn file(files: &MemoryFiles<'_>, path: &MemoryPath) -> Result<MemoryFile, FileError> {
    match files.find(path)? {
        Some(file) => Ok(file),
        None if path.is_root() || files.is_taken(path)? => {
            Err(format!("The path {} is not a file.", path.as_str()).into())
        }
        None => Err(missing(path)),
    }
}

fn create(files: &MemoryFiles<'_>, context: &Context, path: &MemoryPath, text: String) -> Result<String, FileError> {
    check_text(&text)?;
    let taken = || format!("File {} already exists", path.as_str());
    check_free(files, path, taken)?;
    let made = AddParams {
        content: text,
        entry_type: Some(Kind::Background),
        source: Some(SOURCE.to_owned()),
        context: Some(path.words()),
        metadata: Some(metadata_of(path).into()),
        ..AddParams::default()
    };
    let saved = super::save(files.engine, context, made)?;
    if !saved.created {
        // A memory has this text already. One that is no file becomes this one.
        let id = RecordId::from(saved.id);
        let record = files.engine.peek(id, &files.viewer)?.ok_or(Error::NotFound(id))?;
        match path_of(&record) {
            Some(other) => return Err(same_text(other)),
            None => files.engine.update(id, &moved_to(&record, path), &files.viewer)?,
        };
    }
    Ok(format!("File created successfully at: {}", path.as_str()))
}

fn check_text(text: &str) -> Result<(), FileError> {
    match text.trim().is_empty() {
        true => Err("A memory file cannot be empty: give it a text, or delete it".to_owned().into()),
        false => Ok(()),
    }
}

/// A scope has a text once.
fn same_text(other: &str) -> FileError {
    format!("{other} has exactly this text already: use it, or write another text").into()
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

/// Gives a file the text that `change` makes of its text, with an answer. Where another process is faster, that one's text is
/// changed.
fn edit(
    files: &MemoryFiles<'_>,
    path: &MemoryPath,
    change: impl Fn(&str) -> Result<(String, String), String>,
) -> Result<String, FileError> {
    let mut before = file(files, path)?.record;
    loop {
        let (text, answer) = change(&before.content)?;
        check_text(&text)?;
        let expect = Some(Expect::Version(before.version));
        let update = RecordUpdate { content: Some(text), expect, ..RecordUpdate::default() };
        match files.engine.update(before.id, &update, &files.viewer) {
            Ok(_) => return Ok(answer),
            Err(Error::Duplicate(id)) => {
                let other = files.engine.peek(id, &files.viewer)?;
                let name = other.as_ref().and_then(path_of).map_or_else(|| format!("memory {id}"), str::to_owned);
                return Err(same_text(&name));
            }
            Err(error) => {
                let now = file(files, path)?.record;
                if (now.id, now.version) == (before.id, before.version) {
                    return Err(error.into());
                }
                before = now;
            }
        }
    }
}

/// The text with `new` for `old`, which it must have once.
fn replaced(path: &MemoryPath, text: &str, old: &str, new: &str) -> Result<(String, String), String> {
    let path = path.as_str();
    // Occurrences that overlap are several, too.
    let starts = |at: &usize| text.is_char_boundary(*at) && text[*at..].starts_with(old);
    let at: Vec<usize> = match old.is_empty() {
        true => return Err("No replacement was performed, old_str is empty.".to_owned()),
        false => (0..text.len()).filter(starts).collect(),
    };
    match at[..] {
        [] => Err(format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")),
        [at] => {
            let text = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
            let line = text[..at].matches('\n').count();
            let snippet = show::around(&text, line);
            let answer = format!(
                "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
            );
            Ok((text, answer))
        }
        _ => {
            let line = |at: &usize| (text[..*at].matches('\n').count() + 1).to_string();
            let lines = at.iter().map(line).collect::<Vec<_>>().join(", ");
            Err(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is \
                 unique"
            ))
        }
    }
}

/// The text with further lines behind line `after`. As in the SDK, it ends with a line break then.
fn inserted(path: &MemoryPath, text: &str, after: i64, new: &str) -> Result<(String, String), String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let at = usize::try_from(after).ok().filter(|at| *at <= lines.len()).ok_or_else(|| {
        let range = lines.len();
        format!("Invalid `insert_line` parameter: {after}. It should be within the range [0, {range}].")
    })?;
    lines.insert(at, new.trim_end_matches('\n'));
    let mut text = lines.join("\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok((text, format!("The file {} has been edited.", path.as_str())))
}

/// The files that a path names: one, or those of a folder.
fn named(files: &MemoryFiles<'_>, path: &MemoryPath) -> Result<Vec<MemoryFile>, FileError> {
    let named = match files.find(path)? {
        Some(file) => vec![file],
        None => files.below(path)?,
    };
    match named.len() {
        0 => Err(format!("The path {} does not exist", path.as_str()).into()),
        1..=MAX_LIMIT => Ok(named),
        many => Err(format!("{} has {many} files; at most {MAX_LIMIT} at once", path.as_str()).into()),
    }
}

fn delete(files: &MemoryFiles<'_>, path: &MemoryPath) -> Result<String, FileError> {
    if path.is_root() {
        return Err("Cannot delete the /memories directory itself".to_owned().into());
    }
    let ids: Vec<RecordId> = named(files, path)?.iter().map(|file| file.record.id).collect();
    files.engine.delete_all(&ids, &files.viewer)?;
    Ok(format!("Successfully deleted {}", path.as_str()))
}

/// Deletes all files.
pub fn clear(engine: &Engine, context: &Context) -> Result<String, FileError> {
    let files = MemoryFiles::new(engine, &context.defaults);
    let ids: Vec<RecordId> = files.below(&MemoryPath::root())?.iter().map(|file| file.record.id).collect();
    engine.delete_all(&ids, &files.viewer)?;
    Ok("All memory cleared".to_owned())
}

fn rename(files: &MemoryFiles<'_>, old: &MemoryPath, new: &MemoryPath) -> Result<String, FileError> {
    if old.is_root() {
        return Err("Cannot rename the /memories directory itself".to_owned().into());
    }
    let moved = named(files, old)?;
    if new.is_in(old.as_str()) {
        return Err(format!("Cannot rename {} into itself", old.as_str()).into());
    }
    check_free(files, new, || format!("The destination {} already exists", new.as_str()))?;
    let updates = moved.iter().map(|file| {
        let below = &file.path[old.as_str().len()..];
        Ok((file.record.id, file.moved_to(&MemoryPath::parse_new(&format!("{}{below}", new.as_str()))?)))
    });
    let updates: Vec<_> = updates.collect::<Result<_, String>>()?;
    files.engine.update_all(&updates, &files.viewer)?;
    Ok(format!("Successfully renamed {} to {}", old.as_str(), new.as_str()))
}
