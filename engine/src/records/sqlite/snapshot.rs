//! [`Snapshot`]: one unchanging view of the records, the log and the embeddings.

use roaring::RoaringTreemap;
use rusqlite::{Connection, Params};

use super::log;
use super::readers::Reader;
use super::store::Database;
use crate::error::Result;
use crate::records::log::LogEntry;
#[cfg(feature = "postgres")]
use crate::records::transaction::SelectExt;
#[cfg(feature = "postgres")]
use crate::text::Hash;
use crate::types::{RecordId, Seq};

/// Everything as it was when the snapshot was taken, also when this or another process writes meanwhile. It holds a
/// connection and keeps the write-ahead log from being emptied, so drop it soon.
pub struct Snapshot {
    reader: Reader,
    head: Seq,
    trimmed_to: Seq,
}

/// The ids of a record, its version, and the hash of its text.
#[cfg(feature = "postgres")]
pub(in crate::records) struct RecordIdentity {
    pub(in crate::records) id: RecordId,
    pub(in crate::records) ulid: [u8; 16],
    pub(in crate::records) version: i64,
    pub(in crate::records) embedding_hash: Hash,
}

impl Database {
    /// One unchanging view of the whole store, on a connection of its own.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::begin(self.reader()?)
    }
}

impl Snapshot {
    pub(super) fn begin(reader: Reader) -> Result<Self> {
        reader.prepare_cached("BEGIN")?.execute([])?;
        // SQLite takes its view with the first read.
        let head = log::head(&reader)?;
        let trimmed_to = log::trimmed_to(&reader)?;
        Ok(Snapshot { reader, head, trimmed_to })
    }

    pub(super) fn conn(&self) -> &Connection {
        &self.reader
    }

    /// Checks, after a long read, that it was of one moment. Fails only if the store cannot be written here, and somebody
    /// else wrote to it meanwhile.
    ///
    /// # Errors
    /// [`Store`](crate::Error::Store) says so.
    pub fn check_unchanged(&self) -> Result<()> {
        self.reader.check_unchanged()
    }

    /// The newest sequence number of the sync log, 0 for none.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Log entries up to here are gone. An index that has applied less must be rebuilt.
    pub fn trimmed_to(&self) -> Seq {
        self.trimmed_to
    }

    /// At most `limit` log entries after `after`, oldest first.
    pub fn tail(&self, after: Seq, limit: usize) -> Result<Vec<LogEntry>> {
        if after >= self.head {
            return Ok(Vec::new());
        }
        log::tail(&self.reader, after, limit)
    }

    /// The identities of the records with ids from `from` up to `to`, exclusive.
    #[cfg(feature = "postgres")]
    pub(in crate::records) fn identities(&self, (from, to): (i64, i64)) -> Result<Vec<RecordIdentity>> {
        let sql = "SELECT id, ulid, version, embedding_hash FROM records WHERE id >= ?1 AND id < ?2 ORDER BY id";
        self.conn().all(sql, &[from.into(), to.into()], |row| {
            Ok(RecordIdentity { id: row.get(0)?, ulid: row.get(1)?, version: row.get(2)?, embedding_hash: row.get(3)? })
        })
    }

    /// The number that a query gives.
    pub(super) fn count(&self, sql: &str, values: impl Params) -> Result<u64> {
        let count: i64 = self.conn().prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// The ids that a query gives in its first column.
    pub(super) fn ids(&self, sql: &str, values: impl Params) -> Result<RoaringTreemap> {
        let mut statement = self.conn().prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut ids = RoaringTreemap::new();
        while let Some(row) = rows.next()? {
            ids.insert(row.get::<_, RecordId>(0)?.key());
        }
        Ok(ids)
    }
}

/// A limit as SQLite takes it.
pub(super) fn stored_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use crate::types::{Filter, RecordUpdate, Viewer};

    #[test]
    fn a_snapshot_does_not_change_while_others_write() {
        let store = TestStore::new();
        let id = store.add(&new("before"), NOW).unwrap().id;
        let snapshot = store.view();
        let elsewhere = store.again();
        elsewhere.add(&new("after"), NOW).unwrap();
        let update = RecordUpdate { content: Some("changed".into()), ..Default::default() };
        store.update(id, &update, &Viewer::OWNER, NOW).unwrap();
        elsewhere.trim_log(1.into()).unwrap();
        assert_eq!((snapshot.head().get(), snapshot.trimmed_to().get()), (1, 0));
        assert_eq!(snapshot.tail(0.into(), usize::MAX).unwrap().len(), 1);
        assert_eq!(snapshot.records(&[id, 2.into()], NOW).unwrap()[0].content, "before");
        assert_eq!(snapshot.matching(&Filter::default(), NOW).unwrap().len(), 1);
        assert_eq!(snapshot.stats(&Filter::default(), NOW).unwrap().total, 1);
        drop(snapshot);
        let snapshot = store.view();
        assert_eq!((snapshot.head().get(), snapshot.trimmed_to().get()), (3, 1));
        assert_eq!(snapshot.records(&[id], NOW).unwrap()[0].content, "changed");
    }
}
