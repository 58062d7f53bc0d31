//! [`Records`]: one writing connection behind a lock, a pool of reading ones, and transactions on them.
//!
//! A read never waits for a writer (write-ahead log). A write takes SQLite's write lock at its beginning and waits for
//! those of other processes, so "busy" reaches nobody.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, MAIN_DB, OpenFlags, Row, Transaction, TransactionBehavior, ffi};

use super::place::Place;
use super::reading::{Reader, Readers};
use super::row::{self, select_records};
use super::{Snapshot, folder, log, schema, shape, space, traces};
use crate::error::{Error, Result};
use crate::files::Stamp;
use crate::paths::{StorePaths, companions};
use crate::types::{Millis, Record, RecordId, Seq, Viewer};

/// A write gives up after waiting this long for other writes, of this process and of others. Clients of a server give up
/// after 60 s, and a tool may write more than once.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
/// A write-ahead log of fewer bytes is left as it is.
const WORTH_COPYING: u64 = 1 << 20;
/// One of more bytes is emptied.
const LONG_WAL: u64 = 32 << 20;
/// An access count is given up after this.
const UNSYNCED_PATIENCE: Duration = Duration::from_millis(500);
/// A write empties the log itself only when it has more pages than this: the background thread is far behind.
const PAGES_BEHIND: i64 = 4_000;
/// Page cache of the writing connection, in KiB: the pages that a batch of a thousand changes. The others keep SQLite's
/// 2 MiB: the operating system has the file in memory anyway, and many processes may have it open.
const WRITER_CACHE: i64 = 8 << 10;
/// Statements kept prepared per connection.
const STATEMENTS: usize = 64;

/// The records of one store. Any number of threads may use it, and any number of processes may open the same store.
pub struct Records {
    pub(super) path: PathBuf,
    store_id: String,
    lineage: String,
    /// `None` where the store cannot be written.
    writing: Option<Writing>,
    readers: Arc<Readers>,
    place: Place,
}

/// The connections that write.
struct Writing {
    writer: Mutex<Connection>,
    /// Writes what a power cut may take back: access counts. Used only while `writer` is held.
    unsynced: Mutex<Connection>,
}

impl Records {
    /// Opens the store, and creates it where there is none. One that cannot be written is opened for reading.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) when the folder cannot be used, [`Database`](crate::Error::Database) when
    /// `memory.db` is not SQLite, not ours, damaged or of a newer version.
    pub fn open(paths: &StorePaths) -> Result<Self> {
        let path = paths.database();
        loop {
            folder::prepare(paths)?;
            let found = Stamp::of(&path);
            let mut opened = Self::open_file(path.clone());
            if matches!(opened, Err(Error::Store { .. } | Error::Sqlite(_))) && !folder::can_be_written(paths.root()) {
                opened = Self::open_to_read(path.clone());
            }
            // A repair may have put another file in its place while we waited for its lock.
            if Stamp::of(&path) == found {
                return opened;
            }
        }
    }

