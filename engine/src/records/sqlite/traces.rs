//! Removes traces of purged texts that the tables no longer have, from the files of the database.
//!
//! SQLite overwrites what is deleted with zeros (`secure_delete`), but a page that was split may keep a copy of what it
//! once had beside its rows, and so does a store that an earlier version has written to. Such traces go when the database
//! is rewritten. The write-ahead log is emptied.
//!
//! Blocks that a file system or a disk keeps of overwritten or truncated data are not reached.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::thread;
use std::time::{Duration, Instant};

use memorist_durable::{FileId, crash};
use parking_lot::Mutex;

use super::connection::{WRITE_TIMEOUT, connect, enable_secure_delete};
use super::errors::open_error;
use super::store::Database;
use crate::error::{Error, Result};
use crate::records::purge::mark::PurgeMark;
use crate::records::purge::patterns::PurgePatterns;
use crate::records::transaction::Authority;

/// How long to wait before it is tried again to empty a write-ahead log that readers need.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The databases that were looked through, never to be closed: when a process closes a file, the system lets go of every lock
/// that the process has on it, also of those that SQLite relies on
/// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
static OPENED: Mutex<Vec<(Option<FileId>, File)>> = Mutex::new(Vec::new());

impl Database {
    /// The mark of an unfinished purge, if there is one.
    pub fn unfinished_purge(&self) -> Result<Option<PurgeMark>> {
        PurgeMark::read(&*self.reader()?)
    }

    /// Ends this mark: no traces are left of the rows that were removed up to it. Later removals have another mark.
    pub fn end_purge(&self, mark: &PurgeMark) -> Result<()> {
        self.write(|tx| mark.end(tx))
    }

    /// Removes all traces of `patterns`, which no table has any more since `mark`, from the database and its write-ahead
    /// log. Returns false when others read from that log for longer than `timeout`: then try again later.
    ///
    /// Where a trace is found the database is rewritten, which takes its size again in a temporary file and in the
    /// write-ahead log; writers wait for it. The mark says so from then on, and it is not done again.
    pub fn remove_traces(&self, mark: &PurgeMark, patterns: &PurgePatterns, timeout: Duration) -> Result<bool> {
        if !self.empty_wal_within(timeout)? {
            return Ok(false);
        }
        crash::point("log emptied");
        if mark.is_rewritten() || !self.file_holds(patterns)? {
            return Ok(true);
        }
        self.rewrite()?;
        crash::point("database rewritten");
        self.write(|tx| mark.note_rewritten(tx))?;
        self.empty_wal_within(timeout)
    }

    fn empty_wal_within(&self, timeout: Duration) -> Result<bool> {
        let started = Instant::now();
        loop {
            // To empty it, SQLite makes writers wait for readers: only when none seems to need it.
            if self.wal_is_copied()? && self.empty_wal()? {
                return Ok(true);
            }
            if started.elapsed() >= timeout {
                return Ok(false);
            }
            thread::sleep(BETWEEN_TRIES);
        }
    }

    /// Looks through the bytes of `memory.db`.
    fn file_holds(&self, patterns: &PurgePatterns) -> Result<bool> {
        let unreadable = |error| Error::io(&self.path, error);
        let mut opened = OPENED.lock();
        let id = FileId::of(&self.path);
        let at = match opened.iter().position(|(known, _)| *known == id) {
            Some(at) => at,
            None => {
                opened.push((id, File::open(&self.path).map_err(unreadable)?));
                opened.len() - 1
            }
        };
        let (_, file) = &mut opened[at];
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        patterns.is_in(file).map_err(unreadable)
    }

