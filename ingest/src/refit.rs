//! Replaces a source whose format was guessed wrong.

use std::collections::BTreeSet;
use std::path::Path;

use memorist_engine::types::{NewSource, Source, SourceKind};
use memorist_engine::{Engine, Result};
use memorist_sources::foreign::{Deadline, Foreign, Root};
use memorist_sources::formats::recognise;

/// Files of a source that are looked at.
const LOOKED_AT: usize = 50;

/// Removes the sources with the path of `new` that have another format and no transcript of it, so that `new` reads their files.
/// Records of files that still exist are deleted with them. Returns how many sources were removed.
///
/// # Errors
/// Errors of the store.
pub fn replace_format(engine: &Engine, new: &NewSource) -> Result<usize> {
    let is_other = |known: &Source| {
        known.source.kind == SourceKind::Sessions && known.source.path == new.path && known.source.format != new.format
    };
    let mut replaced = 0;
    for known in engine.sources()?.into_iter().filter(is_other) {
        let paths: BTreeSet<String> = engine.source_files(known.id)?.into_iter().map(|file| file.path).collect();
        let there: BTreeSet<String> = paths.into_iter().filter(|path| Path::new(path).exists()).collect();
        let format = known.source.format.as_deref();
        if there.iter().take(LOOKED_AT).any(|path| recognised(path).is_some_and(|found| Some(found) == format)) {
            continue;
        }
        if engine.remove_source(known.id, false)?.is_some() {
            engine.remove_read(&there)?;
            replaced += 1;
        }
    }
    Ok(replaced)
}

fn recognised(path: &str) -> Option<&'static str> {
    let (path, deadline) = (Path::new(path), Deadline::default());
    let root = Root::around(path).ok()?;
    recognise(Foreign { root: &root, path, deadline: &deadline })
}
