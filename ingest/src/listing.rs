//! The existing files of a source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memorist_engine::sensitive::is_secret;
use memorist_engine::types::{FileStamp, NewSource};
use memorist_sources::foreign::{Deadline, Foreign, Root};
use memorist_sources::formats::{Format, Skipped, recognise};
use memorist_sources::walk;

use crate::settings::SyncSettings;
use crate::stamp;

/// Folders within folders that are looked into for transcripts: agents nest them less.
const DEEPEST: usize = 12;

/// The files of a source, by path, and how many were passed over.
#[derive(Debug, Default)]
pub struct Listing {
    pub files: BTreeMap<PathBuf, FileStamp>,
    /// The folders that were listed, to be watched.
    pub folders: BTreeSet<PathBuf>,
    /// Reasons, and how often each applies.
    pub skipped: Skipped,
}

impl Listing {
    /// Leaves files out whose path has a secret: a path cannot be redacted, for the file is found by it.
    pub fn leave_out_secrets(&mut self) {
        let all = self.files.len();
        self.files.retain(|path, _| !is_secret(&path.to_string_lossy()));
        (self.files.len()..all).for_each(|_| self.skipped.count("a path with a secret"));
        self.skipped.files.retain(|(path, _)| !is_secret(&path.to_string_lossy()));
    }
}

/// The notes of a source.
///
/// # Errors
/// Errors of the file system, if its folder cannot be read, and of `go_on`, which is called at each folder.
pub fn notes(source: &NewSource, settings: &SyncSettings, go_on: &dyn Fn() -> io::Result<()>) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut folders = BTreeSet::new();
    let mut enter = |folder: &Path| {
        folders.insert(folder.to_owned());
        go_on()
    };
    let mut options = walk::Options::new(&source.path);
    options.globs.clone_from(&source.globs);
    options.max_bytes = settings.max_file_bytes;
    let mut skipped = Skipped::default();
    walk::walk_folders(&options, &mut skipped, &mut enter, &mut |found| {
        let stamp = FileStamp { size: found.size, modified: found.modified, identity: found.identity };
        listing.files.insert(found.path, stamp);
        ControlFlow::Continue(())
    })?;
    listing.skipped.add(skipped);
    listing.folders = folders;
    listing.folders.extend(folder_of_file(source, &listing));
    Ok(listing)
}

/// The transcripts of a source. Where an agent keeps them itself, they are known by their names; elsewhere by their first
/// records, and if these are not recognized, by their names.
///
/// # Errors
/// Errors of [`notes`].
pub fn sessions(
    source: &NewSource,
    format: &dyn Format,
    is_own: bool,
    go_on: &dyn Fn() -> io::Result<()>,
) -> io::Result<Listing> {
    let root = Path::new(&source.path);
    let mut listing = Listing::default();
    if fs::metadata(root)?.is_dir() {
        let opened = if is_own { None } else { Some(Root::open(root)?) };
        let folder = Folder { real_root: fs::canonicalize(root)?, root: opened, format, go_on };
        folder.below(root, 0, &mut listing)?;
    } else {
        listing.files.insert(root.to_owned(), stamp::of(root)?);
        listing.folders.extend(folder_of_file(source, &listing));
    }
    Ok(listing)
}

/// The folder of a source that is a single file: a file that is replaced cannot be watched by itself.
fn folder_of_file(source: &NewSource, listing: &Listing) -> Option<PathBuf> {
    let root = Path::new(&source.path);
    listing.folders.is_empty().then(|| root.parent().map(Path::to_owned)).flatten()
}

/// The folder of a source of transcripts.
struct Folder<'a> {
    real_root: PathBuf,
    /// If files are known by their records.
    root: Option<Root>,
    format: &'a dyn Format,
    go_on: &'a dyn Fn() -> io::Result<()>,
}

impl Folder<'_> {
    /// Adds the files below a folder. Links to folders are not followed, links to files inside the source are.
    fn below(&self, folder: &Path, depth: usize, listing: &mut Listing) -> io::Result<()> {
        if depth > DEEPEST {
            listing.skipped.count_file("too deep", folder);
            return Ok(());
        }
        (self.go_on)()?;
        let entries = fs::read_dir(folder)?;
        listing.folders.insert(folder.to_owned());
        for entry in entries {
            let Ok(entry) = entry else {
                listing.skipped.count_file("unreadable", folder);
                continue;
            };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if self.below(&path, depth + 1, listing).is_err() {
                        (self.go_on)()?;
                        listing.skipped.count_file("unreadable", &path);
                    }
                }
                Ok(kind) if self.is_transcript(&path, listing) => {
                    if kind.is_symlink() && !fs::canonicalize(&path).is_ok_and(|real| real.starts_with(&self.real_root))
                    {
                        listing.skipped.count_file("the link points outside the source folder", &path);
                        continue;
                    }
                    match stamp::of(&path) {
                        Ok(stamp) => drop(listing.files.insert(path, stamp)),
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            listing.skipped.count_file("not a regular file", &path);
                        }
                        Err(_) => listing.skipped.count_file("unreadable", &path),
                    }
                }
                Ok(_) => {}
                Err(_) => listing.skipped.count_file("unreadable", &path),
            }
        }
        Ok(())
    }

    /// Whether a file is a transcript of the format.
    fn is_transcript(&self, path: &Path, listing: &mut Listing) -> bool {
        let is_named = self.format.is_transcript(path);
        let Some(root) = self.root.as_ref().filter(|_| !self.format.is_other(path)) else { return is_named };
        match recognise(Foreign { root, path, deadline: &Deadline::default() }) {
            Some(found) if found == self.format.name() => true,
            Some(_) if is_named => {
                listing.skipped.count_file("of another agent", path);
                false
            }
            Some(_) => false,
            None => is_named,
        }
    }
}
