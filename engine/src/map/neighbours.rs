//! The nearest memories of each, by the vector index.

use roaring::RoaringTreemap;

use super::graph::NEIGHBOURS;
use crate::error::Result;
use crate::quality::Quality;
use crate::types::RecordId;
use crate::vectors::{IdFilter, VectorSnapshot, records};

/// The records nearest to a vector among the `allowed`, without the record `own`: their ids, and how far they are (1 less
/// the cosine), nearest first. At most [`NEIGHBOURS`].
pub fn nearest(index: &dyn VectorSnapshot, vector: &[f32], own: u32, allowed: &IdFilter) -> Result<Vec<(u32, f32)>> {
    let found = records::search(index, vector, NEIGHBOURS + 1, allowed, Quality::Fast)?;
    let found = found.into_iter().filter_map(|(key, cosine)| {
        let id = u32::try_from(key.record().key()).ok()?;
        (id != own).then_some((id, (1.0 - cosine).max(0.0)))
    });
    Ok(found.take(NEIGHBOURS).collect())
}

/// The `k` records nearest to a vector among the `allowed`, with their cosine, nearest first.
pub fn nearest_allowed(
    index: &dyn VectorSnapshot,
    vector: &[f32],
    k: usize,
    allowed: RoaringTreemap,
) -> Result<Vec<(RecordId, f32)>> {
    let found = records::search(index, vector, k, &IdFilter::Only(allowed), Quality::Balanced)?;
    Ok(found.into_iter().map(|(key, cosine)| (key.record(), cosine)).collect())
}