    /// Rewrites the database, so that it holds nothing but its tables.
    fn rewrite(&self) -> Result<()> {
        let conn = connect(&self.path, WRITE_TIMEOUT)?;
        enable_secure_delete(&conn)?;
        // The copy may be too large for the memory.
        conn.pragma_update(None, "temp_store", "FILE")?;
        conn.execute_batch("VACUUM").map_err(|error| open_error(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::paths::{StorePaths, companions};
    use crate::records::rules::trash;
    use crate::records::{Access, AccessKind};
    use crate::types::{RecordId, Viewer};

    const SECRET: &str = "xq7-kestrel-vault";
    const MOMENT: Duration = Duration::from_millis(300);

    /// The bytes of the database and the length of its write-ahead log after some work, when nobody has it open any more: a
    /// test that closed them before would take SQLite's locks from it.
    fn files_after(store: TestStore, work: impl FnOnce(&TestStore)) -> (Vec<u8>, u64) {
        work(&store);
        let [wal, ..] = companions(&store.path);
        let log = fs::metadata(wal).unwrap().len();
        let kept = store.close();
        (fs::read(StorePaths::new(kept.path()).database()).unwrap(), log)
    }

    fn holds(bytes: &[u8]) -> bool {
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    }

    fn patterns() -> PurgePatterns {
        let mut patterns = PurgePatterns::default();
        patterns.add(SECRET);
        patterns
    }

    fn unwritten() -> PurgeMark {
        PurgeMark::unwritten()
    }

    fn filled() -> TestStore {
        let store = TestStore::new();
        let news: Vec<_> = (0..300).map(|n| new(&format!("other {n}"))).collect();
        store.add_batch(&news, NOW).unwrap();
        store
    }

    /// With the text of a record that fills pages of its own.
    fn with_secret() -> (TestStore, RecordId) {
        let store = filled();
        let id = store.add(&new(&format!("{} the {SECRET} {0}", "and more ".repeat(2_000))), NOW).unwrap().id;
        assert!(store.empty_wal().unwrap());
        (store, id)
    }

    #[test]
    fn deleted_bytes_are_overwritten() {
        let (store, id) = with_secret();
        let (database, log) = files_after(store, |store| {
            assert!(store.file_holds(&patterns()).unwrap());
            assert!(store.delete(id, &Viewer::OWNER, NOW).unwrap());
            assert_eq!(trash::empty(&**store, NOW, 9).unwrap(), 1);
            assert!(store.remove_traces(&unwritten(), &patterns(), MOMENT).unwrap());
        });
        assert!(!holds(&database));
        assert_eq!(log, 0);
    }

    #[test]
    fn a_deleted_query_is_overwritten() {
        let store = filled();
        let access = Access { id: 1.into(), kind: AccessKind::Search, score: None, query: Some(SECRET), counts: false };
        store.record_access(&[access], NOW).unwrap();
        store.empty_wal().unwrap();
        assert!(store.file_holds(&patterns()).unwrap());
        store.write_unsynced(|tx| tx.execute("DELETE FROM access_log", &[])).unwrap();
        store.empty_wal().unwrap();
        assert!(!store.file_holds(&patterns()).unwrap());
    }

    #[test]
    fn a_database_rewrite_removes_traces_not_overwritten() {
        for known in [patterns(), PurgePatterns::unknown()] {
            let (store, id) = with_secret();
            let (database, log) = files_after(store, |store| {
                let pages = store.number("PRAGMA page_count");
                store.sql(&format!("PRAGMA secure_delete = OFF; DELETE FROM records WHERE id = {id}"));
                assert!(store.remove_traces(&unwritten(), &known, MOMENT).unwrap());
                assert!(store.number("PRAGMA page_count") < pages);
                assert_eq!(store.number("PRAGMA freelist_count"), 0);
                assert_eq!(store.view().live_count(NOW).unwrap(), 300);
                assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
            });
            assert!(!holds(&database));
            assert_eq!(log, 0);
        }
    }

    #[test]
    fn a_database_without_a_trace_is_not_rewritten() {
        let store = filled();
        store.sql("CREATE TABLE spare (x); INSERT INTO spare VALUES (zeroblob(100000)); DROP TABLE spare");
        assert!(store.remove_traces(&unwritten(), &patterns(), MOMENT).unwrap());
        assert!(store.number("PRAGMA freelist_count") > 0);
    }

    #[test]
    fn a_database_is_rewritten_once() {
        let store = filled();
        store.write(|tx| unwritten().write(tx, &unwritten())).unwrap();
        let leave_room = "CREATE TABLE spare (x); INSERT INTO spare VALUES (zeroblob(100000)); DROP TABLE spare";
        let mark = || store.unfinished_purge().unwrap().unwrap();
        for is_room_left in [false, true] {
            store.sql(leave_room);
            assert_eq!(mark().is_rewritten(), is_room_left);
            assert!(store.remove_traces(&mark(), &PurgePatterns::unknown(), MOMENT).unwrap());
            assert_eq!(store.number("PRAGMA freelist_count") > 0, is_room_left);
        }
    }

    #[test]
    fn a_reader_keeps_the_log_for_a_while() {
        let (store, id) = with_secret();
        let reader = store.view();
        store.delete(id, &Viewer::OWNER, NOW).unwrap();
        trash::empty(&*store, NOW, 9).unwrap();
        assert!(!store.remove_traces(&unwritten(), &patterns(), MOMENT).unwrap());
        drop(reader);
        assert!(store.remove_traces(&unwritten(), &patterns(), MOMENT).unwrap());
    }
}
