//! A whole database into one file, and back.

use std::io::{self, ErrorKind};
use std::path::Path;

use memorist_durable::{ABANDONED, FileId, NewFile, folder_of, open_plain, sweep};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::connection::{WRITE_TIMEOUT, connect, distrust};
use super::errors::{damaged, database_error, explain, open_error};
use super::shape::DatabaseOrigin;
use super::store::Database;
use super::{folder, integrity, migrate};
use crate::error::{Error, Remedy, Result};
use crate::files::remove_file_if_present;
use crate::index_folder;
use crate::paths::{StorePaths, companions};
use crate::progress::Progress;

/// Pages copied between two looks at whether to stop.
const PAGES_PER_STEP: i32 = 2_000;

impl Database {
    /// Copies the database, as it is at one moment, into the new file `to`, while others read and write. The file appears
    /// whole or not at all. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written, [`Error::Cancelled`].
    pub fn back_up(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        if StorePaths::new(folder_of(&self.path)).would_replace_part(to) {
            let why = "it is a part of the store itself; name another file for the backup".into();
            return Err(Error::Store { path: to.to_owned(), why });
        }
        // A snapshot keeps the copy from beginning again with each write of another process.
        let snapshot = self.snapshot()?;
        let new = beside(to)?;
        copy(snapshot.conn(), new.path(), progress).map_err(|error| explain(to, error))?;
        snapshot.check_unchanged()?;
        replace(new, to)
    }
}

/// SQL that removes the usage data and the identity of a node from an image.
#[cfg(feature = "postgres")]
const OF_ONE_NODE: &str =
    "DELETE FROM access_log; DELETE FROM searches; DELETE FROM recalled; DELETE FROM unsent_accesses;
     DELETE FROM meta WHERE key IN ('node', 'followed', 'purging');";

#[cfg(feature = "postgres")]
impl Database {
    /// Copies the database for another node. Returns the length of the copy in bytes.
    ///
    /// # Errors
    /// As [`Database::back_up`].
    pub fn copy_for_image(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        self.back_up(to, progress)?;
        let strip = || {
            let conn = Connection::open(to)?;
            conn.pragma_update(None, "foreign_keys", true)?;
            conn.execute_batch(OF_ONE_NODE)?;
            // Else what was deleted is still in the file.
            conn.execute_batch("VACUUM")?;
            conn.close().map_err(|(_, error)| error)
        };
        strip().map_err(|error| open_error(to, error))?;
        Ok(to.metadata().map_err(|error| Error::io(to, error))?.len())
    }
}

/// Makes the store of `paths` from a file that `Database::back_up` has written. There must be no database yet.
///
/// # Errors
/// [`Error::Database`] when the file is no backup, or damaged; [`Error::Store`] when the folder has a store.
pub fn restore(from: &Path, paths: &StorePaths, progress: &dyn Progress) -> Result<()> {
    copy_back(from, paths, progress).map_err(|error| match error {
        // It is no store: its copy may become one.
        Error::Database { path, why, remedy: Some(_) } => {
            Error::Database { path, why, remedy: Some(Remedy::RepairCopy) }
        }
        other => other,
    })
}

