//! Whether the files of an open database are still in their place.
//!
//! A process that has a file open keeps using it when it is removed or moved away, and so does SQLite: what is saved
//! then is gone with the last process, or in a store that no one uses. So the files are compared with those that were
//! opened, by device and inode, before a read, before a write and after it: nothing is acknowledged that went into a
//! file which is not there any more.

use std::path::{Path, PathBuf};

use memorist_durable::FileId;

use crate::error::{Error, Result};
use crate::paths::companions;

/// The files of a database as they were when it was opened.
pub(super) struct OpenedFiles {
    database: PathBuf,
    opened: Vec<(PathBuf, Option<FileId>)>,
}

impl OpenedFiles {
    /// The database with its write-ahead log and that log's index, which are there while it is open for writing.
    pub(super) fn of_all(database: &Path) -> Self {
        let [wal, index, _] = companions(database);
        Self::of(database, vec![database.to_owned(), wal, index])
    }

    /// The database alone.
    pub(super) fn of_database(database: &Path) -> Self {
        Self::of(database, vec![database.to_owned()])
    }

    fn of(database: &Path, files: Vec<PathBuf>) -> Self {
        let identified = |file: PathBuf| {
            let id = FileId::of(&file);
            (file, id)
        };
        OpenedFiles { database: database.to_owned(), opened: files.into_iter().map(identified).collect() }
    }

    /// # Errors
    /// [`Error::Store`] when a file is not the one that was opened.
    pub(super) fn check(&self) -> Result<()> {
        let Some((file, _)) = self.opened.iter().find(|(file, opened)| FileId::of(file) != *opened) else {
            return Ok(());
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let why = match FileId::of(file) {
            None => format!(
                "{name} was deleted or moved while this process had it open, so nothing is saved or found any more; put \
                 the store's files back, or restart this process"
            ),
            Some(_) => format!(
                "{name} was replaced while this process had it open, so nothing is saved or found any more; restart this \
                 process to use the store that is there now"
            ),
        };
        Err(Error::Store { path: self.database.clone(), why })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::paths::StorePaths;
    use crate::records::Records;
    use crate::records::transaction::Authority;
    use crate::records::{Access, AccessKind};
    use crate::types::{Filter, RecordId, Viewer};

    /// Asserts that neither a write nor a read pretends that all is well.
    fn assert_noticed(records: &Records, id: RecordId, how: &str) {
        let get = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        let outcomes = [
            records.add(&new("lost"), NOW).map(drop),
            records.delete(id, &Viewer::OWNER, NOW).map(drop),
            records.record_access(&[get], NOW),
            records.get(id, &Viewer::OWNER, NOW).map(drop),
            records.snapshot().map(drop),
        ];
        for (at, outcome) in outcomes.into_iter().enumerate() {
            let Err(error) = outcome else { panic!("{at} was acknowledged though the file was {how}") };
            assert!(matches!(error, Error::Store { .. }), "{error:?}");
            assert!(error.to_string().contains(how) && error.to_string().contains("restart"), "{error}");
        }
    }

    #[test]
    fn access_to_a_deleted_store_fails() {
        for file in 0..3 {
            let store = TestStore::new();
            let id = store.add(&new("text"), NOW).unwrap().id;
            let [wal, index, _] = companions(&store.paths().database());
            fs::remove_file(&[store.paths().database(), wal, index][file]).unwrap();
            assert_noticed(&store, id, "deleted");
        }
        let store = TestStore::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        fs::remove_dir_all(store.paths().root()).unwrap();
        assert_noticed(&store, id, "deleted");
    }

    #[test]
    fn access_to_a_replaced_store_fails_and_spares_the_new_one() {
        let parent = tempfile::tempdir().unwrap();
        let paths = StorePaths::new(parent.path().join("store"));
        let records = Records::open(&paths).unwrap();
        let id = records.add(&new("text"), NOW).unwrap().id;
        fs::rename(paths.root(), parent.path().join("moved")).unwrap();
        assert_noticed(&records, id, "moved");
        let other = Records::open(&paths).unwrap();
        other.add(&new("of the other"), NOW).unwrap();
        assert_noticed(&records, id, "replaced");
        let stats = other.snapshot().unwrap().stats(&Filter::default(), NOW).unwrap();
        assert_eq!((stats.total, stats.total_accesses), (1, 0));

        // Put back, it is the same store.
        drop(other);
        fs::remove_dir_all(paths.root()).unwrap();
        fs::rename(parent.path().join("moved"), paths.root()).unwrap();
        records.add(&new("again"), NOW).unwrap();
        assert_eq!(Records::open(&paths).unwrap().snapshot().unwrap().live_count(NOW).unwrap(), 2);
    }

    /// At the last moment: after everything is written, before the write returns.
    #[test]
    fn a_store_deleted_during_a_write_fails_the_write() {
        let store = TestStore::new();
        let outcome = store.write(|tx| {
            tx.execute("UPDATE meta SET value = value WHERE key = 'trimmed_to'", &[])?;
            fs::remove_file(store.paths().database()).unwrap();
            Ok(())
        });
        assert!(matches!(outcome, Err(Error::Store { .. })), "{outcome:?}");
    }
}
