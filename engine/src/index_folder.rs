//! The folder of an index: how a rebuilt index replaces it, and how it is taken out of use.
//!
//! A folder is renamed at once, and the old one removed. Processes that have its files open keep them. But Windows renames
//! no folder while a process has a file in it open, and removes no file that is mapped. Then the files of the new index are
//! moved into the folder, and last the one that lists them: readers see the old index or the new one. Files that are not
//! listed, and folders that cannot be removed yet, are harmless. Later writers and rebuilds remove them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use memorist_durable::{crash, folder_of, sync_folder};

use crate::error::{Error, Result};
use crate::files::{private_folders, remove_file_if_present, remove_if_present};
use crate::paths::StorePaths;

/// The files that list the others of an index. Without one, a folder has no index.
const LISTS: [&str; 2] = ["manifest", "meta.json"];
/// tantivy's list of all that it has created, to remove what is not in use.
const MANAGED: &str = ".managed.json";
/// Begins the names of tantivy's locks, which stay with their folder.
const LOCKS: &str = ".tantivy-";

/// Replaces the index in `folder` by that in the folder `new`. A crash at any point leaves either index or none.
pub(crate) fn swap_in(new: &Path, folder: &Path) -> Result<()> {
    let renamed = move_aside(folder).and_then(|()| {
        crash::point("old index retired");
        fs::rename(new, folder)
    });
    if let Err(error) = renamed {
        report(&format!("{}: its files are replaced one by one", folder.display()), &error);
        put_in(new, folder).map_err(|error| Error::io(folder, error))?;
    }
    crash::point("new index in place");
    let parent = folder_of(folder);
    sync_folder(parent).map_err(|error| Error::io(parent, error))
}

/// Takes an index out of use; it disappears at once for others. Returns whether all its files are gone.
pub(crate) fn retire(folder: &Path) -> Result<bool> {
    let moved = move_aside(folder);
    if let Err(error) = &moved {
        report(&format!("{}: its files stay for now", folder.display()), error);
        for list in LISTS {
            remove_file_if_present(&folder.join(list))?;
        }
    }
    // Without its list it is out of use, so its files may go one by one.
    let is_gone = moved.is_ok() || is_removed(folder);
    Ok(sweep(folder) && is_gone)
}

/// Removes what was left beside the index in `folder` when it was replaced or taken out of use. Returns whether it is gone.
pub(crate) fn sweep(folder: &Path) -> bool {
    let left = [StorePaths::staging(folder), StorePaths::retired(folder)];
    left.iter().filter(|left| !is_removed(left)).count() == 0
}

/// Windows keeps files that are in use; elsewhere something is wrong with the folder.
fn report(what: &str, error: &dyn std::fmt::Display) {
    match cfg!(windows) {
        true => tracing::debug!("{what}: {error}"),
        false => tracing::warn!("{what}: {error}"),
    }
}

fn is_removed(folder: &Path) -> bool {
    let removed = remove_if_present(folder);
    if let Err(error) = &removed {
        report("a folder of an old index stays for now", error);
    }
    removed.is_ok()
}

