//! The crate hnsw_rs behind our trait: in memory, for comparison, and as proof that the trait does not just mirror our
//! own index. It cannot delete, so a replaced or deleted vector stays in its graph and is excluded by the filter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hnsw_rs::prelude::{Distance, Hnsw};
use parking_lot::RwLock;
use roaring::RoaringTreemap;

use super::exact::{ExactSnapshot, best_first, cosine};
use super::{IdFilter, VectorBatch, VectorIndex, VectorSnapshot};
use crate::config::Backend;
use crate::error::Result;
use crate::passages::PassageKey;
use crate::progress::Progress;
use crate::quality::Quality;
use crate::types::Seq;

const LINKS: usize = 16;
const EF_CONSTRUCTION: usize = 200;
const MAX_LAYERS: usize = 16;
/// The crate sizes its tables by this estimate; more may be inserted.
const EXPECTED: usize = 100_000;
/// Below this many allowed vectors a scan is faster than a filtered walk, and exact.
const SCAN_BELOW: usize = 2_000;

/// The `ef` that misses about a share `m` of the neighbours is this divided by `m` (a rule of thumb: the crate does not
/// know its recall).
const EF_TIMES_MISSED: f32 = 3.0;

/// 1 - cosine, for vectors of length 1. The crate's own panics if rounding makes that slightly less than 0.
#[derive(Debug, Clone, Copy, Default)]
struct CosineDistance;

impl Distance<f32> for CosineDistance {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - cosine(a, b)).max(0.0)
    }
}

/// An in-memory graph of the crate hnsw_rs.
pub struct HnswRsIndex {
    model: String,
    current: RwLock<Arc<HnswRsSnapshot>>,
}

#[derive(Clone)]
struct HnswRsSnapshot {
    /// The live vectors: for exact scores, and for scans if those are cheaper.
    live: ExactSnapshot,
    graph: Arc<Hnsw<'static, f32, CosineDistance>>,
    /// The number of a live vector in the graph.
    slots: HashMap<PassageKey, usize>,
    /// The reverse mapping.
    keys: HashMap<usize, PassageKey>,
    next_slot: usize,
}

impl HnswRsIndex {
    /// An empty index for the vectors of `model`.
    pub fn new(model: &str) -> Self {
        let graph = Hnsw::new(LINKS, EXPECTED, MAX_LAYERS, EF_CONSTRUCTION, CosineDistance);
        let empty = HnswRsSnapshot {
            live: ExactSnapshot::default(),
            graph: Arc::new(graph),
            slots: HashMap::new(),
            keys: HashMap::new(),
            next_slot: 0,
        };
        HnswRsIndex { model: model.into(), current: RwLock::new(Arc::new(empty)) }
    }
}

impl VectorIndex for HnswRsIndex {
    fn model(&self) -> &str {
        &self.model
    }

    fn snapshot(&self) -> Result<Arc<dyn VectorSnapshot>> {
        Ok(self.current.read().clone())
    }

    fn apply(&self, batch: VectorBatch, applied: Seq) -> Result<()> {
        let mut current = self.current.write();
        let mut next = HnswRsSnapshot::clone(&current);
        let replaced = batch.upserts.iter().map(|(key, _)| key);
        for key in batch.deletes.iter().chain(replaced) {
            if let Some(slot) = next.slots.remove(key) {
                next.keys.remove(&slot);
            }
        }
        for (key, vector) in &batch.upserts {
            let slot = next.next_slot;
            next.next_slot += 1;
            next.graph.insert((vector, slot));
            next.keys.insert(slot, *key);
            next.slots.insert(*key, slot);
        }
        next.live.change(batch);
        next.live.applied = applied;
        *current = Arc::new(next);
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

impl VectorSnapshot for HnswRsSnapshot {
    fn backend(&self) -> Backend {
        Backend::HnswRs
    }

    fn applied(&self) -> Seq {
        self.live.applied
    }

    /// Memory is not checked.
    fn wait_verified(&self, _timeout: Duration) -> Result<bool> {
        Ok(true)
    }

    fn len(&self) -> u64 {
        self.live.len()
    }

    fn keys(&self) -> RoaringTreemap {
        self.live.keys()
    }

    fn further(&self) -> &RoaringTreemap {
        self.live.further()
    }

    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, quality: Quality) -> Result<Vec<(PassageKey, f32)>> {
        let scan = || self.live.search(query, k, filter, Quality::Exact);
        let allowed = filter.at_most(self.live.vectors.len());
        if allowed <= SCAN_BELOW.max(4 * k) {
            return scan();
        }
        let Some(ef) = ef(quality) else { return scan() };
        let passes = |slot: &usize| self.keys.get(slot).is_some_and(|key| filter.allows(*key));
        let neighbours = self.graph.search_filter(query, k, ef.max(k), Some(&passes));
        let mut found: Vec<_> = neighbours
            .iter()
            .filter_map(|neighbour| self.keys.get(&neighbour.d_id))
            .filter_map(|key| self.live.vectors.get(key).map(|vector| (*key, cosine(query, vector))))
            .collect();
        if found.len() < k {
            return scan();
        }
        best_first(&mut found, k);
        Ok(found)
    }

    fn vector(&self, key: PassageKey) -> Option<Vec<f32>> {
        self.live.vector(key)
    }

    fn scores(&self, query: &[f32], keys: &[PassageKey]) -> Result<Vec<Option<f32>>> {
        self.live.scores(query, keys)
    }
}

/// The crate's `ef` for a quality; `None` for a scan.
fn ef(quality: Quality) -> Option<usize> {
    match (quality, quality.target()) {
        (Quality::Ef(ef), _) => Some(ef),
        (_, Some(share)) if share < 1.0 => Some((EF_TIMES_MISSED / (1.0 - share)) as usize),
        _ => None,
    }
}
