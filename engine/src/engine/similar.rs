//! What resembles a memory: the same said twice, and what is worth a link.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Engine;
use crate::error::{Error, Result};
use crate::keywords::telling_words;
use crate::overlap::{self, SIMILAR};
use crate::types::{Filter, Kind, Query, Record, RecordId, Similar, Viewer};

/// Results of the search that are looked at.
const CANDIDATES: usize = 12;
/// So many words of a text are sought, the longest, for they are the rarest: to seek all of a long text takes longer
/// than to save it.
const SOUGHT_WORDS: usize = 16;
/// Bytes that are sought of a text without spaces.
const SOUGHT_BYTES: usize = 512;
/// Bytes at the beginning of a text that are compared with those of another.
const COMPARED_BYTES: usize = 4 << 10;
/// From this cosine on, two memories belong together: of 100,000 short descriptions of software, 37 % have another this
/// near, which reads like its kin; at 0.6 it is 80 %, and many do not (measured, all-MiniLM-L6-v2).
const RELATED: f64 = 0.7;

impl Engine {
    /// What `viewer` sees that resembles a memory, the most alike first, at most `limit`: by its words, where
    /// three in five are the same and the kind is too (row D3 of the specification), or by its meaning, where its
    /// embedding is at hand.
    ///
    /// # Errors
    /// [`Error::NotFound`], also when `viewer` does not see it.
    pub fn similar(&self, id: RecordId, viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let record = self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        self.similar_to(&record, &[record.kind], viewer, limit)
    }

    /// The same where the words of records of any of `kinds` are compared.
    ///
    /// # Errors
    /// [`Error::NotFound`], also when `viewer` does not see it.
    pub fn similar_among(&self, id: RecordId, kinds: &[Kind], viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let record = self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        self.similar_to(&record, kinds, viewer, limit)
    }

    fn similar_to(&self, record: &Record, kinds: &[Kind], viewer: &Viewer, limit: usize) -> Result<Vec<Similar>> {
        let id = record.id;
        let query = Query {
            limit: CANDIDATES,
            filter: Filter::of(viewer.clone()),
            // What it finds resembles nothing by words or by meaning, and a save must not wait for a scan of all records.
            substring_tier: false,
            ..Query::new(longest_words(&record.content))
        };
        let vector = match self.sync.model()? {
            Some((model, _)) => {
                self.sync.records.snapshot()?.embeddings(model, &[id])?.pop().map(|(_, v)| Ok((model, v)))
            }
            None => None,
        };
        let own = telling_words(beginning(&record.content));
        let mut similar: Vec<Similar> = self
            .search_by(&query, vector)?
            .hits
            .into_iter()
            .filter_map(|hit| {
                let by_words = kinds.contains(&hit.record.kind).then(|| share(&own, &hit.record.content)).flatten();
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

/// The words of a text that are sought; of one without words, its beginning.
fn longest_words(text: &str) -> String {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    words.sort_by_key(|word| Reverse(word.len()));
    words.truncate(SOUGHT_WORDS);
    let mut sought = if words.is_empty() { text.to_owned() } else { words.join(" ") };
    sought.truncate(sought.floor_char_boundary(SOUGHT_BYTES));
    sought
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED_BYTES)]
}

fn share(own: &BTreeSet<String>, other: &str) -> Option<f64> {
    let other = telling_words(beginning(other));
    overlap::share(&own.iter().map(String::as_str).collect(), &other.iter().map(String::as_str).collect())
}
