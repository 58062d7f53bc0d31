//! What a file or a folder has, by where it is.

use std::fs;
use std::path::Path;

use memorist_engine::types::SourceKind;
use memorist_sources::formats::{self, Format};
use memorist_sources::machine::Machine;

/// Entries of a folder that are looked at.
const LOOKED_AT: usize = 10_000;

/// What a file or a folder has: the transcripts of an agent, if it is where that agent keeps them or has files named like
/// them; else notes.
pub fn detect(path: &Path, machine: &Machine) -> (SourceKind, Option<&'static dyn Format>) {
    let is_of = |format: &&&'static dyn Format| {
        let places = format.places(machine);
        let mut places = places.iter().map(|place| fs::canonicalize(place).unwrap_or_else(|_| place.clone()));
        places.any(|place| path.starts_with(&place) || place.starts_with(path) && place.exists())
    };
    if let Some(format) = formats::all().iter().find(is_of) {
        return (SourceKind::Sessions, Some(*format));
    }
    match by_names(path) {
        Some(format) => (SourceKind::Sessions, Some(format)),
        None => (SourceKind::Notes, None),
    }
}

/// The format whose transcripts are most of the files, if any is.
fn by_names(path: &Path) -> Option<&'static dyn Format> {
    let mut counts = vec![0_usize; formats::all().len()];
    let mut left = LOOKED_AT;
    count(path, &mut counts, &mut left);
    let (most, count) = counts.iter().enumerate().max_by_key(|(at, count)| (**count, std::cmp::Reverse(*at)))?;
    (*count > 0).then(|| formats::all()[most])
}

fn count(path: &Path, counts: &mut [usize], left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    if !path.is_dir() {
        for (count, format) in counts.iter_mut().zip(formats::all()) {
            *count += usize::from(format.is_transcript(path));
        }
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())).for_each(|entry| {
        count(&entry.path(), counts, left);
    });
}
