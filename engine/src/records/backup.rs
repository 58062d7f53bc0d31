//! A whole database into one file, and back.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{Records, folder, schema};
use crate::error::{Error, Result};
use crate::files::{folder_of, remove_if_present, sync_folder};
use crate::paths::{StorePaths, companions};
use crate::progress::Progress;

/// Pages copied between two looks at whether to stop.
const PAGES_PER_STEP: i32 = 2_000;

impl Records {
    /// Copies the database, as it is at one moment, into the new file `to`, while others read and write. The file appears
    /// whole or not at all. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written, [`Error::Cancelled`].
    pub fn back_up(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        let is_ours = |file: &Path| file.canonicalize().is_ok_and(|file| Some(file) == to.canonicalize().ok());
        if companions(&self.path).iter().chain([&self.path]).any(|file| is_ours(file)) {
            let why = "it is the store itself; name another file for the backup".into();
            return Err(Error::Store { path: to.to_owned(), why });
        }
        // A snapshot keeps the copy from beginning anew with each write of another process.
        let snapshot = self.snapshot()?;
        let beside = Beside::new(to)?;
        copy(snapshot.conn(), &beside.path, progress).map_err(|error| in_words(to, error))?;
        beside.put_in_place(to)
    }
}

/// Makes the store of `paths` from a file that [`Records::back_up`] has written. There must be no database yet.
///
/// # Errors
/// [`Error::Database`] when the file is no backup, or damaged; [`Error::Store`] when the folder has a store.
pub fn restore(from: &Path, paths: &StorePaths, progress: &dyn Progress) -> Result<()> {
    let database = paths.database();
    let has_one_already = || {
        let why = "it has a store already; choose another folder with --store, or move this one away".into();
        Error::Store { path: paths.root().to_owned(), why }
    };
    if database.exists() {
        return Err(has_one_already());
    }
    let refuse = |error| schema::open_error(from, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(refuse)?;
    if schema::check_owner(&source, from)? == 0 {
        return Err(schema::damaged(from, "it is empty"));
    }
    let verdict: String = source.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(refuse)?;
    if verdict != "ok" {
        return Err(schema::damaged(from, &verdict));
    }
    folder::prepare_root(paths)?;
    // What is there belongs to no database, and must not pass for an index of this one.
    remove_indexes(paths)?;
    let beside = Beside::new(&database)?;
    copy(&source, &beside.path, progress).map_err(|error| in_words(&database, error))?;
    if database.exists() {
        return Err(has_one_already()); // another process has made a store meanwhile
    }
    // A write-ahead log that another database left here would be played into this one.
    for companion in companions(&database) {
        remove_if_present(&companion)?;
    }
    match beside.put_where_nothing_is(&database) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => Err(has_one_already()),
        placed => placed.map(drop),
    }
}

/// Removes both indexes.
pub(super) fn remove_indexes(paths: &StorePaths) -> Result<()> {
    remove_if_present(&paths.vectors())?;
    remove_if_present(&paths.keywords())
}

/// Copies page by page, whatever is on the pages.
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

fn in_words(path: &Path, error: Error) -> Error {
    match error {
        Error::Sqlite(error) => schema::open_error(path, error),
        other => other,
    }
}

/// A file in the making, removed where it is not finished.
pub(super) struct Beside {
    path: PathBuf,
}

impl Beside {
    /// Beside `of`, on the same file system, for the user alone.
    pub(super) fn new(of: &Path) -> Result<Self> {
        let mut name = of.as_os_str().to_owned();
        name.push(".part");
        let path = PathBuf::from(name);
        remove_if_present(&path)?;
        folder::create_file(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Beside { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it durable under its name, in the place of the file of that name. Returns its length.
    pub(super) fn put_in_place(self, of: &Path) -> Result<u64> {
        self.place(of, |from, to| fs::rename(from, to))
    }

    /// The same where there is no file of that name; else an error, and that file stays.
    fn put_where_nothing_is(self, at: &Path) -> Result<u64> {
        self.place(at, |from, to| match fs::hard_link(from, to) {
            // A file system that has no hard links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !to.exists() => fs::rename(from, to),
            linked => linked,
        })
    }

    fn place(self, of: &Path, name: impl Fn(&Path, &Path) -> io::Result<()>) -> Result<u64> {
        let placed = || {
            let file = File::options().write(true).open(&self.path)?;
            file.sync_all()?;
            let length = file.metadata()?.len();
            name(&self.path, of)?;
            sync_folder(folder_of(of))?;
            Ok(length)
        };
        placed().map_err(|error: io::Error| Error::io(of, error))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Gone already when it took the place of another.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::progress::NoProgress;

    fn filled() -> Store {
        let store = Store::new();
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
        assert!(restore(&file, &paths, &NoProgress).unwrap_err().to_string().contains("has a store already"));
    }

    #[test]
    fn what_is_no_sound_backup_is_refused_and_leaves_nothing() {
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
    fn what_another_database_left_beside_is_not_played_into_a_restored_one() {
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
        assert!(error.to_string().contains("has a store already"), "{error}");
        let records = another.records.into_inner().unwrap().unwrap();
        records.add(&new("and written after"), NOW).unwrap();
        drop(records);
        let again = Records::open(&paths).unwrap();
        assert_eq!(again.snapshot().unwrap().live_count(NOW).unwrap(), 2);
        assert_eq!(again.integrity().unwrap(), Vec::<String>::new());

        // Even when it comes at the last moment.
        let beside = Beside::new(&file).unwrap();
        let error = beside.put_where_nothing_is(&file).unwrap_err();
        assert!(matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists));
        assert!(fs::metadata(&file).unwrap().len() > 0, "as it was");
    }

    #[test]
    fn the_store_itself_is_no_place_for_its_backup() {
        let store = filled();
        for file in companions(&store.paths().database()).into_iter().take(2).chain([store.paths().database()]) {
            let error = store.back_up(&file, &NoProgress).unwrap_err();
            assert!(error.to_string().contains("the store itself"), "{error}");
        }
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_backup_that_cannot_be_written_says_so() {
        let store = filled();
        let nowhere = store.paths().root().join("no").join("such").join("folder");
        assert!(matches!(store.back_up(&nowhere, &NoProgress), Err(Error::Io { .. })));
    }
}
