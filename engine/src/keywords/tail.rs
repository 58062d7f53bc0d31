//! The unapplied tail of the sync log as a separate index in memory.

use std::sync::Arc;

use roaring::RoaringTreemap;

use super::postings::IndexedRecords;
use crate::error::Result;
use crate::types::{Record, RecordId};

/// Records that the index has not applied yet, indexed in memory.
///
/// A search over a snapshot and a tail counts the documents and terms of both together, so a record has the same score
/// whether it is applied or not. (Versions that the tail replaces still count until a merge drops them, as they would
/// in the index.) A record in the tail hides its version in the index.
#[derive(Clone, Default)]
pub struct TailIndex {
    /// The newest last. Each is more than twice as large as the next, so that a record is indexed few times while the
    /// tail grows.
    parts: Vec<TailPart>,
    ids: RoaringTreemap,
    deleted: RoaringTreemap,
}

/// Records that were indexed together.
#[derive(Clone)]
pub(super) struct TailPart {
    pub(super) indexed: Arc<IndexedRecords>,
    /// The ids of those that are deleted or in a newer part.
    pub(super) stale: RoaringTreemap,
}

impl TailIndex {
    /// This tail with later changes: of the records `touched` since, `records` are the newest versions of those that
    /// are not deleted.
    pub fn extended(&self, touched: &RoaringTreemap, records: Vec<Arc<Record>>) -> Result<TailIndex> {
        let mut tail = self.clone();
        tail.ids -= touched;
        tail.ids.extend(records.iter().map(|record| record.id.key()));
        tail.deleted |= touched;
        tail.deleted -= &tail.ids;
        tail.parts.iter_mut().for_each(|part| part.hide(touched));
        tail.parts.retain(|part| part.live() > 0);
        let mut newest = records;
        while let Some(part) = tail.parts.pop_if(|part| part.live() <= 2 * newest.len()) {
            newest.extend(part.into_records());
        }
        if !newest.is_empty() {
            let indexed = Arc::new(IndexedRecords::new(newest)?);
            tail.parts.push(TailPart { indexed, stale: RoaringTreemap::new() });
        }
        Ok(tail)
    }

    /// The ids of its records.
    pub fn ids(&self) -> &RoaringTreemap {
        &self.ids
    }

    /// Whether the version of a record in the index is not the newest.
    pub(super) fn replaces(&self, id: RecordId) -> bool {
        self.ids.contains(id.key()) || self.deleted.contains(id.key())
    }

    pub(super) fn parts(&self) -> &[TailPart] {
        &self.parts
    }
}

impl TailPart {
    fn hide(&mut self, touched: &RoaringTreemap) {
        let ids = self.indexed.records().iter().map(|record| record.id.key());
        self.stale.extend(ids.filter(|id| touched.contains(*id)));
    }

    fn live(&self) -> usize {
        self.indexed.records().len() - self.stale.len() as usize
    }

    fn into_records(self) -> Vec<Arc<Record>> {
        let live = self.indexed.records().iter().filter(|record| !self.stale.contains(record.id.key()));
        live.cloned().collect()
    }
}
