//! The unapplied tail: log entries that an index has not applied. It is searched exactly, so that the next search in
//! any process finds a write before any index knows of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::error::Result;
use crate::keywords::TailIndex;
use crate::passages::PassageKey;
use crate::records::{ModelId, Snapshot};
use crate::types::{Millis, Record, RecordId, Seq};
use crate::vectors::exact::cosine;

/// The state that a tail depends on; an equal key means an equal tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailKey {
    /// The newest entry of the log.
    pub head: Seq,
    /// How far the vector index has applied it; `None` if there is no vector index to search.
    pub vectors_applied: Option<Seq>,
    /// How far the keyword index has; `None` if there is none.
    pub keywords_applied: Option<Seq>,
    /// The model whose embeddings count.
    pub model: Option<ModelId>,
}

impl TailKey {
    /// All available indexes have applied the log up to here; the head if there is none.
    fn applied(&self) -> Seq {
        [self.vectors_applied, self.keywords_applied].into_iter().flatten().min().unwrap_or(self.head)
    }
}

/// The vector of a passage.
pub type Vector = (PassageKey, Arc<[f32]>);

/// The records that at least one index has not seen in their current state.
#[derive(Clone, Default)]
pub struct Tail {
    /// Number of log entries.
    pub entries: usize,
    /// Ids whose state in the vector index is stale.
    pub vector_ids: RoaringTreemap,
    /// Their current vectors, if they have any: one for each passage.
    pub vectors: BTreeMap<RecordId, Vec<Vector>>,
    /// Ids whose state in the keyword index is stale.
    pub keyword_ids: RoaringTreemap,
    /// The live records among them.
    pub records: BTreeMap<RecordId, Arc<Record>>,
    /// Their keyword index.
    pub words: TailIndex,
}

impl Tail {
    /// This tail, which reached up to `after`, with the later log entries.
    fn extended(&self, after: Seq, key: TailKey, snapshot: &Snapshot, now: Millis) -> Result<Self> {
        let mut tail = self.clone();
        let (mut vector_ids, mut keyword_ids) = (RoaringTreemap::new(), RoaringTreemap::new());
        for entry in snapshot.tail(after, usize::MAX)? {
            tail.entries += 1;
            if entry.change.concerns_vectors() && key.vectors_applied.is_some_and(|applied| entry.seq > applied) {
                vector_ids.insert(entry.record_id.key());
            }
            if entry.change.concerns_words() && key.keywords_applied.is_some_and(|applied| entry.seq > applied) {
                keyword_ids.insert(entry.record_id.key());
            }
        }
        let records: Vec<Arc<Record>> = snapshot.records(&ids(&keyword_ids), now)?.into_iter().map(Arc::new).collect();
        tail.records.retain(|id, _| !keyword_ids.contains(id.key()));
        tail.records.extend(records.iter().map(|record| (record.id, record.clone())));
        tail.words = tail.words.extended(&keyword_ids, records)?;
        if let Some(model) = key.model {
            tail.vectors.retain(|id, _| !vector_ids.contains(id.key()));
            for (key, vector) in snapshot.embeddings(model, &ids(&vector_ids))? {
                tail.vectors.entry(key.record()).or_default().push((key, vector.into()));
            }
        }
        tail.vector_ids |= vector_ids;
        tail.keyword_ids |= keyword_ids;
        Ok(tail)
    }
}

/// The passage that is nearest to a query, with its cosine.
pub(super) fn nearest(query: &[f32], passages: &[Vector]) -> Option<(PassageKey, f32)> {
    let scored = passages.iter().map(|(key, vector)| (*key, cosine(query, vector)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The ids of a set, in order.
pub(super) fn ids(set: &RoaringTreemap) -> Vec<RecordId> {
    set.iter().map(RecordId::from_key).collect()
}

/// Caches the tail of the last search: while nothing is applied, the next search only has to add later entries.
#[derive(Default)]
pub struct TailCache {
    last: Mutex<Option<(TailKey, Arc<Tail>)>>,
}

impl TailCache {
    /// The tail of `key` as `snapshot` has it.
    pub fn get(&self, key: TailKey, snapshot: &Snapshot, now: Millis) -> Result<Arc<Tail>> {
        let last = self.last.lock().clone();
        let (before, after) = match last {
            Some((last, tail)) if last == key => return Ok(tail),
            Some((last, tail)) if last.head < key.head && last == (TailKey { head: last.head, ..key }) => {
                (tail, last.head)
            }
            _ => (Arc::default(), key.applied()),
        };
        let tail = match after < key.head {
            true => Arc::new(before.extended(after, key, snapshot, now)?),
            false => before,
        };
        let mut last = self.last.lock();
        // A search that started earlier must not undo the update of a later one.
        if last.as_ref().is_none_or(|(last, _)| last.head <= key.head) {
            *last = Some((key, tail.clone()));
        }
        Ok(tail)
    }
}
