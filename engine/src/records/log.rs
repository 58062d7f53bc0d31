//! The sync log: which records have changed, in the order in which they did. Pure data; the database keeps it.
//!
//! # The contract
//!
//! **Who writes.** Every transaction that changes what a search can find appends one entry for each record concerned, in
//! the same transaction: the record and its entry are there together or not at all. What no index holds (links, access
//! counts, the time of the last save of the same text) is not logged.
//!
//! **Who follows.** The two indexes of a store's folder, vectors and keywords, and nobody else. Each keeps the number of
//! the last entry that it has applied in the commit that applied it, so it knows after a crash where to go on. Searches
//! read what an index has not applied yet (the tail), so that a write is found by the next search.
//!
//! **What a follower sees.** An entry says that a record changed, not what it became: to apply it is to bring the index to
//! the state that the record has **now**. So entries may be applied twice, and of several entries for one record the last
//! one is enough. A record that is gone by now is removed, whatever its entries say.
//!
//! **In which order.** Numbers ([`Seq`]) rise in the order of the commits, begin at 1, have no gaps and are never used
//! twice, also after trimming. A reader that has read up to `n` gets all new entries by reading after `n`. This
//! holds because SQLite has one writer at a time; where several commit at once, a number may become visible after a larger
//! one, and the machine's copy must assign the numbers as it takes the changes over.
//!
//! **When it may be trimmed.** Up to the number that every follower has made durable. A follower that finds the log
//! trimmed beyond its own number cannot catch up: it is rebuilt from the records. One that is ahead of the log follows
//! another store, and is thrown away. The newest number (the head) outlives trimming.
//!
//! # Bytes
//!
//! One row of `sync_log` is one entry: `seq`, `op`, `record_id` and a payload, which [`Change::encode`] and
//! [`Change::decode`] alone write and read. Integers are little-endian and of fixed width:
//!
//! | op | change | payload |
//! |---|---|---|
//! | 1 | put | `version: i64` (8 bytes), `new_text: u8` (0 or 1): 9 bytes |
//! | 2 | delete | `ulid: [u8; 16]`: 16 bytes |
//! | 3 | embed | `model: i64`: 8 bytes |
//!
//! No payload holds any text, so a text that is purged from its record is purged from the log.

use crate::types::{ModelId, RecordId, Seq};

/// One change to a record that the indexes must follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place in the log.
    pub seq: Seq,
    /// The record that changed.
    pub record_id: RecordId,
    /// The change to it.
    pub change: Change,
}

/// A change to a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was saved or changed. If its text was embedded before, no [`Change::Embed`] follows: its vector is there.
    Put {
        /// Its new version.
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

    /// The operation and the payload that stand for it.
    pub(crate) fn encode(&self) -> (i64, Vec<u8>) {
        match *self {
            Change::Put { version, new_text } => (PUT, [&version.to_le_bytes()[..], &[u8::from(new_text)]].concat()),
            Change::Delete { ulid } => (DELETE, ulid.to_vec()),
            Change::Embed { model } => (EMBED, model.get().to_le_bytes().to_vec()),
        }
    }

    /// Decodes an operation and its payload; `None` where they are not a change.
    pub(crate) fn decode(op: i64, payload: &[u8]) -> Option<Self> {
        match (op, payload) {
            (PUT, [version @ .., new_text @ 0..=1]) => {
                let version = i64::from_le_bytes(version.try_into().ok()?);
                Some(Change::Put { version, new_text: *new_text == 1 })
            }
            (DELETE, ulid) => Some(Change::Delete { ulid: ulid.try_into().ok()? }),
            (EMBED, model) => Some(Change::Embed { model: i64::from_le_bytes(model.try_into().ok()?).into() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the table above, by hand.
    #[test]
    fn the_bytes_are_those_documented() {
        let put = Change::Put { version: 0x0102, new_text: true };
        assert_eq!(put.encode(), (1, vec![2, 1, 0, 0, 0, 0, 0, 0, 1]));
        let delete = Change::Delete { ulid: *b"0123456789abcdef" };
        assert_eq!(delete.encode(), (2, b"0123456789abcdef".to_vec()));
        let embed = Change::Embed { model: 3.into() };
        assert_eq!(embed.encode(), (3, vec![3, 0, 0, 0, 0, 0, 0, 0]));
        for change in [put, delete, embed] {
            let (op, payload) = change.encode();
            assert_eq!(Change::decode(op, &payload), Some(change));
        }
    }

    #[test]
    fn wrong_bytes_are_not_a_change() {
        let (op, payload) = Change::Put { version: 1, new_text: false }.encode();
        assert_eq!(Change::decode(op, &payload[..8]), None, "too short");
        assert_eq!(Change::decode(op, &[&payload[..], &[0]].concat()), None, "too long");
        assert_eq!(Change::decode(op, &[1, 0, 0, 0, 0, 0, 0, 0, 2]), None, "neither true nor false");
        assert_eq!(Change::decode(4, &payload), None, "unknown operation");
    }
}
