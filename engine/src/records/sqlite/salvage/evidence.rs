//! Evidence about the records of a damaged database in its indexes: which records existed, and their columns.
//!
//! An index repeats columns of a record. Where the two contradict each other, one of them is damaged, and it is not known
//! which.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::types::Value;

use super::pages::PageRow;
use super::roots::Roots;
use super::tables::{SalvageTable, Trees};
use crate::records::rows;
use crate::types::RecordId;

/// An index of records, the columns that it repeats, and the text for a contradiction. Beyond them it has the id, last,
/// and counts that change with every access.
struct Index {
    name: &'static str,
    columns: &'static [&'static str],
    width: usize,
    objection: &'static str,
}

const INDEXES: [Index; 3] = [
    Index { name: "records_by_ulid", columns: &["ulid"], width: 2, objection: "its ULID is another in the index" },
    Index {
        name: "records_by_content",
        columns: &["content_hash", "scope_id"],
        width: 3,
        objection: "its text or scope is another in the index",
    },
    Index {
        name: "records_by_kind",
        columns: &["kind", "importance", "confidence", "scope_id", "created_at", "expires_at"],
        width: 8,
        objection: "its type, importance, confidence, scope or dates are others in the index",
    },
];

/// The entries of all indexes.
pub(super) struct IndexEvidence {
    /// A hash of each entry: of the index, the id and the columns.
    entries: HashSet<u64>,
    /// The ids that any index knows, and in which of [`INDEXES`] they are, a bit each.
    known: HashMap<RecordId, u8>,
    /// A hash of each known ULID, under any id.
    ulids: HashSet<u64>,
    /// Whether all of [`INDEXES`] could be read whole.
    all_read: bool,
    /// The number of tags of each id.
    tags: HashMap<RecordId, usize>,
}

impl IndexEvidence {
    /// Reads the indexes.
    pub(super) fn collect(trees: &mut Trees<'_>, roots: &Roots) -> Self {
        let mut evidence = IndexEvidence {
            entries: HashSet::new(),
            known: HashMap::new(),
            ulids: HashSet::new(),
            all_read: true,
            tags: HashMap::new(),
        };
        for (at, index) in INDEXES.iter().enumerate() {
            evidence.all_read &= trees.keys(roots.get(index.name), index.width, |entry| {
                let Some(Value::Integer(id @ 1..)) = entry.last() else { return };
                *evidence.known.entry(RecordId::from(*id)).or_default() |= 1 << at;
                evidence.entries.insert(print((at, id), &entry[..index.columns.len()]));
                if index.columns == ["ulid"] {
                    evidence.ulids.insert(print("ulid", &entry[..1]));
                }
            });
        }
        trees.keys(roots.get("record_tags"), 2, |entry| {
            let Some(Value::Integer(id @ 1..)) = entry.last() else { return };
            evidence.known.entry(RecordId::from(*id)).or_default();
            if evidence.entries.insert(print(("tag", id), &entry[..1])) {
                *evidence.tags.entry(RecordId::from(*id)).or_default() += 1;
            }
        });
        evidence
    }

    /// The ids of the records that existed.
    pub(super) fn ids(&self) -> impl Iterator<Item = RecordId> {
        self.known.keys().copied()
    }

    /// Whether the indexes of ULIDs and of texts both have the record, so that it was not deleted.
    pub(super) fn knows(&self, id: RecordId) -> bool {
        self.known.get(&id).is_some_and(|known_in| known_in & 0b11 == 0b11)
    }

    /// The contradiction between a row of `records` and the indexes, if there is one.
    pub(super) fn objection(&self, table: &SalvageTable, record: &PageRow) -> Option<&'static str> {
        let Some(known_in) = self.known.get(&record.id.into()) else {
            let has_another_id = self.ulids.contains(&print("ulid", [table.value(record, "ulid")]));
            return has_another_id
                .then_some("its id is another in the index")
                .or_else(|| self.all_read.then_some("no index knows it: it may have been deleted"));
        };
        for (at, index) in INDEXES.iter().enumerate() {
            let columns = index.columns.iter().map(|name| table.value(record, name));
            if known_in & 1 << at != 0 && !self.entries.contains(&print((at, &record.id), columns)) {
                return Some(index.objection);
            }
        }
        let tags = match table.value(record, "tags") {
            Value::Text(tags) => rows::tags_of(tags).unwrap_or_default(),
            _ => Vec::new(),
        };
        // Entries may be lost with a page; one for a tag that the record does not have is a contradiction.
        let in_index: HashSet<String> = tags.iter().map(|tag| tag.to_ascii_lowercase()).collect();
        let is_indexed = |tag: &String| self.entries.contains(&print(("tag", &record.id), [&Value::Text(tag.clone())]));
        let indexed = in_index.into_iter().filter(is_indexed).count();
        (indexed < self.tags.get(&record.id.into()).copied().unwrap_or(0)).then_some("it has other tags in the index")
    }
}

/// A number that stands for these values.
pub(super) fn print<'a>(what: impl Hash, values: impl IntoIterator<Item = &'a Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    for value in values {
        match value {
            Value::Null => 0_u8.hash(&mut hasher),
            // A table keeps 1.0 as 1, an index need not.
            Value::Integer(number) => (1_u8, (*number as f64).to_bits()).hash(&mut hasher),
            Value::Real(number) => (1_u8, number.to_bits()).hash(&mut hasher),
            Value::Text(text) => (2_u8, text.as_bytes()).hash(&mut hasher),
            Value::Blob(bytes) => (3_u8, bytes).hash(&mut hasher),
        }
    }
    hasher.finish()
}