fn copy_back(from: &Path, paths: &StorePaths, progress: &dyn Progress) -> Result<()> {
    let database = paths.database();
    let has_one_already = || {
        let why = "the folder already contains a store; choose another folder, or move this one away".into();
        Error::Store { path: paths.root().to_owned(), why }
    };
    let is_lost = || folder::sign_of_lost(paths).is_some();
    if database.exists() && !is_lost() {
        return Err(has_one_already());
    }
    let refuse = |error| open_error(from, error);
    // SQLite wants a name. What it opened under it is compared with the file that was looked at.
    let plain = open_plain(from).map_err(|error| Error::io(from, error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(refuse)?;
    if FileId::of_open(&plain) != FileId::of(from) {
        return Err(Error::io(from, io::Error::other("it was replaced meanwhile; retry")));
    }
    distrust(&source).map_err(refuse)?;
    // What is checked is what is copied, also when others write to the file meanwhile.
    let view = source.unchecked_transaction().map_err(refuse)?;
    if migrate::check(&view, from, DatabaseOrigin::Backup)? == 0 {
        return Err(database_error(from, "it is empty"));
    }
    let verdict: String = source.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(refuse)?;
    if verdict != "ok" {
        return Err(damaged(from, &verdict));
    }
    folder::prepare_root(paths)?;
    let new = beside(&database)?;
    copy(&source, new.path(), progress).map_err(|error| explain(&database, error))?;
    prepare_copy(new.path(), from)?;
    if is_lost() {
        // It may be an empty file. That goes before what shows that it is lost.
        remove_file_if_present(&database)?;
    }
    if database.exists() {
        return Err(has_one_already()); // another process has made a store meanwhile
    }
    // What is there belongs to no database, and must not pass for an index of this one.
    remove_indexes(paths)?;
    // A write-ahead log that another database left here would be played into this one.
    for companion in companions(&database) {
        remove_file_if_present(&companion)?;
    }
    match new.place().map_err(io::Error::from) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(has_one_already()),
        placed => placed.map(drop).map_err(|error| Error::io(&database, error)),
    }
}

/// Brings the copy of a backup up to date, refuses one that contradicts itself, and gives it a lineage of its own.
fn prepare_copy(copy: &Path, from: &Path) -> Result<()> {
    let refuse = |error| open_error(from, error);
    let mut conn = connect(copy, WRITE_TIMEOUT).map_err(refuse)?;
    migrate::prepare(&mut conn, copy)?;
    if let Some(finding) = integrity::findings(&conn)?.into_iter().next() {
        return Err(damaged(from, &finding));
    }
    migrate::begin_lineage(&conn).map_err(refuse)?;
    conn.close().map_err(|(_, error)| refuse(error))
}

/// Takes both indexes out of use.
pub(super) fn remove_indexes(paths: &StorePaths) -> Result<()> {
    index_folder::retire(&paths.vectors())?;
    index_folder::retire(&paths.keywords()).map(drop)
}

/// Copies page by page, without looking at the contents of the pages.
pub(super) fn copy_pages(source: &Connection, target: &mut Connection, progress: &dyn Progress) -> Result<()> {
    let backup = Backup::new(source, target)?;
    let mut started = false;
    let mut left = 0;
    loop {
        let step = backup.step(PAGES_PER_STEP)?;
        let now = backup.progress();
        if !started {
            progress.start("copying", Some(now.pagecount.unsigned_abs().into()));
            (started, left) = (true, now.pagecount);
        }
        progress.advance((left - now.remaining).unsigned_abs().into());
        left = now.remaining;
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        if step == StepResult::Done {
            break;
        }
    }
    progress.finish();
    Ok(())
}

/// Copies page by page, and leaves a single file behind.
fn copy(source: &Connection, to: &Path, progress: &dyn Progress) -> Result<()> {
    let mut target = Connection::open(to)?;
    copy_pages(source, &mut target, progress)?;
    // The copy says of itself that it has a write-ahead log beside it; it shall be one file.
    target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    target.close().map_err(|(_, error)| error.into())
}

/// A new file beside `target`. Removes the files that killed processes have left there.
pub(super) fn beside(target: &Path) -> Result<NewFile> {
    sweep(folder_of(target), ABANDONED);
    NewFile::beside(target).map_err(|error| Error::io(target, error))
}

/// Puts a file that was made [`beside`] `target` in its place. Returns its length.
pub(super) fn replace(new: NewFile, target: &Path) -> Result<u64> {
    new.replace().map_err(|error| Error::io(target, error.into()))
}

#[cfg(test)]
mod tests {
    use crate::records::Records;
    use std::fs;

    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::progress::NoProgress;

    fn filled() -> TestStore {
        let store = TestStore::new();
        let news: Vec<_> = (0..500).map(|n| new(&format!("text {n}"))).collect();
        store.add_batch(&news, NOW).unwrap();
        store
    }

    #[test]
    fn a_backup_of_a_store_in_use_is_the_store() {
        let store = filled();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        let length = store.back_up(&file, &NoProgress).unwrap();
        store.add(&new("written after"), NOW).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().len(), length);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "one file, and nothing beside it");

        let paths = StorePaths::new(folder.path().join("again"));
        fs::create_dir_all(paths.keywords()).unwrap();
        restore(&file, &paths, &NoProgress).unwrap();
        assert!(!paths.keywords().exists(), "an index of nothing known");
        let again = Records::open(&paths).unwrap();
        assert_eq!(again.snapshot().unwrap().live_count(NOW).unwrap(), 500);
        assert_eq!(again.store_id(), store.store_id());
        assert_eq!(again.integrity().unwrap(), Vec::<String>::new());
        assert!(restore(&file, &paths, &NoProgress).unwrap_err().to_string().contains("already contains a store"));
    }

    #[test]
    fn an_invalid_backup_is_rejected_and_leaves_nothing() {
        let store = filled();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        store.back_up(&file, &NoProgress).unwrap();
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        let middle = whole.len() / 2;
        flipped[middle..middle + 4_096].fill(0x55);
        for (bytes, why) in [
            (whole[..whole.len() / 2].to_vec(), "damaged"),
            (flipped, "damaged"),
            (b"not a backup at all".repeat(100), "not an SQLite database"),
            (Vec::new(), "empty"),
        ] {
            fs::write(&file, bytes).unwrap();
            let paths = StorePaths::new(folder.path().join("again"));
            let error = restore(&file, &paths, &NoProgress).unwrap_err();
            assert!(matches!(error, Error::Database { .. }) && error.to_string().contains(why), "{error}");
            assert!(!paths.database().exists());
        }
        let nowhere = restore(&folder.path().join("absent"), &StorePaths::new(folder.path()), &NoProgress);
        assert!(nowhere.is_err());
    }

    #[test]
    fn a_restore_ignores_a_leftover_log_of_another_database() {
        let (store, other) = (filled(), filled());
        other.add(&new("of another store"), NOW).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        store.back_up(&file, &NoProgress).unwrap();
        let paths = StorePaths::new(folder.path().join("again"));
        fs::create_dir(paths.root()).unwrap();
        // As a killed process leaves them.
        for (theirs, ours) in companions(&other.paths().database()).iter().zip(companions(&paths.database())) {
            let _ = fs::copy(theirs, ours);
        }
        assert!(companions(&paths.database())[0].exists(), "there is a log to be played");
        restore(&file, &paths, &NoProgress).unwrap();
        let again = Records::open(&paths).unwrap();
        assert_eq!(again.integrity().unwrap(), Vec::<String>::new());
        assert_eq!(again.store_id(), store.store_id());
    }

    /// Makes a store of its own as soon as the copy is made.
    struct Another<'a> {
        paths: &'a StorePaths,
        records: std::sync::Mutex<Option<Records>>,
    }

    impl Progress for Another<'_> {
        fn start(&self, _what: &str, _total: Option<u64>) {}
        fn advance(&self, _units: u64) {}
        fn finish(&self) {
            let records = Records::open(self.paths).unwrap();
            records.add(&new("of another process"), NOW).unwrap();
            *self.records.lock().unwrap() = Some(records);
        }
    }

    #[test]
    fn a_store_that_another_process_makes_meanwhile_is_left_alone() {
        let store = filled();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        store.back_up(&file, &NoProgress).unwrap();
        let paths = StorePaths::new(folder.path().join("again"));
        let another = Another { paths: &paths, records: Default::default() };
        let error = restore(&file, &paths, &another).unwrap_err();
        assert!(error.to_string().contains("already contains a store"), "{error}");
        let records = another.records.into_inner().unwrap().unwrap();
        records.add(&new("and written after"), NOW).unwrap();
        drop(records);
        let again = Records::open(&paths).unwrap();
        assert_eq!(again.snapshot().unwrap().live_count(NOW).unwrap(), 2);
        assert_eq!(again.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_store_itself_is_no_place_for_its_backup() {
        let store = filled();
        let paths = store.paths();
        let index = paths.keywords().join("meta.json");
        fs::create_dir_all(paths.keywords()).unwrap();
        let files = companions(&paths.database()).into_iter().chain([paths.database(), paths.writer_lock(), index]);
        for file in files.chain([paths.http_token(), paths.root().join(".").join("memory.db")]) {
            let error = store.back_up(&file, &NoProgress).unwrap_err();
            assert!(error.to_string().contains("the store itself"), "{error}");
        }
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// A backup that contradicts itself is refused before it is put in place, so that a sound backup can be restored there.
    #[test]
    fn a_backup_with_wrong_rows_is_refused_and_leaves_nothing() {
        for damage in [
            "UPDATE records SET content = CAST(x'ff41' AS TEXT) WHERE id = 1",
            "UPDATE records SET kind = 99 WHERE id = 1",
            "UPDATE tallies SET records = 9223372036854775807, accesses = 9223372036854775807",
            "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'records'",
            "UPDATE sqlite_sequence SET seq = 'abc'",
        ] {
            let store = filled();
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("backup");
            store.back_up(&file, &NoProgress).unwrap();
            Connection::open(&file).unwrap().execute_batch(damage).unwrap();
            let paths = StorePaths::new(folder.path().join("again"));
            let error = restore(&file, &paths, &NoProgress).unwrap_err();
            assert!(error.to_string().contains("it is damaged"), "{damage}: {error}");
            assert_eq!(error.remedy(), Some(Remedy::RepairCopy), "{damage}: {error}");
            assert_eq!(fs::read_dir(paths.root()).unwrap().count(), 0, "{damage}");
        }
    }

    /// 39.9: the signs of a lost database stay until there is another one.
    #[test]
    fn a_restore_that_fails_leaves_a_lost_store_as_it_is() {
        let store = filled();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        store.back_up(&file, &NoProgress).unwrap();
        Connection::open(&file).unwrap().execute_batch("UPDATE records SET kind = 99 WHERE id = 1").unwrap();
        let paths = StorePaths::new(folder.path().join("again"));
        fs::create_dir_all(paths.vectors()).unwrap();
        let sign = paths.vectors().join("segment-00000000000000a7");
        for file in [&sign, &paths.database()] {
            fs::write(file, "").unwrap();
        }
        assert!(restore(&file, &paths, &NoProgress).is_err());
        assert!(sign.exists() && paths.database().exists());
        assert_eq!(Records::open(&paths).err().and_then(|error| error.remedy()), Some(Remedy::Restore));
    }

    #[test]
    fn a_restored_store_has_its_own_lineage_and_trims_a_forged_log() {
        let store = filled();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        store.back_up(&file, &NoProgress).unwrap();
        let forged = "UPDATE sqlite_sequence SET seq = 1000000000000 WHERE name = 'sync_log'";
        Connection::open(&file).unwrap().execute_batch(forged).unwrap();
        let paths = StorePaths::new(folder.path().join("again"));
        restore(&file, &paths, &NoProgress).unwrap();
        let again = Records::open(&paths).unwrap();
        assert_eq!((again.store_id(), store.lineage()), (store.store_id(), store.store_id()));
        assert_ne!(again.lineage(), store.lineage());
        again.trim_log(u64::MAX.into()).unwrap();
        assert_eq!(again.snapshot().unwrap().trimmed_to().get(), 1_000_000_000_000);
    }

    #[test]
    fn a_backup_that_cannot_be_written_says_so() {
        let store = filled();
        let nowhere = store.paths().root().join("no").join("such").join("folder");
        assert!(matches!(store.back_up(&nowhere, &NoProgress), Err(Error::Io { .. })));
    }
}
