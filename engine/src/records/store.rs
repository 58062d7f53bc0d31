//! [`Records`]: one writing connection behind a lock, a pool of reading ones, and transactions on them.
//!
//! A read never waits for a writer (write-ahead log). A write takes SQLite's write lock at its beginning and waits for
//! those of other processes, so "busy" reaches nobody.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, ffi};

use super::row::{self, select_records};
use super::{Snapshot, folder, log, schema, space, traces};
use crate::error::{Error, Result};
use crate::files::Stamp;
use crate::paths::{StorePaths, companions};
use crate::types::{Millis, Record, RecordId, Seq, Viewer};

/// A write gives up after waiting this long for the writes of other processes.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// A write-ahead log of more bytes is emptied.
const LONG_WAL: u64 = 32 << 20;
/// An access count is given up after this.
const UNSYNCED_PATIENCE: Duration = Duration::from_millis(500);
/// Reading connections kept open when nobody reads.
const IDLE_READERS: usize = 4;
/// Page cache of the writing connection, in KiB: the pages that a batch of a thousand changes. The others keep SQLite's
/// 2 MiB: the operating system has the file in memory anyway, and many processes may have it open.
const WRITER_CACHE: i64 = 8 << 10;
/// Statements kept prepared per connection.
const STATEMENTS: usize = 64;

/// The records of one store. Any number of threads may use it, and any number of processes may open the same store.
pub struct Records {
    pub(super) path: PathBuf,
    store_id: String,
    writer: Mutex<Connection>,
    /// Writes what a power cut may take back: access counts. Used only while `writer` is held.
    unsynced: Mutex<Connection>,
    readers: Arc<Readers>,
}

impl Records {
    /// Opens the store, and creates it where there is none.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) when the folder cannot be used, [`Database`](crate::Error::Database) when
    /// `memory.db` is not SQLite, not ours, damaged or of a newer version.
    pub fn open(paths: &StorePaths) -> Result<Self> {
        let path = paths.database();
        loop {
            folder::prepare(paths)?;
            let found = Stamp::of(&path);
            let opened = Self::open_file(path.clone());
            // A repair may have put another file in its place while we waited for its lock.
            if Stamp::of(&path) == found {
                return opened;
            }
        }
    }

    fn open_file(path: PathBuf) -> Result<Self> {
        let refuse = |error| schema::open_error(&path, error);
        let mut writer = connect(&path, PATIENCE).map_err(refuse)?;
        // Before anything is changed: is the file ours at all?
        if schema::check_owner(&writer, &path)? == 0 {
            space::prepare(&writer).map_err(refuse)?;
        }
        use_write_ahead_log(&writer).map_err(refuse)?;
        let store_id = schema::prepare(&mut writer, &path)?;
        writer.pragma_update(None, "synchronous", "FULL").map_err(refuse)?;
        writer.pragma_update(None, "cache_size", -WRITER_CACHE).map_err(refuse)?;
        let unsynced = connect(&path, UNSYNCED_PATIENCE).map_err(refuse)?;
        unsynced.pragma_update(None, "synchronous", "NORMAL").map_err(refuse)?;
        // What is deleted shall be gone (`traces.rs`).
        for writing in [&writer, &unsynced] {
            traces::leave_none(writing).map_err(refuse)?;
        }
        Ok(Records {
            store_id,
            writer: Mutex::new(writer),
            unsynced: Mutex::new(unsynced),
            readers: Arc::new(Readers { path: path.clone(), idle: Mutex::new(Vec::new()) }),
            path,
        })
    }

    /// The id that the store got when it was created (a ULID): two stores never share it, a copy does.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// The newest sequence number of the sync log, also when its entry is trimmed already. 0 for a store never written.
    pub fn head(&self) -> Result<Seq> {
        let reader = self.reader()?;
        Ok(log::head(&reader)?)
    }

    /// The live record `id`, where `viewer` sees it.
    pub fn get(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Option<Record>> {
        let reader = self.reader()?;
        let mut statement = reader
            .prepare_cached(select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)"))?;
        let mut rows = statement.query((id, now))?;
        let record = rows.next()?.map(row::to_record).transpose()?;
        Ok(record.filter(|record| viewer.sees(&record.scope)))
    }

    /// One unchanging view of the whole store, on a connection of its own.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::begin(self.reader()?)
    }

    pub(super) fn reader(&self) -> Result<Reader> {
        let idle = self.readers.idle.lock().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => {
                let conn = connect(&self.path, PATIENCE).map_err(|error| schema::open_error(&self.path, error))?;
                conn.pragma_update(None, "query_only", true)?;
                conn
            }
        };
        Ok(Reader { conn: Some(conn), home: Arc::clone(&self.readers) })
    }

    /// Runs `work` in a transaction that is on the disk when this returns, or was never there.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        transact(&mut self.writer.lock(), work).map_err(|error| self.in_words(error))
    }

    /// Empties the write-ahead log when it is long: readers that overlap keep SQLite from doing so by itself. Waits a
    /// moment for them, and else tries again another time.
    pub fn shorten_wal(&self) -> Result<()> {
        let [wal, ..] = companions(&self.path);
        if std::fs::metadata(&wal).is_ok_and(|wal| wal.len() > LONG_WAL) {
            self.empty_wal()?;
        }
        Ok(())
    }

    /// Empties the write-ahead log, unless readers or writers keep it for longer than a moment. Returns whether it did.
    pub(super) fn empty_wal(&self) -> Result<bool> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let was_busy = self.unsynced.lock().query_row(checkpoint, [], |row| row.get::<_, bool>(0));
        was_busy.map(|busy| !busy).map_err(|error| self.in_words(error.into()))
    }

    /// What stands in the way of a write, and the way out.
    pub(super) fn in_words(&self, error: Error) -> Error {
        match error {
            Error::Sqlite(error) => schema::open_error(&self.path, error),
            other => other,
        }
    }

    /// Like [`Self::write`], without waiting for the disk: after a power cut (not after a crash) it may not have been.
    /// Gives up soon when others write: nobody who reads shall wait for it.
    pub(super) fn write_unsynced<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let busy = || Error::Store { path: self.path.clone(), why: "others are writing to it".into() };
        // Cheaper than to meet the other connection in SQLite's lock.
        let _queue = self.writer.try_lock_for(UNSYNCED_PATIENCE).ok_or_else(busy)?;
        transact(&mut self.unsynced.lock(), work)
    }
}

