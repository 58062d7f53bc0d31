//! A scan of every vector, in memory: the reference for the other backends, and a good choice for small stores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use roaring::RoaringTreemap;

use super::{IdFilter, VectorBatch, VectorIndex, VectorSnapshot};
use crate::config::Backend;
use crate::error::Result;
use crate::passages::PassageKey;
use crate::progress::Progress;
use crate::quality::Quality;
use crate::types::Seq;

/// Every vector, by key. Cloned on write, so that a snapshot never changes.
#[derive(Debug)]
pub struct ExactIndex {
    model: String,
    current: RwLock<Arc<ExactSnapshot>>,
}

/// One state of it.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSnapshot {
    pub(super) applied: Seq,
    pub(super) vectors: BTreeMap<PassageKey, Arc<[f32]>>,
    further: RoaringTreemap,
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
        next.change(batch);
        next.applied = applied;
        Ok(())
    }

    fn maintain(&self, _progress: &dyn Progress) -> Result<bool> {
        Ok(false)
    }

    fn forget_deleted(&self, _progress: &dyn Progress) -> Result<bool> {
        Ok(true)
    }

    fn verify(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

impl ExactSnapshot {
    pub(super) fn change(&mut self, batch: VectorBatch) {
        for key in batch.deletes {
            self.vectors.remove(&key);
            self.further.remove(key.get());
        }
        for (key, vector) in batch.upserts {
            if key.number() > 0 {
                self.further.insert(key.get());
            }
            self.vectors.insert(key, vector.into());
        }
    }
}

impl VectorSnapshot for ExactSnapshot {
    fn backend(&self) -> Backend {
        Backend::Exact
    }

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

    fn keys(&self) -> RoaringTreemap {
        self.vectors.keys().map(|key| key.get()).collect()
    }

    fn further(&self) -> &RoaringTreemap {
        &self.further
    }

    /// Every quality is exact here.
    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, _quality: Quality) -> Result<Vec<(PassageKey, f32)>> {
        let mut found: Vec<_> = self
            .vectors
            .iter()
            .filter(|(key, _)| filter.allows(**key))
            .map(|(key, vector)| (*key, cosine(query, vector)))
            .collect();
        best_first(&mut found, k);
        Ok(found)
    }

    fn vector(&self, key: PassageKey) -> Option<Vec<f32>> {
        self.vectors.get(&key).map(|vector| vector.to_vec())
    }

    fn scores(&self, query: &[f32], keys: &[PassageKey]) -> Result<Vec<Option<f32>>> {
        Ok(keys.iter().map(|key| self.vectors.get(key).map(|vector| cosine(query, vector))).collect())
    }
}

/// The cosine of two vectors of length 1.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Keeps the `k` best, best first, ties by key.
pub(crate) fn best_first(found: &mut Vec<(PassageKey, f32)>, k: usize) {
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(k);
}