    fn open_file(path: PathBuf) -> Result<Self> {
        let refuse = |error| schema::open_error(&path, error);
        let mut writer = connect(&path, PATIENCE).map_err(refuse)?;
        if writer.is_readonly(MAIN_DB).map_err(refuse)? {
            return Self::open_to_read(path);
        }
        // Before anything is changed: is the file ours at all?
        if schema::check(&writer, &path, shape::REPAIR)? == 0 {
            space::prepare(&writer).map_err(refuse)?;
        }
        use_write_ahead_log(&writer).map_err(refuse)?;
        let store_id = schema::prepare(&mut writer, &path)?;
        let lineage = schema::lineage(&writer, &store_id, &path)?;
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
            lineage,
            writing: Some(Writing { writer: Mutex::new(writer), unsynced: Mutex::new(unsynced) }),
            readers: Readers::new(path.clone(), true),
            place: Place::of_all(&path),
            path,
        })
    }

    fn open_to_read(path: PathBuf) -> Result<Self> {
        let place = Place::of_database(&path);
        let readers = Readers::new(path.clone(), false);
        let reader = readers.lend()?;
        if schema::check(&reader, &path, shape::REPAIR)? < schema::MIGRATIONS.len() {
            let why = "it is of an older format, and cannot be written to bring it up to date; open it once where it can \
                       be written";
            return Err(Error::Store { path, why: why.into() });
        }
        let store_id = schema::store_id(&reader, &path)?;
        let lineage = schema::lineage(&reader, &store_id, &path)?;
        drop(reader);
        Ok(Records { store_id, lineage, writing: None, readers, place, path })
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

    fn writing(&self) -> Result<&Writing> {
        let why = || {
            let why = "it can only be read here, so nothing is saved or changed; make memory.db and its folder writable and \
                       restart, or use another store";
            Error::Store { path: self.path.clone(), why: why.into() }
        };
        self.writing.as_ref().ok_or_else(why)
    }

    /// The id that the store got when it was created (a ULID): two stores never share it, a copy does.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// What an index belongs to: like the store's id, but a restored copy has another.
    pub fn lineage(&self) -> &str {
        &self.lineage
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
        let reader = self.readers.lend();
        // Afterwards: a new connection is to whatever file is there now, or to none.
        self.place.check()?;
        reader
    }

    /// Runs `work` in a transaction that is on the disk when this returns, or was never there.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let writing = self.writing()?;
        self.place.check()?;
        let conn = writing.writer.try_lock_for(PATIENCE);
        let mut conn = conn.ok_or_else(|| schema::held(&self.path))?;
        // Those who queue for the connection wait no longer in all than the first of them.
        let left = PATIENCE.saturating_sub(began.elapsed());
        let written = wait_at_most(&mut conn, left).map_err(Error::from).and_then(|()| transact(&mut conn, work));
        let done = written.map_err(|error| self.in_words(error))?;
        self.place.check()?;
        Ok(done)
    }

    /// Copies what the write-ahead log has into the database, which makes nobody wait, and empties the log when it is
    /// long: readers that overlap keep SQLite from doing so by itself. Writes leave that to the background thread, which
    /// calls this: the one that had to copy the pages of all before it took a second.
    pub fn shorten_wal(&self) -> Result<()> {
        let [wal, ..] = companions(&self.path);
        let length = std::fs::metadata(&wal).map_or(0, |wal| wal.len());
        if self.can_write() && length > WORTH_COPYING && self.wal_is_copied()? && length > LONG_WAL {
            self.empty_wal()?;
        }
        Ok(())
    }

    /// Copies what readers let it copy of the write-ahead log into the database, and makes nobody wait. Returns whether
    /// that is all of it.
    pub(super) fn wal_is_copied(&self) -> Result<bool> {
        let reader = self.reader()?;
        let numbers = |row: &Row<'_>| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let (all, copied) = reader.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], numbers)?;
        Ok(all == copied)
    }

    /// Empties the write-ahead log, unless readers or writers keep it for longer than a moment. Returns whether it did.
    pub(super) fn empty_wal(&self) -> Result<bool> {
        let writing = self.writing()?;
        self.place.check()?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let was_busy = writing.unsynced.lock().query_row(checkpoint, [], |row| row.get::<_, bool>(0));
        was_busy.map(|busy| !busy).map_err(|error| self.in_words(error.into()))
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
        let writing = self.writing()?;
        self.place.check()?;
        // Cheaper than to meet the other connection in SQLite's lock.
        let _queue = writing.writer.try_lock_for(UNSYNCED_PATIENCE).ok_or_else(busy)?;
        let done = transact(&mut writing.unsynced.lock(), work)?;
        self.place.check()?;
        Ok(done)
    }
}

fn transact<T>(conn: &mut Connection, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&tx)?; // an error rolls back as `tx` goes
    tx.commit()?;
    Ok(result)
}

pub(super) fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    connect_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX, patience)
}

pub(super) fn connect_with(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<Connection> {
    let mut conn = Connection::open_with_flags(path, flags)?;
    shape::distrust(&conn)?;
    wait_at_most(&mut conn, patience)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", PAGES_BEHIND, |_| Ok(()))?;
    Ok(conn)
}

/// Has the connection wait for locks, for so long each time.
fn wait_at_most(conn: &mut Connection, patience: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    conn.busy_handler(Some(move |attempt: i32| {
        if attempt == 0 {
            since = Instant::now();
        }
        // Short naps, unlike SQLite's own handler: the transactions waited for are short.
        thread::sleep(Duration::from_micros(200 * attempt.clamp(1, 20) as u64));
        since.elapsed() < patience
    }))
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;

    use super::super::reading::IDLE_READERS;
    use super::super::testing::{NOW, Store, new};
    use super::super::{Access, AccessKind};
    use super::*;
    use crate::types::{RecordUpdate, Viewer};

    #[test]
    fn an_acknowledged_write_is_synced() {
        let store = Store::new();
        let pragma =
            |conn: &Connection, name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let Writing { writer, unsynced } = store.writing().unwrap();
        let writer = writer.lock();
        assert_eq!(pragma(&writer, "synchronous"), 2, "FULL");
        assert_eq!(pragma(&writer, "foreign_keys"), 1);
        let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        assert_eq!(pragma(&unsynced.lock(), "synchronous"), 1, "NORMAL");
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

    /// A write that had to copy what all before it wrote would keep its caller waiting.
    #[test]
    fn a_write_leaves_it_to_the_background_to_empty_the_log() {
        let store = Store::new();
        let length = || std::fs::metadata(&store.path).unwrap().len();
        let before = length();
        for at in 0..8 {
            store.add(&new(&format!("{at} {}", "long ".repeat(200_000))), NOW).unwrap();
        }
        assert_eq!(length(), before);
        store.shorten_wal().unwrap();
        assert!(length() > before + (7 << 20));
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
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
