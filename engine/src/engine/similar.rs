//! Memories that resemble another: near-duplicates, and candidates for a link.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Engine;
use crate::error::{Error, Result};
use crate::keywords::significant_words;
use crate::overlap::{self, SIMILAR};
use crate::types::{Filter, Kind, Query, Record, RecordId, Similar, Viewer};

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

impl Engine {
    /// The memories that `viewer` sees and that resemble a memory, the most similar first, at most `limit`. They
    /// resemble it by words, if three in five are the same and so is the kind (row D3 of the specification), or by
    /// meaning, if its embedding is available.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see it.
    pub fn similar(&self, id: RecordId, viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let record = self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        self.similar_to(&record, &[record.kind], viewer, limit)
    }

    /// The same, comparing the words of records of any of `kinds`.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see it.
    pub fn similar_among(&self, id: RecordId, kinds: &[Kind], viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let record = self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        self.similar_to(&record, kinds, viewer, limit)
    }

    fn similar_to(&self, record: &Record, kinds: &[Kind], viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let id = record.id;
        let query = Query {
            limit: CANDIDATES,
            filter: Filter::of(viewer.clone()),
            // The substring tier finds nothing similar in words or meaning, and a save must not wait for a scan of all
            // records.
            substring_tier: false,
            ..Query::new(longest_words(&record.content))
        };
        let vector = match self.store.model()? {
            Some((model, _)) => {
                self.store.records.snapshot()?.embeddings(model, &[id])?.pop().map(|(_, v)| Ok((model, v)))
            }
            None => None,
        };
        let own = significant_words(beginning(&record.content));
        let mut similar: Vec<Similar> = self
            .search_by(&query, vector)?
            .hits
            .into_iter()
            .filter_map(|hit| {
                let by_words =
                    kinds.contains(&hit.record.kind).then(|| coefficient(&own, &hit.record.content)).flatten();
                let words = by_words.filter(|share| *share >= SIMILAR);
                let cosine = hit.vector_score.filter(|cosine| *cosine >= RELATED);
                let resembles = hit.record.id != id && (words.is_some() || cosine.is_some());
                resembles.then_some(Similar { record: hit.record, words, cosine })
            })
            .collect();
        similar.sort_by(|a, b| b.likeness().total_cmp(&a.likeness()).then(a.record.id.cmp(&b.record.id)));
        similar.truncate(limit);
        Ok(similar)
    }
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

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED_BYTES)]
}

fn coefficient(own: &BTreeSet<String>, other: &str) -> Option<f64> {
    let other = significant_words(beginning(other));
    overlap::coefficient(&own.iter().map(String::as_str).collect(), &other.iter().map(String::as_str).collect())
}
