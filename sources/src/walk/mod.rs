//! The files below a folder that are notes.
//!
//! | file | job |
//! |---|---|
//! | `rules` | which files are notes, and which folders may have some |
//! | `gate` | which folders are entered, and which links are followed |
//! | `ignores` | ignore files, read with limits |
//! | `matcher` | whether a change of a file matters |

mod gate;
mod ignores;
mod matcher;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::Metadata;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;

use crate::formats::Skipped;
use gate::Gate;
pub use ignores::filter;
pub use matcher::{IGNORE_FILE, Matcher};
use rules::Rules;

/// The folder to walk, and the files to take.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder, or a single file, which is taken whatever its name is.
    pub root: PathBuf,
    /// Which files are notes, in the syntax of `.gitignore` (`!` excludes). Without globs: files with an ending of a note
    /// ([`ENDINGS`](crate::notes::ENDINGS)). A hidden file or folder is taken only if a glob names it: `.claude/**/*.md`.
    pub globs: Vec<String>,
    /// A larger file is skipped and counted.
    pub max_bytes: u64,
}

impl Options {
    /// The options for every note up to 64 MiB.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Options { root: root.into(), globs: Vec::new(), max_bytes: 64 << 20 }
    }
}

/// A file that is a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Absolute, as it is below the root: links in it are not resolved.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
    /// Device and inode of the real file.
    pub identity: (u64, u64),
}

/// Visits the notes in the order of their paths, until `visit` breaks. Skipped files are counted by reason.
///
/// Respects `.gitignore` and `.memoristignore` from the root downwards: regular files of at most 1 MiB and 10,000 rules. Follows
/// a link only if it leads to a path inside the root. Each real file is visited once, by its real path if that is not ignored.
///
/// # Errors
/// If the root cannot be read, or a glob is wrong. A folder below it that cannot be read is counted.
pub fn walk(
    options: &Options,
    skipped: &mut Skipped,
    visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> io::Result<()> {
    walk_folders(options, skipped, &mut |_| Ok(()), visit)
}

/// Like [`walk`]. `enter` is called first, with each folder that may have notes.
///
/// # Errors
/// Errors of [`walk`] and of `enter`, which end the walk before any note is visited.
pub fn walk_folders(
    options: &Options,
    skipped: &mut Skipped,
    enter: &mut dyn FnMut(&Path) -> io::Result<()>,
    visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> io::Result<()> {
    let root = std::path::absolute(&options.root)?;
    let real_root = root.canonicalize()?;
    let rules = Arc::new(Rules::new(&root, &options.globs)?);
    let gate = Arc::new(Gate::new(rules.clone(), &root, real_root)?);
    let filter = gate.clone();
    let walk = WalkBuilder::new(&root)
        .standard_filters(false)
        .follow_links(true)
        .sort_by_file_name(|a, b| a.cmp(b))
        .filter_entry(move |entry| filter.passes(entry))
        .build();
    let mut found = Vec::new();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                if let Some((reason, path)) = reason(&error, &root) {
                    skipped.count_file(reason, path);
                }
                continue;
            }
        };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            enter(entry.path())?;
            continue;
        }
        let is_root = entry.depth() == 0;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) || !(is_root || rules.is_note(entry.path())) {
            continue;
        }
        let path = entry.path().to_owned();
        match entry.metadata() {
            Ok(at) if at.len() > options.max_bytes => skipped.count_file("too large", entry.path()),
            Ok(at) => {
                let linked = gate.is_linked(&entry);
                found.push((linked, describe(entry.into_path(), &at)));
            }
            Err(_) => skipped.count_file("unreadable", &path),
        }
    }
    skipped.add(gate.take_skipped());
    let real: HashSet<_> = found.iter().filter(|(linked, _)| !linked).map(|(_, found)| found.identity).collect();
    let mut seen = HashSet::new();
    found.retain(|(linked, found)| (!linked || !real.contains(&found.identity)) && seen.insert(found.identity));
    found.sort_unstable_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    for (_, found) in found {
        if visit(found).is_break() {
            break;
        }
    }
    Ok(())
}

fn describe(path: PathBuf, at: &Metadata) -> Found {
    let modified = match at.modified().map(|time| time.duration_since(UNIX_EPOCH)) {
        Ok(Ok(since)) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Ok(Err(before)) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |time| -time),
        Err(_) => 0,
    };
    let identity = identity(&path, at);
    Found { path, size: at.len(), modified, identity }
}

#[cfg(unix)]
fn identity(_path: &Path, at: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (at.dev(), at.ino())
}

/// Where the numbers of a file are not to be had, its real path stands for them.
#[cfg(not(unix))]
fn identity(path: &Path, _at: &Metadata) -> (u64, u64) {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    (0, crate::hash::hash(real.to_string_lossy().as_bytes()))
}

/// Why an entry is skipped, and which one; `None` for a link to a folder above it, whose files are visited anyway.
fn reason<'a>(error: &'a ignore::Error, path: &'a Path) -> Option<(&'static str, &'a Path)> {
    match error {
        ignore::Error::WithPath { err, path } => reason(err, path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => reason(err, path),
        ignore::Error::Loop { .. } => None,
        ignore::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => Some(("link to nothing", path)),
        _ => Some(("unreadable", path)),
    }
}
