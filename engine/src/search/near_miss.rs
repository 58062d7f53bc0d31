//! The best memory there was if a threshold of the query excluded it: a search with few or no results shows what there
//! was and how to get it.

use super::merge::{Candidate, Ranked};
use super::view::View;
use crate::error::Result;
use crate::types::{Millis, NearMiss, Query, RecordId, Threshold};

/// Characters of a memory that are shown.
const SHOWN_CHARS: usize = 80;

/// A record that did not reach a threshold.
#[derive(Debug, Clone, Copy)]
pub struct Missed {
    id: RecordId,
    threshold: Threshold,
    minimum: f64,
    actual: f64,
}

impl Missed {
    /// Removes the vector matches with a cosine below `least`, and the candidates without a match. Returns the one with the
    /// highest cosine if it is removed.
    pub fn similarity(candidates: &mut Vec<Candidate>, least: f64) -> Option<Missed> {
        let cosines = candidates.iter().filter_map(|candidate| Some((candidate.id, candidate.cosine?)));
        let nearest = cosines.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        candidates.retain_mut(|candidate| candidate.drop_far_vector_match(least));
        nearest.filter(|(id, _)| candidates.iter().all(|candidate| candidate.id != *id)).map(|(id, actual)| Missed {
            id,
            threshold: Threshold::Similarity,
            minimum: least,
            actual,
        })
    }

    /// Removes the candidates that do not reach a score of `least`. Returns the best if none does.
    pub fn score(ranked: &mut Vec<Ranked>, least: f64) -> Option<Missed> {
        let best = ranked.first().map(|best| (best.candidate.id, best.score));
        ranked.retain(|ranked| ranked.reaches(least));
        Missed::of_all(best, ranked, Threshold::Score, least)
    }

    /// Removes the candidates that do not reach a relevance of `least`. Returns the best if none does.
    pub fn relevance(ranked: &mut Vec<Ranked>, least: f64) -> Option<Missed> {
        // The first of equals.
        let best = ranked.iter().rev().max_by(|a, b| a.relevance.total_cmp(&b.relevance));
        let best = best.map(|best| (best.candidate.id, best.relevance));
        ranked.retain(|ranked| ranked.is_relevant(least));
        Missed::of_all(best, ranked, Threshold::Relevance, least)
    }

    fn of_all(best: Option<(RecordId, f64)>, kept: &[Ranked], threshold: Threshold, minimum: f64) -> Option<Missed> {
        let (id, actual) = best.filter(|_| kept.is_empty())?;
        Some(Missed { id, threshold, minimum, actual })
    }

    /// With the beginning of its text; `None` if it has been deleted meanwhile.
    pub fn load(self, view: &View, query: &Query, now: Millis) -> Result<Option<NearMiss>> {
        let Missed { id, threshold, minimum, actual } = self;
        let record = view.records.records(&[id], now)?.pop().filter(|record| query.filter.allows(record));
        // Rounded down, so that a search with this number finds it.
        let actual = (actual * 100.0).floor() / 100.0;
        Ok(record.map(|record| NearMiss { id, threshold, minimum, actual, beginning: beginning(&record.content) }))
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
