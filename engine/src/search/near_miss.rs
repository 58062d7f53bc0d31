//! The nearest memory if a query's minimum similarity excluded it: a search with few or no results
//! shows what there was and how to get it.

use super::merge::Candidate;
use super::view::View;
use crate::error::Result;
use crate::types::{Millis, NearMiss, Query, RecordId};

/// Characters of a memory that are shown.
const SHOWN_CHARS: usize = 80;

/// The candidate with the highest cosine, and that cosine.
pub fn nearest(candidates: &[Candidate]) -> Option<(RecordId, f64)> {
    let cosines = candidates.iter().filter_map(|candidate| Some((candidate.id, candidate.vector?)));
    cosines.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

/// The `nearest` of all candidates, unless it is among those `kept`.
pub fn near_miss(
    view: &View,
    query: &Query,
    minimum: f64,
    nearest: Option<(RecordId, f64)>,
    kept: &[Candidate],
    now: Millis,
) -> Result<Option<NearMiss>> {
    let Some((id, cosine)) = nearest.filter(|(id, _)| kept.iter().all(|candidate| candidate.id != *id)) else {
        return Ok(None);
    };
    let record = view.records.records(&[id], now)?.pop().filter(|record| query.filter.allows(record));
    Ok(record.map(|record| {
        // Rounded down, so that a search with this number finds it.
        let reached = (cosine * 100.0).floor() / 100.0;
        NearMiss { id, minimum, reached, beginning: beginning(&record.content) }
    }))
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