fn transact<T>(conn: &mut Connection, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&tx)?; // an error rolls back as `tx` goes
    tx.commit()?;
    Ok(result)
}

pub(super) fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    let mut since = Instant::now();
    conn.busy_handler(Some(move |attempt: i32| {
        if attempt == 0 {
            since = Instant::now();
        }
        // Short naps, unlike SQLite's own handler: the transactions waited for are short.
        thread::sleep(Duration::from_micros(200 * attempt.clamp(1, 20) as u64));
        since.elapsed() < patience
    }))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(conn)
}

/// Switches the database to the write-ahead log. SQLite does not ask the busy handler here, so two processes that
/// create a store at the same time must try again.
fn use_write_ahead_log(conn: &Connection) -> rusqlite::Result<()> {
    let since = Instant::now();
    loop {
        match conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error) if is_busy(&error) && since.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(2)),
            result => return result,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code & 0xFF == ffi::SQLITE_BUSY)
}

struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// A reading connection, on loan from its pool.
pub(super) struct Reader {
    conn: Option<Connection>,
    home: Arc<Readers>,
}

impl Reader {
    pub(super) fn path(&self) -> &Path {
        &self.home.path
    }
}

impl std::ops::Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn.as_ref().expect("the connection is taken only by drop")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else { return };
        // A connection that still is in a transaction would show its next user the past: it is closed instead.
        let clean = conn.is_autocommit() || conn.execute_batch("ROLLBACK").is_ok();
        let mut idle = self.home.idle.lock();
        if clean && idle.len() < IDLE_READERS {
            idle.push(conn);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;

    use super::super::testing::{NOW, Store, new};
    use super::super::{Access, AccessKind};
    use super::*;
    use crate::types::{RecordUpdate, Viewer};

    #[test]
    fn an_acknowledged_write_is_synced() {
        let store = Store::new();
        let pragma =
            |conn: &Connection, name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let writer = store.writer.lock();
        assert_eq!(pragma(&writer, "synchronous"), 2, "FULL");
        assert_eq!(pragma(&writer, "foreign_keys"), 1);
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        assert_eq!(pragma(&store.unsynced.lock(), "synchronous"), 1, "NORMAL");
    }

    #[test]
    fn a_reader_cannot_write_and_goes_back_clean() {
        let store = Store::new();
        assert!(store.reader().unwrap().execute_batch("DELETE FROM meta").is_err());
        let snapshot = store.snapshot().unwrap();
        store.add(&new("text"), NOW).unwrap();
        drop(snapshot);
        assert_eq!(store.readers.idle.lock().len(), 1);
        assert_eq!(store.head().unwrap(), 1, "the pooled connection sees the present");
        let many: Vec<_> = (0..IDLE_READERS + 3).map(|_| store.snapshot().unwrap()).collect();
        drop(many);
        assert_eq!(store.readers.idle.lock().len(), IDLE_READERS);
    }

    #[test]
    fn a_long_write_ahead_log_is_emptied_once_nobody_reads_from_it() {
        let store = Store::new();
        let [wal, ..] = companions(&store.path);
        let length = || std::fs::metadata(&wal).unwrap().len();
        let reader = store.snapshot().unwrap(); // keeps SQLite from beginning the log anew
        let text = |at: u64| new(&format!("{at} {}", "long ".repeat(200_000)));
        let mut at = 0;
        while length() <= LONG_WAL {
            at += 1;
            store.add(&text(at), NOW).unwrap();
        }
        drop(reader);
        store.shorten_wal().unwrap();
        assert_eq!(length(), 0);
        assert_eq!(store.snapshot().unwrap().live_count(NOW).unwrap(), at);
    }

    #[test]
    fn a_store_is_found_again() {
        let store = Store::new();
        let id = store.add(&new("text"), NOW).unwrap().id;
        let again = store.again();
        assert_eq!(again.store_id(), store.store_id());
        assert_eq!(again.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "text");
        assert_ne!(Store::new().store_id(), store.store_id());
    }

    /// Six stores opened at once on a new folder, as six processes would, all writing all the time.
    #[test]
    fn many_writers_lose_nothing_and_are_never_told_to_wait() {
        const WRITERS: usize = 6;
        const WRITES: usize = 25;
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
                let head = snapshot.head();
                assert_eq!(
                    snapshot.tail(0, usize::MAX).unwrap().len() as u64,
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
        assert_eq!(counts.log_entries, (2 * WRITERS * WRITES + 1) as u64);
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new());
    }
}
