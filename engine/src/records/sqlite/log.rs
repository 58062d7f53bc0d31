//! The sync log as a table: its head, its tail, its trimming. What it means is in [`crate::records::log`]; the rules
//! append to it.

use std::thread;
use std::time::Instant;

use rusqlite::{Connection, OptionalExtension};

use super::errors::damaged;
use super::readers::Reader;
use super::store::Database;
use crate::error::Result;
use crate::records::log::{Change, LogEntry};
use crate::records::transaction::{Authority, SelectExt};
use crate::types::Seq;

/// Entries removed in one transaction.
const TRIMMED_AT_ONCE: i64 = 2_000;

const HEAD: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'sync_log'";

/// The newest sequence number ever given.
pub(super) fn head(conn: &Connection) -> rusqlite::Result<Seq> {
    let newest = conn.prepare_cached(HEAD)?.query_row([], |row| row.get(0)).optional()?;
    Ok(newest.unwrap_or(Seq::START))
}

/// Entries up to here are gone.
pub(super) fn trimmed_to(conn: &Connection) -> rusqlite::Result<Seq> {
    let mut statement = conn.prepare_cached("SELECT value FROM meta WHERE key = 'trimmed_to'")?;
    statement.query_row([], |row| row.get(0))
}

/// At most `limit` entries after `after`, oldest first.
pub(super) fn tail(reader: &Reader, after: Seq, limit: usize) -> Result<Vec<LogEntry>> {
    let mut statement =
        reader.prepare_cached("SELECT seq, op, record_id, payload FROM sync_log WHERE seq > ? ORDER BY seq LIMIT ?")?;
    let mut rows = statement.query((after, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: Seq = row.get(0)?;
        let change = Change::decode(row.get(1)?, row.get_ref(3)?.as_blob().unwrap_or_default())
            .ok_or_else(|| damaged(reader.path(), &format!("entry {} of its sync log is not readable", seq.get())))?;
        entries.push(LogEntry { seq, record_id: row.get(2)?, change });
    }
    Ok(entries)
}

impl Database {
    /// The newest sequence number of the sync log, also when its entry is trimmed already. 0 for a store never written.
    pub fn head(&self) -> Result<Seq> {
        let reader = self.reader()?;
        Ok(head(&reader)?)
    }

    /// Removes the entries up to `up_to`, which every index has made durable. Many are removed in several transactions, so
    /// that other writers wait for none of them long.
    pub fn trim_log(&self, up_to: Seq) -> Result<()> {
        if trimmed_to(&*self.reader()?)? >= up_to {
            return Ok(());
        }
        loop {
            let started = Instant::now();
            let is_done = self.write(|tx| {
                let head = tx.first(HEAD, &[], |row| row.get(0))?.unwrap_or(Seq::START);
                let up_to = up_to.min(head);
                let last = tx.first(
                    "SELECT seq FROM sync_log WHERE seq <= ?1 ORDER BY seq LIMIT 1 OFFSET ?2",
                    &[up_to.into(), (TRIMMED_AT_ONCE - 1).into()],
                    |row| row.get(0),
                )?;
                let step = last.unwrap_or(up_to);
                tx.execute("DELETE FROM sync_log WHERE seq <= ?1", &[step.into()])?;
                tx.execute("UPDATE meta SET value = max(value, ?1) WHERE key = 'trimmed_to'", &[step.into()])?;
                Ok(step >= up_to)
            })?;
            if is_done {
                return Ok(());
            }
            // Half of the time is left to those who write.
            thread::sleep(started.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::error::Error;

    #[test]
    fn the_head_outlives_trimming() {
        let store = TestStore::new();
        assert_eq!(store.head().unwrap().get(), 0);
        for text in ["one", "two", "three"] {
            store.add(&new(text), NOW).unwrap();
        }
        store.trim_log(2.into()).unwrap();
        let snapshot = store.view();
        assert_eq!((snapshot.head().get(), snapshot.trimmed_to().get()), (3, 2));
        assert_eq!(
            snapshot.tail(Seq::START, usize::MAX).unwrap().iter().map(|entry| entry.seq.get()).collect::<Vec<_>>(),
            [3]
        );
        drop(snapshot);
        store.trim_log(1.into()).unwrap();
        assert_eq!(store.view().trimmed_to().get(), 2, "never backwards");
        store.trim_log(u64::MAX.into()).unwrap();
        let again = store.again();
        let snapshot = again.snapshot().unwrap();
        assert_eq!((snapshot.head().get(), snapshot.trimmed_to().get()), (3, 3), "never beyond what was written");
        assert_eq!(snapshot.tail(Seq::START, usize::MAX).unwrap(), []);
        assert_eq!(snapshot.tail(u64::MAX.into(), usize::MAX).unwrap(), []);
        again.add(&new("four"), NOW).unwrap();
        assert_eq!(again.head().unwrap().get(), 4);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// To remove a million entries takes a second, and everyone who saves a memory would wait for it.
    #[test]
    fn a_long_log_is_trimmed_some_entries_at_a_time() {
        let store = TestStore::new();
        store.sql(&format!(
            "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < {TRIMMED_AT_ONCE} * 5 / 2)
             INSERT INTO sync_log (op, record_id, payload) SELECT 2, n, zeroblob(16) FROM n"
        ));
        let transactions = store.count_commits(|| store.trim_log(u64::MAX.into()).unwrap());
        assert_eq!(transactions, 3);
        let snapshot = store.view();
        assert_eq!([snapshot.trimmed_to(), snapshot.head()].map(Seq::get), [TRIMMED_AT_ONCE.unsigned_abs() * 5 / 2; 2]);
        assert_eq!(snapshot.tail(Seq::START, usize::MAX).unwrap(), []);
    }

    #[test]
    fn an_unreadable_entry_is_reported_not_skipped() {
        let store = TestStore::new();
        store.add(&new("text"), NOW).unwrap();
        store.sql("UPDATE sync_log SET payload = x'00'");
        let error = store.view().tail(Seq::START, usize::MAX).unwrap_err();
        assert!(matches!(error, Error::Database { .. }), "{error}");
        assert!(error.to_string().contains("entry 1 of its sync log"), "{error}");
    }
}
