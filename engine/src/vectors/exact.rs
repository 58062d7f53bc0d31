//! A scan of every vector, in memory: the reference for the other backends, and a good choice for small stores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use roaring::RoaringTreemap;

use super::{IdFilter, VectorBatch, VectorIndex, VectorSnapshot};
use crate::error::Result;
use crate::progress::Progress;
use crate::quality::Quality;
use crate::types::{RecordId, Seq};

/// Every vector, by id. Cloned on write, so that a snapshot never changes.
#[derive(Debug)]
pub struct ExactIndex {
    model: String,
    current: RwLock<Arc<ExactSnapshot>>,
}

/// One state of it.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSnapshot {
    pub(super) applied: Seq,
    pub(super) vectors: BTreeMap<RecordId, Arc<[f32]>>,
}

impl ExactIndex {
    /// An empty index for the vectors of `model`.
    pub fn new(model: &str) -> Self {
        ExactIndex { model: model.into(), current: RwLock::default() }
    }
}

impl VectorIndex for ExactIndex {
    fn model(&self) -> &str {
        &self.model
    }

    fn snapshot(&self) -> Result<Arc<dyn VectorSnapshot>> {
        Ok(self.current.read().clone())
    }

    fn apply(&self, batch: VectorBatch, applied: Seq) -> Result<()> {
        let mut current = self.current.write();
        let next = Arc::make_mut(&mut current);
        for id in batch.deletes {
            next.vectors.remove(&id);
        }
        next.vectors.extend(batch.upserts.into_iter().map(|(id, vector)| (id, vector.into())));
        next.applied = applied;
        Ok(())
    }

    fn maintain(&self, _progress: &dyn Progress) -> Result<bool> {
        Ok(false)
    }

    fn forget_deleted(&self, _progress: &dyn Progress) -> Result<bool> {
        Ok(false)
    }

    fn verify(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

impl VectorSnapshot for ExactSnapshot {
    fn applied(&self) -> Seq {
        self.applied
    }

    /// Memory is not checked.
    fn wait_verified(&self, _timeout: Duration) -> Result<bool> {
        Ok(true)
    }

    fn len(&self) -> u64 {
        self.vectors.len() as u64
    }

    fn ids(&self) -> RoaringTreemap {
        self.vectors.keys().map(|id| id.key()).collect()
    }

    /// Every quality is exact here.
    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, _quality: Quality) -> Result<Vec<(RecordId, f32)>> {
        let mut found: Vec<_> = self
            .vectors
            .iter()
            .filter(|(id, _)| filter.allows(**id))
            .map(|(id, vector)| (*id, cosine(query, vector)))
            .collect();
        best_first(&mut found, k);
        Ok(found)
    }

    fn vector(&self, id: RecordId) -> Option<Vec<f32>> {
        self.vectors.get(&id).map(|vector| vector.to_vec())
    }

    fn scores(&self, query: &[f32], ids: &[RecordId]) -> Result<Vec<Option<f32>>> {
        Ok(ids.iter().map(|id| self.vectors.get(id).map(|vector| cosine(query, vector))).collect())
    }
}

/// The cosine of two vectors of length 1.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Keeps the `k` best, best first, ties by id.
pub(crate) fn best_first(found: &mut Vec<(RecordId, f32)>, k: usize) {
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(k);
}
