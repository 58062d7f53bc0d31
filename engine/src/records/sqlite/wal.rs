//! The write-ahead log of `memory.db`, kept short.

use super::errors::open_error;
use super::store::Database;
use crate::error::Result;
use crate::paths::companions;

/// A write-ahead log of fewer bytes is left as it is.
const WORTH_COPYING: u64 = 1 << 20;
/// One of more bytes is emptied.
const LONG_WAL: u64 = 32 << 20;

impl Database {
    /// Copies what the write-ahead log has into the database, which blocks no one, and empties the log when it is
    /// long: readers that overlap keep SQLite from doing so by itself. The background thread calls this, and not writes:
    /// the write that had to copy the pages of all writes before it took a second.
    pub fn shorten_wal(&self) -> Result<()> {
        let [wal, ..] = companions(&self.path);
        let length = std::fs::metadata(&wal).map_or(0, |wal| wal.len());
        if self.can_write() && length > WORTH_COPYING && self.wal_is_copied()? && length > LONG_WAL {
            self.empty_wal()?;
        }
        Ok(())
    }

    /// Copies what readers allow of the write-ahead log into the database, which blocks no one. Returns whether
    /// that is all of it.
    pub(super) fn wal_is_copied(&self) -> Result<bool> {
        let reader = self.reader()?;
        let numbers = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let (all, copied) = reader.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], numbers)?;
        Ok(all == copied)
    }

    /// Empties the write-ahead log, unless readers or writers keep it for longer than a moment. Returns whether it did.
    pub(super) fn empty_wal(&self) -> Result<bool> {
        let writing = self.writing()?;
        self.files.check()?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let was_busy = writing.unsynced.lock().query_row(checkpoint, [], |row| row.get::<_, bool>(0));
        was_busy.map(|busy| !busy).map_err(|error| open_error(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;

    #[test]
    fn a_long_write_ahead_log_is_emptied_once_nobody_reads_from_it() {
        let store = TestStore::new();
        let [wal, ..] = companions(&store.path);
        let length = || std::fs::metadata(&wal).unwrap().len();
        let reader = store.snapshot().unwrap(); // keeps SQLite from starting the log again
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
        let store = TestStore::new();
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
}
