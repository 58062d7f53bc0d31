//! Which candidates become neighbours (algorithm 4 of the HNSW paper).

use super::codes::Codes;
use super::ranked::Ranked;
use crate::Slot;

/// Puts into `chosen` up to `most` of the candidates, which are best first: each that is more similar to the node than to
/// every one chosen before it, so that the links point in different directions. Where that leaves fewer than half of
/// `most`, as among duplicates, the best of the others fill up to that.
pub(crate) fn select(codes: &Codes<'_>, candidates: &[Ranked], most: usize, chosen: &mut Vec<Slot>) {
    chosen.clear();
    for candidate in candidates {
        if chosen.len() == most {
            return;
        }
        let query = codes.query(candidate.slot());
        if chosen.iter().all(|&other| codes.similarity(query, other) < candidate.similarity()) {
            chosen.push(candidate.slot());
        }
    }
    let enough = (most / 2).max(1);
    for candidate in candidates {
        if chosen.len() >= enough {
            return;
        }
        if !chosen.contains(&candidate.slot()) {
            chosen.push(candidate.slot());
        }
    }
}
