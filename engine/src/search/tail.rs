//! The unapplied tail: what the log has and an index has not. It is searched exactly, so that a write is found by the
//! next search, in any process, before any index knows of it.

use std::sync::Arc;

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::error::Result;
use crate::keywords::TailIndex;
use crate::records::{ModelId, Snapshot};
use crate::types::{Millis, Record, RecordId, Seq};

/// What a tail is made from; an equal key means an equal tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailKey {
    /// The newest entry of the log.
    pub head: Seq,
    /// How far the vector index has applied it; `None` when there is no vector index to search.
    pub vectors_applied: Option<Seq>,
    /// How far the keyword index has; `None` when there is none.
    pub keywords_applied: Option<Seq>,
    /// The model whose embeddings count.
    pub model: Option<ModelId>,
}

/// The records that one index or the other has not seen in their present state.
pub struct Tail {
    /// Number of log entries.
    pub entries: usize,
    /// Ids whose state in the vector index is stale.
    pub vector_ids: RoaringTreemap,
    /// The present vectors of those that have one.
    pub vectors: Vec<(RecordId, Vec<f32>)>,
    /// Ids whose state in the keyword index is stale.
    pub keyword_ids: RoaringTreemap,
    /// Those of them that are live.
    pub records: Vec<Record>,
    /// Their words, where there are any.
    pub words: Option<TailIndex>,
}

impl Tail {
    fn read(key: TailKey, snapshot: &Snapshot, now: Millis) -> Result<Self> {
        let mut tail = Tail {
            entries: 0,
            vector_ids: RoaringTreemap::new(),
            vectors: Vec::new(),
            keyword_ids: RoaringTreemap::new(),
            records: Vec::new(),
            words: None,
        };
        let oldest = [key.vectors_applied, key.keywords_applied].into_iter().flatten().min();
        let Some(oldest) = oldest.filter(|oldest| *oldest < key.head) else { return Ok(tail) };
        for entry in snapshot.tail(oldest, usize::MAX)? {
            tail.entries += 1;
            if entry.change.concerns_vectors() && key.vectors_applied.is_some_and(|applied| entry.seq > applied) {
                tail.vector_ids.insert(entry.record_id as u64);
            }
            if entry.change.concerns_words() && key.keywords_applied.is_some_and(|applied| entry.seq > applied) {
                tail.keyword_ids.insert(entry.record_id as u64);
            }
        }
        tail.records = snapshot.records(&ids(&tail.keyword_ids), now)?;
        if !tail.records.is_empty() {
            tail.words = Some(TailIndex::build(&tail.records)?);
        }
        if let Some(model) = key.model {
            tail.vectors = snapshot.embeddings(model, &ids(&tail.vector_ids))?;
        }
        Ok(tail)
    }
}

/// The ids of a set, in order.
pub(super) fn ids(set: &RoaringTreemap) -> Vec<RecordId> {
    set.iter().map(|id| id as RecordId).collect()
}

/// Keeps the tail of the last search: as long as nothing was written or applied, it is the same.
#[derive(Default)]
pub struct TailCache {
    last: Mutex<Option<(TailKey, Arc<Tail>)>>,
}

impl TailCache {
    /// The tail of `key` as `snapshot` has it.
    pub fn get(&self, key: TailKey, snapshot: &Snapshot, now: Millis) -> Result<Arc<Tail>> {
        if let Some((last, tail)) = &*self.last.lock()
            && *last == key
        {
            return Ok(tail.clone());
        }
        let tail = Arc::new(Tail::read(key, snapshot, now)?);
        *self.last.lock() = Some((key, tail.clone()));
        Ok(tail)
    }
}
