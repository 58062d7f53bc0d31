//! The records nearest by meaning to one of them.

use std::sync::Arc;

use roaring::RoaringTreemap;

use super::candidates::VectorSide;
use super::view::View;
use crate::error::Result;
use crate::passages::PassageKey;
use crate::quality::Quality;
use crate::types::RecordId;

/// The `k` records nearest to the beginning of a record, each with its cosine: without the record itself and what is hidden,
/// and of these alone if some are `allowed`. `None` if it has no vector.
pub fn neighbors(
    view: &View,
    id: RecordId,
    k: usize,
    quality: Quality,
    allowed: Option<RoaringTreemap>,
) -> Result<Option<Vec<(RecordId, f64)>>> {
    let Some(index) = &view.vectors else { return Ok(None) };
    let beginning = PassageKey::from(id);
    let vector = match view.tail.vectors.get(&id) {
        Some(passages) => passages.iter().find(|(key, _)| *key == beginning).map(|(_, vector)| vector.to_vec()),
        None if view.tail.vector_ids.contains(id.key()) => None,
        None => index.vector(beginning),
    };
    let Some(vector) = vector else { return Ok(None) };
    let (tail, hidden) = (Arc::clone(&view.tail), Arc::clone(&view.hidden));
    let side = VectorSide { index: Arc::clone(index), vector, quality, tail, hidden, allowed };
    let (found, _) = side.search(k + 1)?;
    let others = found.into_iter().filter(|(key, _)| key.record() != id);
    Ok(Some(others.take(k).map(|(key, cosine)| (key.record(), f64::from(cosine))).collect()))
}
