//! Memories that resemble another: near-duplicates, and candidates for a link.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Memories;
use crate::error::Result;
use crate::keywords::significant_words;
use crate::overlap::{self, SIMILAR};
use crate::types::{Filter, Kind, Query, Record, RecordId, Similar};

/// Results of the search that are compared.
const CANDIDATES: usize = 12;
/// Maximum number of words of a text to search for: the longest, as they are the rarest. Searching for all words of a
/// long text takes longer than saving it.
const SOUGHT_WORDS: usize = 16;
/// Bytes to search for in a text without spaces.
const QUERY_BYTES: usize = 512;
/// Bytes at the beginning of a text that are compared with those of another.
const COMPARED_BYTES: usize = 4 << 10;
/// Cosine from which two memories are related. Of 100,000 short descriptions of software, 37 % have another one this
/// near, which reads alike; at 0.6 it is 80 %, and many do not (measured, all-MiniLM-L6-v2).
const RELATED: f64 = 0.7;
/// Cosine from which the nearest memory of all is named, and other numbers in it are a sign of a change. Of 110 made pairs
/// of a memory and one that replaces or contradicts it, 70 % have few words in common; the test `suggestions.rs` prints how
/// many are named.
const SAME_SUBJECT: f64 = 0.5;
/// Cosine from which the nearest memory of all is named if it stands out, and from which it is if the text speaks of a change.
const NEAR: f64 = 0.4;
/// See [`NEAR`].
const NEAR_CHANGE: f64 = 0.35;
/// How much nearer than the second one the nearest is that stands out: of texts about one field, each has another at
/// [`NEAR`].
const MARGIN: f64 = 0.05;
/// Cosine below which two memories are not compared by meaning.
const LEAST: f64 = 0.3;
/// Words of texts that replace others.
const CHANGE_WORDS: [&str; 24] = [
    "anymore", "became", "becomes", "cancelled", "canceled", "changed", "changes", "dropped", "instead", "moved",
    "moves", "never", "new", "now", "quit", "replaced", "replaces", "since", "stopped", "switched", "switches",
    "until", "will", "gave",
];

impl Memories<'_> {
    /// The memories that the viewer sees and that resemble a memory, the most similar first, at most `limit`. They
    /// resemble it by words, if three in five are the same and so is the kind (row D3 of the specification), or by
    /// meaning, if its embedding is available.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), also if the viewer does not see it.
    pub fn similar(&self, id: RecordId, limit: usize) -> Result<Vec<Similar>> {
        let record = self.require(id)?;
        Ok(self.similar_to(&record, &[record.kind])?.into_iter().filter(resembles).take(limit).collect())
    }

    /// The memories that a new one may replace, contradict or belong to, as far as the viewer sees them, at most `limit`: the
    /// [similar](Memories::similar) ones, and the nearest by meaning, which need not have a word in common with it. Whether it
    /// does replace or contradict that one, only a reader of both can tell.
    ///
    /// # Errors
    /// As [`Memories::similar`].
    pub fn related(&self, id: RecordId, limit: usize) -> Result<Vec<Similar>> {
        let record = self.require(id)?;
        let mut all = self.similar_to(&record, &[record.kind])?;
        let mut cosines: Vec<f64> = all.iter().filter_map(|one| one.cosine).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        let nearest = cosines.first().copied().unwrap_or(f64::INFINITY);
        let stands_out = cosines.get(1).is_none_or(|second| nearest - second >= MARGIN);
        all.retain_mut(|one| {
            let at_least = |bound: f64| one.cosine.is_some_and(|cosine| cosine >= nearest.max(bound));
            let is_near = at_least(SAME_SUBJECT) || stands_out && at_least(NEAR);
            let may_change = is_near || stands_out && at_least(NEAR_CHANGE);
            one.is_change = may_change && reads_as_change(&record.content, one);
            resembles(one) || one.is_change || is_near
        });
        all.truncate(limit);
        Ok(all)
    }

    /// Does what [`Memories::similar`] does, but compares the words of records of any of `kinds`.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), also if the viewer does not see it.
    pub fn similar_among(&self, id: RecordId, kinds: &[Kind], limit: usize) -> Result<Vec<Similar>> {
        let record = self.require(id)?;
        Ok(self.similar_to(&record, kinds)?.into_iter().filter(resembles).take(limit).collect())
    }

    /// The results of a search for a memory, the most similar first.
    pub(super) fn similar_to(&self, record: &Record, kinds: &[Kind]) -> Result<Vec<Similar>> {
        let id = record.id;
        let query = Query {
            limit: CANDIDATES,
            filter: Filter::of(self.viewer.clone()),
            // The substring tier finds nothing similar in words or meaning, and a save must not wait for a scan of all
            // records.
            substring_tier: false,
            ..Query::new(longest_words(&record.content))
        };
        let vector = match self.engine.store.model()? {
            Some((model, _)) => self
                .engine
                .store
                .records
                .snapshot()?
                .embedding(model, id)?
                .map(|vector| Ok(self.engine.with_scale(model, vector))),
            None => None,
        };
        let own = significant_words(beginning(&record.content));
        let mut similar: Vec<Similar> = self
            .engine
            .search_by(&query, vector)?
            .hits
            .into_iter()
            .filter(|hit| hit.record.id != id)
            .map(|hit| {
                let by_words =
                    kinds.contains(&hit.record.kind).then(|| coefficient(&own, &hit.record.content)).flatten();
                let words = by_words.filter(|share| *share >= SIMILAR);
                let cosine = hit.similarity.filter(|cosine| *cosine >= LEAST);
                Similar { record: hit.record, words, cosine, is_change: false }
            })
            .collect();
        similar.sort_by(|a, b| b.likeness().total_cmp(&a.likeness()).then(a.record.id.cmp(&b.record.id)));
        Ok(similar)
    }
}

/// Whether it resembles by words, or is related by meaning.
fn resembles(one: &Similar) -> bool {
    one.words.is_some() || one.cosine.is_some_and(|cosine| cosine >= RELATED)
}

/// Whether a text speaks of a change, or has other numbers than one that is near.
fn reads_as_change(text: &str, near: &Similar) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let speaks_of_it = words.any(|word| CHANGE_WORDS.contains(&word)) || text.contains("no longer");
    let (own, other) = (overlap::numbers(&text), overlap::numbers(&near.record.content));
    let other_numbers = !own.is_empty() && !other.is_empty() && own.is_disjoint(&other);
    speaks_of_it || other_numbers && near.cosine >= Some(SAME_SUBJECT)
}

/// The words of a text to search for; without words, its beginning.
fn longest_words(text: &str) -> String {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    words.sort_by_key(|word| Reverse(word.len()));
    words.truncate(SOUGHT_WORDS);
    let mut query = if words.is_empty() { text.to_owned() } else { words.join(" ") };
    query.truncate(query.floor_char_boundary(QUERY_BYTES));
    query
}

/// The share of the words of the shorter text that both have.
pub(super) fn shared_words(one: &str, other: &str) -> Option<f64> {
    coefficient(&significant_words(beginning(one)), other)
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED_BYTES)]
}

fn coefficient(own: &BTreeSet<String>, other: &str) -> Option<f64> {
    let other = significant_words(beginning(other));
    overlap::coefficient(&own.iter().map(String::as_str).collect(), &other.iter().map(String::as_str).collect())
}
