//! [`Database`]: `memory.db`. One writing connection behind a lock, a pool of reading ones.
//!
//! A read never waits for a writer (write-ahead log). A write takes SQLite's write lock at its beginning and waits for
//! those of other processes, so that no caller sees "busy". How a write becomes durable is in `transaction.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use memorist_durable::FileId;
use parking_lot::Mutex;
use rusqlite::{Connection, MAIN_DB};

use super::connection::{WRITE_TIMEOUT, connect, enable_incremental_vacuum, enable_secure_delete, use_write_ahead_log};
use super::errors::open_error;
use super::place::OpenedFiles;
use super::queue::WriteQueue;
use super::readers::{Reader, Readers};
use super::schema::MIGRATIONS;
use super::shape::DatabaseOrigin;
use super::{folder, migrate};
use crate::error::{Error, Result};
use crate::paths::StorePaths;

/// Page cache of the writing connection, in KiB: the pages that a batch of a thousand changes. The others keep SQLite's
/// 2 MiB: the operating system has the file in memory anyway, and many processes may have it open.
const WRITER_CACHE: i64 = 8 << 10;

/// The records of one store. Any number of threads may use it, and any number of processes may open the same store.
pub struct Database {
    pub(super) path: PathBuf,
    store_id: String,
    lineage: String,
    /// `None` where the store cannot be written.
    writing: Option<Writing>,
    pub(super) readers: Arc<Readers>,
    pub(super) files: OpenedFiles,
}

/// The connections that write.
pub(super) struct Writing {
    pub(super) writer: Mutex<Connection>,
    /// Makes the writes that a power cut may undo: access counts. Used only while `writer` is held.
    pub(super) unsynced: Mutex<Connection>,
    /// Gives both their turn among the writers of all processes.
    pub(super) queue: WriteQueue,
}

impl Database {
    /// Opens the store, or creates it. One that cannot be written is opened for reading.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) when the folder cannot be used, [`Database`](crate::Error::Database) when
    /// `memory.db` is not SQLite, not ours, damaged or of a newer version.
    pub fn open(paths: &StorePaths) -> Result<Self> {
        let path = paths.database();
        loop {
            folder::prepare(paths)?;
            let found = FileId::of(&path);
            let mut opened = Self::open_file(paths);
            if matches!(opened, Err(Error::Store { .. } | Error::DatabaseFailed(_)))
                && !folder::can_be_written(paths.root())
            {
                opened = Self::open_to_read(path.clone());
            }
            // A repair may have replaced the file while we waited for its lock.
            if FileId::of(&path) == found {
                return opened;
            }
        }
    }

    fn open_file(paths: &StorePaths) -> Result<Self> {
        let path = paths.database();
        let refuse = |error| open_error(&path, error);
        let mut writer = connect(&path, WRITE_TIMEOUT).map_err(refuse)?;
        if writer.is_readonly(MAIN_DB).map_err(refuse)? {
            return Self::open_to_read(path);
        }
        // Before anything is changed: is the file ours at all?
        if migrate::check(&writer, &path, DatabaseOrigin::Store)? == 0 {
            enable_incremental_vacuum(&writer).map_err(refuse)?;
        }
        use_write_ahead_log(&writer).map_err(refuse)?;
        let store_id = migrate::prepare(&mut writer, &path)?;
        let lineage = migrate::lineage(&writer, &store_id, &path)?;
        writer.pragma_update(None, "synchronous", "FULL").map_err(refuse)?;
        writer.pragma_update(None, "cache_size", -WRITER_CACHE).map_err(refuse)?;
        let unsynced = connect(&path, WRITE_TIMEOUT).map_err(refuse)?;
        unsynced.pragma_update(None, "synchronous", "NORMAL").map_err(refuse)?;
        for writing in [&writer, &unsynced] {
            enable_secure_delete(writing).map_err(refuse)?;
        }
        Ok(Database {
            store_id,
            lineage,
            writing: Some(Writing {
                writer: Mutex::new(writer),
                unsynced: Mutex::new(unsynced),
                queue: WriteQueue::open(&paths.queue_lock()),
            }),
            readers: Readers::new(path.clone(), true),
            files: OpenedFiles::of_all(&path),
            path,
        })
    }

    fn open_to_read(path: PathBuf) -> Result<Self> {
        let files = OpenedFiles::of_database(&path);
        let readers = Readers::new(path.clone(), false);
        let reader = readers.lend()?;
        if migrate::check(&reader, &path, DatabaseOrigin::Store)? < MIGRATIONS.len() {
            let why = "it is of an older format, and cannot be written to bring it up to date; open it once where it can \
                       be written";
            return Err(Error::Store { path, why: why.into() });
        }
        let store_id = migrate::store_id(&reader, &path)?;
        let lineage = migrate::lineage(&reader, &store_id, &path)?;
        drop(reader);
        Ok(Database { store_id, lineage, writing: None, readers, files, path })
    }

    /// Whether the store can be written.
    pub fn can_write(&self) -> bool {
        self.writing.is_some()
    }

