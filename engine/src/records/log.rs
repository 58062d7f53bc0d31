//! The sync log: what the indexes must follow, in the order in which it happened.
//!
//! One row of `sync_log` is one change to one record: `seq`, `op`, `record_id` and a payload, which this file alone
//! reads and writes. Integers are little-endian and of fixed width:
//!
//! | op | change | payload |
//! |---|---|---|
//! | 1 | put | `version: i64` (8 bytes), `embed: u8` (0 or 1): 9 bytes |
//! | 2 | delete | `ulid: [u8; 16]`: 16 bytes |
//! | 3 | embed | `model: i64`: 8 bytes |
//!
//! No payload holds any text, so a text that is purged from its record is purged from the log.

use std::thread;
use std::time::Instant;

use bincode::config::{Configuration, Fixint, LittleEndian};
use bincode::{Decode, Encode};
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::embeddings::ModelId;
use super::reading::Reader;
use super::{Records, schema};
use crate::error::{Error, Result};
use crate::types::{RecordId, Seq};

const BYTES: Configuration<LittleEndian, Fixint> =
    bincode::config::standard().with_little_endian().with_fixed_int_encoding();

/// Entries removed in one transaction.
const TRIMMED_AT_ONCE: Seq = 2_000;

/// One change to a record that the indexes must follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place in the log.
    pub seq: Seq,
    /// The record that changed.
    pub record_id: RecordId,
    /// What happened to it.
    pub change: Change,
}

/// What happened to a record. To apply a change is to bring the index to the state of the record **now**: replaying
/// does no harm, and of several changes to one record only the last counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was saved or changed. If its text was embedded before, no [`Change::Embed`] follows: its vector is at hand.
    Put {
        /// The version that came of it.
        version: i64,
        /// Whether the text that is embedded is a new one. When not, its vector stays as it is.
        new_text: bool,
    },
    /// It is gone.
    Delete {
        /// The id that other stores know it by.
        ulid: [u8; 16],
    },
    /// Its vector has been stored.
    Embed {
        /// The model that made it.
        model: ModelId,
    },
}

const PUT: i64 = 1;
const DELETE: i64 = 2;
const EMBED: i64 = 3;

impl Change {
    /// Whether a keyword index must look at the record again: an embedding changes nothing about its words.
    pub fn concerns_words(&self) -> bool {
        !matches!(self, Change::Embed { .. })
    }

    /// Whether a vector index must look at the record again: a change that leaves the text alone leaves the vector.
    pub fn concerns_vectors(&self) -> bool {
        !matches!(self, Change::Put { new_text: false, .. })
    }

    pub(crate) fn encode(&self) -> Result<(i64, Vec<u8>)> {
        let (op, payload) = match *self {
            Change::Put { version, new_text } => (PUT, bytes((version, new_text))),
            Change::Delete { ulid } => (DELETE, bytes(ulid)),
            Change::Embed { model } => (EMBED, bytes(model)),
        };
        let invalid = |error| Error::Sqlite(rusqlite::Error::ToSqlConversionFailure(Box::new(error)));
        Ok((op, payload.map_err(invalid)?))
    }

    pub(crate) fn decode(op: i64, payload: &[u8]) -> Option<Self> {
        match op {
            PUT => parse(payload).map(|(version, new_text)| Change::Put { version, new_text }),
            DELETE => parse(payload).map(|ulid| Change::Delete { ulid }),
            EMBED => parse(payload).map(|model| Change::Embed { model }),
            _ => None,
        }
    }
}

fn bytes(value: impl Encode) -> Result<Vec<u8>, bincode::error::EncodeError> {
    bincode::encode_to_vec(value, BYTES)
}

fn parse<T: Decode<()>>(payload: &[u8]) -> Option<T> {
    let (value, used) = bincode::decode_from_slice(payload, BYTES).ok()?;
    (used == payload.len()).then_some(value)
}

/// Appends an entry, in the transaction of the change it speaks of.
pub(super) fn append(tx: &Transaction<'_>, record_id: RecordId, change: &Change) -> Result<()> {
    let (op, payload) = change.encode()?;
    tx.prepare_cached("INSERT INTO sync_log (op, record_id, payload) VALUES (?, ?, ?)")?
        .execute((op, record_id, payload))?;
    Ok(())
}

/// The newest sequence number ever given.
pub(super) fn head(conn: &Connection) -> rusqlite::Result<Seq> {
    let mut statement = conn.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'sync_log'")?;
    let newest: Option<i64> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(newest.unwrap_or(0).unsigned_abs())
}

