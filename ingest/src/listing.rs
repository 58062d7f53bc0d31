//! The files of a source that are there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memorist_engine::types::{FileStamp, NewSource};
use memorist_sources::formats::{Format, Skipped};
use memorist_sources::walk;

use crate::settings::SyncSettings;
use crate::stamp;

/// Folders within folders that are looked into for transcripts: agents nest them less.
const DEEPEST: usize = 12;

/// The files of a source, by path, and how many were passed over.
#[derive(Debug, Default)]
pub struct Listing {
    /// What each is like.
    pub files: BTreeMap<PathBuf, FileStamp>,
    /// Reasons, and how often.
    pub skipped: Skipped,
}

/// The notes of a source.
///
/// # Errors
/// Those of the file system, if its folder cannot be read.
pub fn notes(source: &NewSource, settings: &SyncSettings) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut options = walk::Options::new(&source.path);
    options.globs.clone_from(&source.globs);
    options.max_bytes = settings.max_file_bytes;
    let mut skipped = Skipped::default();
    walk::walk(&options, &mut skipped, &mut |found| {
        if settings.daily_log.as_ref().is_some_and(|folder| found.path.starts_with(folder)) {
            listing.skipped.count("the daily log");
        } else {
            let stamp = FileStamp { size: found.size, modified: found.modified, identity: found.identity };
            listing.files.insert(found.path, stamp);
        }
        ControlFlow::Continue(())
    })?;
    listing.skipped.add(skipped);
    Ok(listing)
}

/// The transcripts of a source.
///
/// # Errors
/// Those of the file system, if its folder cannot be read.
pub fn sessions(source: &NewSource, format: &dyn Format) -> io::Result<Listing> {
    let root = Path::new(&source.path);
    let mut listing = Listing::default();
    if fs::metadata(root)?.is_dir() {
        below(root, format, 0, &mut listing)?;
    } else {
        listing.files.insert(root.to_owned(), stamp::of(root)?);
    }
    Ok(listing)
}

/// Adds what is below a folder. Links to folders are not followed, those to files are.
fn below(folder: &Path, format: &dyn Format, depth: usize, listing: &mut Listing) -> io::Result<()> {
    if depth > DEEPEST {
        listing.skipped.count("too deep");
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else {
            listing.skipped.count("unreadable");
            continue;
        };
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                if below(&path, format, depth + 1, listing).is_err() {
                    listing.skipped.count("unreadable");
                }
            }
            Ok(_) if format.is_transcript(&path) => match stamp::of(&path) {
                Ok(stamp) => drop(listing.files.insert(path, stamp)),
                Err(_) => listing.skipped.count("unreadable"),
            },
            Ok(_) => {}
            Err(_) => listing.skipped.count("unreadable"),
        }
    }
    Ok(())
}