    /// # Errors
    /// [`Store`](crate::Error::Store) says why the store cannot be written.
    pub fn require_writing(&self) -> Result<()> {
        self.writing().map(drop)
    }

    pub(super) fn writing(&self) -> Result<&Writing> {
        let why = || {
            let why = "it can only be read here, so writes fail; make memory.db and its folder writable and restart, \
                 or use another store";
            Error::Store { path: self.path.clone(), why: why.into() }
        };
        self.writing.as_ref().ok_or_else(why)
    }

    /// The id that the store got when it was created (a ULID): two stores never share it, a copy does.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// The id that indexes belong to: like the store's id, but a restored copy has another.
    pub fn lineage(&self) -> &str {
        &self.lineage
    }

    /// A connection that reads.
    pub(in crate::records) fn reader(&self) -> Result<Reader> {
        let reader = self.readers.lend();
        // Afterwards: a new connection is to whatever file is there now, or to none.
        self.files.check()?;
        reader
    }

    /// How many transactions `work` commits.
    #[cfg(test)]
    pub(super) fn count_commits(&self, work: impl FnOnce()) -> usize {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let commits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&commits);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        self.writing().unwrap().writer.lock().commit_hook(Some(count)).unwrap();
        work();
        commits.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use crate::records::Records;
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;

    use super::super::readers::IDLE_READERS;
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{RecordId, RecordUpdate, Viewer};

    #[test]
    fn an_acknowledged_write_is_synced() {
        let store = TestStore::new();
        let pragma =
            |conn: &Connection, name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let Writing { writer, unsynced, .. } = store.writing().unwrap();
        let writer = writer.lock();
        assert_eq!(pragma(&writer, "synchronous"), 2, "FULL");
        assert_eq!(pragma(&writer, "foreign_keys"), 1);
        for connection in [&writer, &unsynced.lock()] {
            for barrier in ["fullfsync", "checkpoint_fullfsync"] {
                assert_eq!(pragma(connection, barrier), 1, "{barrier}, for macOS");
            }
        }
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        assert_eq!(pragma(&unsynced.lock(), "synchronous"), 1, "NORMAL");
    }

    #[test]
    fn a_reader_cannot_write_and_goes_back_clean() {
        let store = TestStore::new();
        assert!(store.reader().unwrap().execute_batch("DELETE FROM meta").is_err());
        let snapshot = store.snapshot().unwrap();
        store.add(&new("text"), NOW).unwrap();
        drop(snapshot);
        assert_eq!(store.readers.idle.lock().len(), 1);
        assert_eq!(store.head().unwrap().get(), 1, "the pooled connection sees the present");
        let many: Vec<_> = (0..IDLE_READERS + 3).map(|_| store.snapshot().unwrap()).collect();
        drop(many);
        assert_eq!(store.readers.idle.lock().len(), IDLE_READERS);
    }

    #[test]
    fn a_store_is_found_again() {
        let store = TestStore::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let again = store.again();
        assert_eq!(again.store_id(), store.store_id());
        assert_eq!(again.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "text");
        assert_ne!(TestStore::new().store_id(), store.store_id());
    }

    /// Six stores opened at once on a new folder, as six processes would, all writing all the time.
    #[test]
    fn many_writers_lose_nothing_and_none_fails_because_of_another() {
        const WRITERS: usize = 6;
        // A writer that goes on at once comes before all that wait: on a busy disk, more would take longer than they wait.
        const WRITES: usize = 10;
        let folder = tempfile::tempdir().unwrap();
        let paths = StorePaths::new(folder.path().join("new").join("store"));
        let start = Barrier::new(WRITERS);
        let write = |writer: usize| {
            start.wait();
            let records = Records::open(&paths).unwrap();
            let mut ids = Vec::new();
            for number in 0..WRITES {
                let id = records.add(&new(&format!("{writer} {number}")), NOW).unwrap().id;
                records.add(&new("shared"), NOW).unwrap();
                let update = RecordUpdate { importance: Some(7), ..Default::default() };
                records.update(id, &update, &Viewer::OWNER, NOW).unwrap();
                let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
                records.record_access(&[access], NOW).unwrap();
                let snapshot = records.snapshot().unwrap();
                assert_eq!(snapshot.records(&[id], NOW).unwrap()[0].access_count, 1, "a writer reads its writes");
                let head = snapshot.head().get();
                assert_eq!(
                    snapshot.tail(0.into(), usize::MAX).unwrap().len() as u64,
                    head,
                    "every number of the log has its entry"
                );
                ids.push(id);
            }
            ids
        };
        let ids: Vec<RecordId> = thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), WRITERS * WRITES);
        let records = Records::open(&paths).unwrap();
        let counts = records.snapshot().unwrap().counts(NOW).unwrap();
        assert_eq!(counts.live, (WRITERS * WRITES + 1) as u64);
        assert_eq!(counts.log_entries, (3 * WRITERS * WRITES) as u64);
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
    }
}
