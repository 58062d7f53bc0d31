//! What resembles a memory: the same said twice, and what is worth a link.

use std::collections::BTreeSet;

use super::Engine;
use crate::error::{Error, Result};
use crate::keywords::telling_words;
use crate::overlap::{self, SIMILAR};
use crate::types::{Filter, MAX_QUERY_BYTES, Query, RecordId, Similar, Viewer};

/// Results of the search that are looked at.
const CANDIDATES: usize = 20;
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
        let text = &record.content[..record.content.floor_char_boundary(MAX_QUERY_BYTES)];
        let query = Query { limit: CANDIDATES, filter: Filter::of(viewer.clone()), ..Query::new(text) };
        let vector = match self.sync.model()? {
            Some((model, _)) => {
                self.sync.records.snapshot()?.embeddings(model, &[id])?.pop().map(|(_, v)| Ok((model, v)))
            }
            None => None,
        };
        let own = telling_words(&record.content);
        let mut similar: Vec<Similar> = self
            .search_by(&query, vector)?
            .hits
            .into_iter()
            .filter_map(|hit| {
                let by_words = (hit.record.kind == record.kind).then(|| share(&own, &hit.record.content)).flatten();
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

fn share(own: &BTreeSet<String>, other: &str) -> Option<f64> {
    let other = telling_words(other);
    overlap::share(&own.iter().map(String::as_str).collect(), &other.iter().map(String::as_str).collect())
}
