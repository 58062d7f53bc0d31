//! Whether a result of the search is worth a turn's attention.

use crate::types::Hit;

/// A word in common that is at least so rare is no accident.
const RARE: f64 = 0.6;
/// Without one, the texts have to be this near to each other.
const NEAR: f64 = 0.6;

/// Whether it is relevant enough, and has a rare word of the message or is near to it.
pub fn is_worth_it(hit: &Hit, min_score: f64) -> bool {
    let is_rare = hit.rarest_word.is_some_and(|rarest| rarest >= RARE);
    let is_near = hit.vector_score.is_some_and(|cosine| cosine >= NEAR);
    hit.relevance >= min_score && (is_rare || is_near)
}