/// Gives a folder, if there is one, the name of a retired one.
fn move_aside(folder: &Path) -> io::Result<()> {
    let old = StorePaths::retired(folder);
    is_removed(&old);
    match fs::rename(folder, old) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Moves the files of the index in `new` into `folder`, the list of them last.
fn put_in(new: &Path, folder: &Path) -> io::Result<()> {
    private_folders().create(folder)?;
    let names: Vec<_> = fs::read_dir(new)?.map(|file| file.map(|file| file.file_name())).collect::<Result<_, _>>()?;
    if names.iter().any(|name| name == MANAGED) {
        // Before any file is moved: tantivy removes only files that are in this list.
        merge_managed(&new.join(MANAGED), &folder.join(MANAGED))?;
    }
    let mut list = None;
    for name in names {
        match name.to_str() {
            Some(name) if name.starts_with(LOCKS) || name == MANAGED => {}
            Some(name) if LISTS.contains(&name) => list = Some(name.to_owned()),
            _ => fs::rename(new.join(&name), folder.join(&name))?,
        }
    }
    let list = list.ok_or_else(|| io::Error::other("the rebuilt index has no list of its files"))?;
    sync_folder(folder)?;
    crash::point("old index retired");
    fs::rename(new.join(&list), folder.join(&list))?;
    sync_folder(folder)
}

/// Adds the files of tantivy's list `new` to its list `old`.
fn merge_managed(new: &Path, old: &Path) -> io::Result<()> {
    let mut files: BTreeSet<String> = serde_json::from_slice(&fs::read(new)?)?;
    // If the old list is damaged, its files stay, as they would have before.
    files.extend(
        fs::read(old).ok().and_then(|old| serde_json::from_slice::<BTreeSet<String>>(&old).ok()).unwrap_or_default(),
    );
    Ok(memorist_durable::replace(old, &serde_json::to_vec(&files)?)?)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use memorist_index::Layout;

    use super::*;
    use crate::keywords::tests::{index_of, record};
    use crate::keywords::{KeywordIndex, KeywordSnapshot};
    use crate::passages::PassageKey;
    use crate::progress::NoProgress;
    use crate::types::Filter;
    use crate::vectors::hnsw::HnswIndex;
    use crate::vectors::{VectorBatch, VectorIndex};

    /// A folder that cannot be renamed, as on Windows one with open files: on Unix because the new name would be too long, on
    /// Windows because another folder with a mapped file has it.
    fn unmovable(parent: &Path) -> (PathBuf, Option<HnswIndex>) {
        let folder = parent.join(if cfg!(windows) { "index".to_owned() } else { "i".repeat(253) });
        let held = cfg!(windows).then(|| vectors(&StorePaths::retired(&folder), &[9]));
        fs::create_dir(&folder).unwrap();
        assert!(move_aside(&folder).is_err());
        (folder, held)
    }

    fn count_files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    fn ids(snapshot: &dyn KeywordSnapshot) -> Vec<u64> {
        snapshot.matching(&Filter::default()).unwrap().iter().collect()
    }

    fn vectors(folder: &Path, keys: &[u64]) -> HnswIndex {
        let index = HnswIndex::create(folder, "store", "model", 2, Layout::Standard).unwrap();
        let upserts = keys.iter().map(|&key| (PassageKey::from(key), vec![0.6, 0.8])).collect();
        index.apply(VectorBatch { upserts, deletes: Vec::new() }, 1.into()).unwrap();
        // Maps its segment, and waits until no other thread reads it.
        index.snapshot().unwrap().wait_verified(Duration::MAX).unwrap();
        index
    }

    #[test]
    fn a_keyword_index_in_use_is_replaced_file_by_file() {
        let parent = tempfile::tempdir().unwrap();
        let ((folder, _held), new) = (unmovable(parent.path()), parent.path().join("new"));
        let index = index_of(&folder, &[record(1, "old words")]);
        index.release_writer().unwrap();
        let before = index.snapshot().unwrap();
        let rebuilt = index_of(&new, &[record(2, "new words"), record(3, "more words")]);
        rebuilt.release_writer().unwrap();
        let (files, lists) = (count_files(&new), 2);
        drop(rebuilt);
        swap_in(&new, &folder).unwrap();
        assert_eq!(ids(&*before), [1], "a snapshot stays as it was");
        drop(before);
        assert_eq!(ids(&*index.snapshot().unwrap()), [2, 3]);
        assert_eq!(index.verify().unwrap(), Vec::<String>::new());
        assert!(count_files(&folder) >= files + lists, "the old files are there still");
        assert!(index.forget_deleted().unwrap());
        assert_eq!(count_files(&folder), files, "tantivy has removed the old ones");
        assert_eq!(ids(&*index.snapshot().unwrap()), [2, 3]);
    }

    #[test]
    fn a_vector_index_in_use_is_replaced_file_by_file() {
        let parent = tempfile::tempdir().unwrap();
        let ((folder, _held), new) = (unmovable(parent.path()), parent.path().join("new"));
        let index = vectors(&folder, &[1]);
        let before = index.snapshot().unwrap();
        drop(vectors(&new, &[2, 3]));
        swap_in(&new, &folder).unwrap();
        assert_eq!(before.keys().iter().collect::<Vec<_>>(), [1]);
        drop(before);
        assert_eq!(index.snapshot().unwrap().keys().iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(index.verify().unwrap(), Vec::<String>::new());
        assert_eq!(count_files(&folder), 4);
        assert!(index.forget_deleted(&NoProgress).unwrap());
        assert_eq!(count_files(&folder), 3, "the list, one segment and the lock");
    }

    #[test]
    fn an_index_that_stays_in_its_place_is_retired_all_the_same() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, _held) = unmovable(parent.path());
        drop(vectors(&folder, &[1]));
        assert!(!retire(&folder).unwrap(), "Windows keeps a segment; elsewhere the retired name cannot be looked at");
        assert!(!folder.exists(), "nobody has its files");
        let error = HnswIndex::open(&folder, "store", "model", 2).unwrap_err();
        assert!(matches!(error, Error::IndexUnusable { .. }), "{error:?}");
        let movable = parent.path().join("other");
        drop(vectors(&movable, &[1]));
        assert!(retire(&movable).unwrap() && !movable.exists());
        assert!(retire(&movable).unwrap(), "there is none any more");
    }

    /// A mapped file is what Windows does not remove.
    #[test]
    fn a_retired_folder_is_removed_once_nobody_has_its_files() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("index");
        let new = StorePaths::staging(&folder);
        let index = vectors(&folder, &[1]);
        drop(vectors(&new, &[2]));
        swap_in(&new, &folder).unwrap();
        let again = HnswIndex::open(&folder, "store", "model", 2).unwrap();
        assert_eq!(again.snapshot().unwrap().keys().iter().collect::<Vec<_>>(), [2]);
        assert!(sweep(&folder) || cfg!(windows));
        drop(index);
        assert!(sweep(&folder));
        assert_eq!(count_files(parent.path()), 1);
    }
}