/// Entries up to here are gone.
pub(super) fn trimmed_to(conn: &Connection) -> rusqlite::Result<Seq> {
    let mut statement = conn.prepare_cached("SELECT value FROM meta WHERE key = 'trimmed_to'")?;
    Ok(statement.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// At most `limit` entries after `after`, oldest first.
pub(super) fn tail(reader: &Reader, after: Seq, limit: usize) -> Result<Vec<LogEntry>> {
    let mut statement =
        reader.prepare_cached("SELECT seq, op, record_id, payload FROM sync_log WHERE seq > ? ORDER BY seq LIMIT ?")?;
    let mut rows = statement.query([as_stored(after), i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let change = Change::decode(row.get(1)?, row.get_ref(3)?.as_blob().unwrap_or_default())
            .ok_or_else(|| schema::damaged(reader.path(), &format!("entry {seq} of its sync log is not readable")))?;
        entries.push(LogEntry { seq: seq.unsigned_abs(), record_id: row.get(2)?, change });
    }
    Ok(entries)
}

impl Records {
    /// Forgets the entries up to `up_to`, which every index has made durable. An index that is further behind must be
    /// rebuilt from the records. Of many entries some at a time, so that nobody who writes waits for all of them.
    pub fn trim_log(&self, up_to: Seq) -> Result<()> {
        if trimmed_to(&*self.reader()?)? >= up_to {
            return Ok(());
        }
        loop {
            let started = Instant::now();
            let is_done = self.write(|tx| {
                let up_to = up_to.min(head(tx)?);
                let last = tx
                    .prepare_cached("SELECT seq FROM sync_log WHERE seq <= ?1 ORDER BY seq LIMIT 1 OFFSET ?2")?
                    .query_row((as_stored(up_to), as_stored(TRIMMED_AT_ONCE - 1)), |row| row.get::<_, i64>(0))
                    .optional()?;
                let step = last.map_or(up_to, i64::unsigned_abs);
                tx.prepare_cached("DELETE FROM sync_log WHERE seq <= ?")?.execute([as_stored(step)])?;
                tx.prepare_cached("UPDATE meta SET value = max(value, ?) WHERE key = 'trimmed_to'")?
                    .execute([as_stored(step)])?;
                Ok(step >= up_to)
            })?;
            if is_done {
                return Ok(());
            }
            // Half of the time is for those who write.
            thread::sleep(started.elapsed());
        }
    }
}

fn as_stored(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;

    /// The bytes of the table above, by hand.
    #[test]
    fn the_bytes_are_those_documented() {
        let put = Change::Put { version: 0x0102, new_text: true };
        assert_eq!(put.encode().unwrap(), (1, vec![2, 1, 0, 0, 0, 0, 0, 0, 1]));
        let delete = Change::Delete { ulid: *b"0123456789abcdef" };
        assert_eq!(delete.encode().unwrap(), (2, b"0123456789abcdef".to_vec()));
        let embed = Change::Embed { model: 3 };
        assert_eq!(embed.encode().unwrap(), (3, vec![3, 0, 0, 0, 0, 0, 0, 0]));
        for change in [put, delete, embed] {
            let (op, payload) = change.encode().unwrap();
            assert_eq!(Change::decode(op, &payload), Some(change));
        }
    }

    #[test]
    fn wrong_bytes_are_not_a_change() {
        let (op, payload) = Change::Put { version: 1, new_text: false }.encode().unwrap();
        assert_eq!(Change::decode(op, &payload[..8]), None, "too short");
        assert_eq!(Change::decode(op, &[&payload[..], &[0]].concat()), None, "too long");
        assert_eq!(Change::decode(op, &[1, 0, 0, 0, 0, 0, 0, 0, 2]), None, "neither true nor false");
        assert_eq!(Change::decode(4, &payload), None, "unknown operation");
    }

    #[test]
    fn the_head_outlives_trimming() {
        let store = Store::new();
        assert_eq!(store.head().unwrap(), 0);
        for text in ["one", "two", "three"] {
            store.add(&new(text), NOW).unwrap();
        }
        store.trim_log(2).unwrap();
        let snapshot = store.view();
        assert_eq!((snapshot.head(), snapshot.trimmed_to()), (3, 2));
        assert_eq!(snapshot.tail(0, usize::MAX).unwrap().iter().map(|entry| entry.seq).collect::<Vec<_>>(), [3]);
        drop(snapshot);
        store.trim_log(1).unwrap();
        assert_eq!(store.view().trimmed_to(), 2, "never backwards");
        store.trim_log(Seq::MAX).unwrap();
        let again = store.again();
        let snapshot = again.snapshot().unwrap();
        assert_eq!((snapshot.head(), snapshot.trimmed_to()), (3, 3), "never beyond what was written");
        assert_eq!(snapshot.tail(0, usize::MAX).unwrap(), []);
        assert_eq!(snapshot.tail(Seq::MAX, usize::MAX).unwrap(), []);
        again.add(&new("four"), NOW).unwrap();
        assert_eq!(again.head().unwrap(), 4);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// To remove a million entries takes a second, and whoever saves a memory would wait for it.
    #[test]
    fn a_long_log_is_trimmed_some_entries_at_a_time() {
        let store = Store::new();
        store.sql(&format!(
            "WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < {TRIMMED_AT_ONCE} * 5 / 2)
             INSERT INTO sync_log (op, record_id, payload) SELECT 2, n, zeroblob(16) FROM n"
        ));
        let transactions = store.count_commits(|| store.trim_log(Seq::MAX).unwrap());
        assert_eq!(transactions, 3);
        let snapshot = store.view();
        assert_eq!((snapshot.trimmed_to(), snapshot.head()), (TRIMMED_AT_ONCE * 5 / 2, TRIMMED_AT_ONCE * 5 / 2));
        assert_eq!(snapshot.tail(0, usize::MAX).unwrap(), []);
    }

    #[test]
    fn an_unreadable_entry_is_reported_not_skipped() {
        let store = Store::new();
        store.add(&new("text"), NOW).unwrap();
        store.sql("UPDATE sync_log SET payload = x'00'");
        let error = store.view().tail(0, usize::MAX).unwrap_err();
        assert!(matches!(error, Error::Database { .. }), "{error}");
        assert!(error.to_string().contains("entry 1 of its sync log"), "{error}");
    }
}
