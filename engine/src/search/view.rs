//! One consistent view of a store: a snapshot of each index, then a read transaction on the records, then the tail
//! between them. In this order, so that everything an index knows, the records know too.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use super::hidden::HiddenCache;
use super::tail::{Tail, TailCache, TailKey};
use crate::error::{Error, Result};
use crate::keywords::KeywordSnapshot;
use crate::records::{ModelId, Snapshot};
use crate::sync::{Sync, is_of};
use crate::types::{Millis, Query, Seq};
use crate::vectors::VectorSnapshot;

/// The first search after opening waits so long for the checksums of an index; a gigabyte takes less.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often to look again when the log was trimmed between two of our looks.
const RETRIES: usize = 50;

/// Everything a search reads, not yet looked at.
pub struct StoreView<'store> {
    /// The records and their two indexes.
    pub sync: &'store Sync,
    /// The tail of the search before.
    pub tails: &'store TailCache,
    /// What was superseded to the eyes of those who searched before.
    pub hidden: &'store HiddenCache,
}

/// A consistent view, for one search.
pub struct View {
    /// The records, in one read transaction.
    pub records: Snapshot,
    /// The vector index, where it is wanted and at hand.
    pub vectors: Option<Arc<dyn VectorSnapshot>>,
    /// The keyword index, where it is at hand.
    pub keywords: Option<Arc<dyn KeywordSnapshot>>,
    /// What the indexes have not applied.
    pub tail: Arc<Tail>,
    /// What is never a result: records whose time is over, and superseded ones unless they are asked for.
    pub hidden: RoaringTreemap,
    warnings: Vec<String>,
}

impl StoreView<'_> {
    /// Opens a view for a query whose vector was made by `model`, or by words alone. The vector index is in the view only
    /// when it, the store and the query are of the same model.
    pub fn open(&self, query: &Query, model: Option<ModelId>, now: Millis) -> Result<View> {
        let mut behind = "keyword";
        for _ in 0..RETRIES {
            let mut warnings = Vec::new();
            let index = match model.map(|_| self.sync.vectors.get()) {
                Some(Err(why)) => self.sync.unmade_vectors()?.or_else(|| out_of_use("vector", &why, &mut warnings)),
                Some(Ok(index)) => Some(index),
                None => None,
            };
            let vectors = index.as_ref().map(|index| index.snapshot()).transpose();
            let mut vectors = vectors.map_err(|error| self.sync.if_out_of_reach("vector", error))?;
            let keywords = match self.sync.keywords.get() {
                Err(why) => self.sync.unmade_keywords()?.or_else(|| out_of_use("keyword", &why, &mut warnings)),
                Ok(index) => Some(index.snapshot().map_err(|error| self.sync.if_out_of_reach("keyword", error))?),
            };
            // Before the records are looked at: whoever waits shall not see the past.
            let are_checked = [
                ("vector", vectors.as_ref().map(|snapshot| snapshot.is_checked(PATIENCE))),
                ("keyword", keywords.as_ref().map(|snapshot| snapshot.is_checked(PATIENCE))),
            ];
            for (side, is_checked) in are_checked {
                if is_checked.transpose()? == Some(false) {
                    warnings.push(format!(
                        "the {side} index is still being compared with its checksums: what this answer takes from it is not \
                         certain yet"
                    ));
                }
            }
            let records = self.sync.records.snapshot()?;
            match model.map(|model| records.require_model(model)).transpose() {
                Ok(Some(model)) if index.as_deref().is_some_and(|index| !is_of(index, &model)) => {
                    behind = "vector";
                    self.sync.reopen()?;
                    continue;
                }
                // The store's model was changed after the query was embedded.
                Err(changed @ Error::ModelMismatch { .. }) => {
                    warnings.push(by_words_alone(&changed.to_string()));
                    vectors = None;
                }
                outcome => drop(outcome?),
            }
            let key = TailKey {
                head: records.head(),
                vectors_applied: vectors.as_ref().map(|snapshot| snapshot.applied()),
                keywords_applied: keywords.as_ref().map(|snapshot| snapshot.applied()),
                model,
            };
            if let Some(index) = behind_the_log(&key, records.trimmed_to()) {
                behind = index;
                // Another process published and trimmed between our snapshots; the next ones are newer.
                self.sync.reopen()?;
                std::thread::yield_now();
                continue;
            }
            let tail = self.tails.get(key, &records, now)?;
            let mut hidden = records.expired(now)?;
            if !query.include_superseded {
                hidden |= &*self.hidden.superseded(&query.filter.viewer, &records)?;
            }
            return Ok(View { records, vectors, keywords, tail, hidden, warnings });
        }
        // It stays behind: an old copy was put in its place.
        Err(Error::behind_the_log(behind))
    }
}

impl View {
    /// What the caller should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// What a search says that was asked for meaning and finds by words alone.
pub(super) fn by_words_alone(why: &str) -> String {
    format!("searched by words alone: {why}")
}

/// No index, and why.
fn out_of_use<T>(side: &str, why: &str, warnings: &mut Vec<String>) -> Option<T> {
    warnings.push(format!("the {side} index is out of use and is being rebuilt: {why}"));
    None
}

/// The name of an index that lacks entries which the log has no more.
fn behind_the_log(key: &TailKey, trimmed_to: Seq) -> Option<&'static str> {
    let sides = [("vector", key.vectors_applied), ("keyword", key.keywords_applied)];
    sides.into_iter().find(|(_, applied)| applied.is_some_and(|applied| applied < trimmed_to)).map(|(name, _)| name)
}
