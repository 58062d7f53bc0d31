//! Records by the best of their passages. In a store without further passages this is the search of the index itself.

use std::collections::{HashMap, HashSet};

use roaring::RoaringTreemap;

use super::{IdFilter, VectorSnapshot};
use crate::error::Result;
use crate::passages::{PassageKey, of_records};
use crate::quality::Quality;
use crate::types::RecordId;

/// Passages requested at first, for each record that is wanted.
const PASSAGES_PER_RECORD: usize = 2;

/// The `k` records nearest to `query` that pass the filter, which names records: the best passage of each, best first.
pub fn search(
    index: &dyn VectorSnapshot,
    query: &[f32],
    k: usize,
    filter: &IdFilter,
    quality: Quality,
) -> Result<Vec<(PassageKey, f32)>> {
    let further = index.further();
    if further.is_empty() {
        return index.search(query, k, filter, quality);
    }
    let with_passages = |records: &RoaringTreemap| records | of_records(records, further);
    let filter = match filter {
        IdFilter::All => IdFilter::All,
        IdFilter::Only(records) => IdFilter::Only(with_passages(records)),
        IdFilter::Except(records) => IdFilter::Except(with_passages(records)),
    };
    let mut most = k.saturating_mul(PASSAGES_PER_RECORD);
    loop {
        let mut found = index.search(query, most, &filter, quality)?;
        let are_all = found.len() < most;
        keep_best_of_each(&mut found);
        if are_all || found.len() >= k {
            found.truncate(k);
            return Ok(found);
        }
        // Some record has many of them.
        most = most.saturating_mul(PASSAGES_PER_RECORD);
    }
}

/// The cosine of each record to `query`: that of its best passage. `None` if it has no vector here.
pub fn scores(index: &dyn VectorSnapshot, query: &[f32], records: &[RecordId]) -> Result<Vec<Option<f32>>> {
    let beginnings: Vec<PassageKey> = records.iter().copied().map(PassageKey::from).collect();
    let mut scores = index.scores(query, &beginnings)?;
    if !index.further().is_empty() {
        let ids = records.iter().map(|record| record.key()).collect();
        let passages: Vec<PassageKey> = of_records(&ids, index.further()).iter().map(PassageKey::from).collect();
        let mut best: HashMap<RecordId, f32> = HashMap::new();
        for (key, score) in passages.iter().zip(index.scores(query, &passages)?) {
            let best = best.entry(key.record()).or_insert(f32::NEG_INFINITY);
            *best = score.map_or(*best, |score| best.max(score));
        }
        for (record, score) in records.iter().zip(&mut scores) {
            let of_passages = best.get(record).copied().filter(|best| best.is_finite());
            *score = score.iter().copied().chain(of_passages).reduce(f32::max);
        }
    }
    Ok(scores)
}

/// Keeps the first of several passages of one record.
fn keep_best_of_each(best_first: &mut Vec<(PassageKey, f32)>) {
    let mut seen = HashSet::with_capacity(best_first.len());
    best_first.retain(|(key, _)| seen.insert(key.record()));
}
