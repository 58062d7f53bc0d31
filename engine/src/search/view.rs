//! A consistent view of a store: a snapshot of each index, then a read transaction on the records, then the tail
//! between them. In this order, so that the records contain everything that an index does.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use super::sets::SetCache;
use super::tail::{Tail, TailCache, TailKey};
use crate::error::{Error, IndexKind, Remedy, Result};
use crate::keywords::KeywordSnapshot;
use crate::records::{ModelId, Snapshot};
use crate::sync::{Store, has_model};
use crate::types::{MetadataFilter, Millis, Query, Seq, Viewer};
use crate::vectors::VectorSnapshot;

/// How long the first search after opening waits for the checksums of an index; a gigabyte takes less.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(1);
/// How often to retry if the log was trimmed between taking the snapshots.
const RETRIES: usize = 50;

/// Everything that a search needs to open its view.
pub struct SearchContext<'store> {
    /// The records and their two indexes.
    pub store: &'store Store,
    /// The tail of the previous search.
    pub tails: &'store TailCache,
    /// The sets of previous searches.
    pub sets: &'store SearchSets,
}

/// Records that are live, and no results of some searches.
#[derive(Default)]
pub struct SearchSets {
    superseded: SetCache<Viewer>,
    without_metadata: SetCache<MetadataFilter>,
}

impl SearchSets {
    /// The superseded records as `viewer` sees them. They change with the `supersedes` links.
    pub fn superseded(&self, viewer: &Viewer, records: &Snapshot) -> Result<Arc<RoaringTreemap>> {
        self.superseded.get(records.superseding()?, viewer, || records.superseded(viewer))
    }

    /// The records that do not pass the filter. They change with the log.
    fn without_metadata(&self, filter: &MetadataFilter, records: &Snapshot) -> Result<Arc<RoaringTreemap>> {
        self.without_metadata.get(records.head().stored(), filter, || records.without_metadata(filter))
    }
}

/// A consistent view, for one search.
pub struct View {
    /// The records, in one read transaction.
    pub records: Snapshot,
    /// The vector index, if it is needed and available.
    pub vectors: Option<Arc<dyn VectorSnapshot>>,
    /// The keyword index, if it is available.
    pub keywords: Option<Arc<dyn KeywordSnapshot>>,
    /// Log entries that the indexes have not applied.
    pub tail: Arc<Tail>,
    /// Records that no search finds: expired ones, and superseded ones unless they are requested.
    pub gone: Arc<RoaringTreemap>,
    /// Records that are never results: these, and those without the metadata that is requested.
    pub hidden: Arc<RoaringTreemap>,
    warnings: Vec<String>,
    remedy: Option<Remedy>,
}

impl SearchContext<'_> {
    /// Opens a view of what is here, for a query whose vector was made by `model`, or for a keyword search. The view contains the vector
    /// index only if it, the store and the query have the same model.
    pub fn open_view(&self, query: &Query, model: Option<ModelId>, now: Millis) -> Result<View> {
        let mut behind = IndexKind::Keyword;
        for _ in 0..RETRIES {
            let (mut warnings, mut remedy) = (Vec::new(), None);
            let index = match model.map(|_| self.store.vectors.get()) {
                Some(Err(why)) => {
                    self.store.unbuilt_vectors()?.or_else(|| out_of_use(IndexKind::Vector, &why, &mut warnings))
                }
                Some(Ok(index)) => Some(index),
                None => None,
            };
            let vectors = index.as_ref().map(|index| index.snapshot()).transpose();
            let mut vectors = vectors.map_err(|error| self.store.unusable_if_unreadable(IndexKind::Vector, error))?;
            let keywords = match self.store.keywords.get() {
                Err(why) => {
                    self.store.unbuilt_keywords()?.or_else(|| out_of_use(IndexKind::Keyword, &why, &mut warnings))
                }
                Ok(index) => Some(
                    index.snapshot().map_err(|error| self.store.unusable_if_unreadable(IndexKind::Keyword, error))?,
                ),
            };
            // Before the records are read: a search that waits must not return an outdated state.
            let verifications = [
                (IndexKind::Vector, vectors.as_ref().map(|snapshot| snapshot.wait_verified(VERIFY_TIMEOUT))),
                (IndexKind::Keyword, keywords.as_ref().map(|snapshot| snapshot.wait_verified(VERIFY_TIMEOUT))),
            ];
            for (side, verified) in verifications {
                if verified.transpose()? == Some(false) {
                    warnings.push(format!(
                        "the {side} index is still being verified against its checksums: its part of these results is \
                         not certain yet"
                    ));
                }
            }
            let records = self.store.records.copy().snapshot()?;
            match model.map(|model| records.require_model(model)).transpose() {
                Ok(Some(model)) if index.as_deref().is_some_and(|index| !has_model(index, &model)) => {
                    behind = IndexKind::Vector;
                    self.store.reopen()?;
                    continue;
                }
                // The store's model was changed after the query was embedded.
                Err(changed @ Error::ModelMismatch { .. }) => {
                    warnings.push(without_vector(query, &changed.to_string()));
                    remedy = changed.remedy();
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
                self.store.reopen()?;
                std::thread::yield_now();
                continue;
            }
            let tail = self.tails.get(key, &records, now)?;
            let mut gone = records.expired(now)?;
            if !query.include_superseded {
                gone |= &*self.sets.superseded(&query.filter.viewer, &records)?;
            }
            let gone = Arc::new(gone);
            let hidden = match &query.filter.metadata {
                None => Arc::clone(&gone),
                Some(metadata) => Arc::new(&*gone | &*self.sets.without_metadata(metadata, &records)?),
            };
            warnings.extend(self.store.records.warnings());
            warnings.extend(self.store.records.unfollowed_of(&query.filter.viewer)?);
            return Ok(View { records, vectors, keywords, tail, gone, hidden, warnings, remedy });
        }
        // It stays behind: an old copy has replaced it.
        Err(Error::behind_the_log(behind))
    }
}

impl View {
    /// Warnings for the caller.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The remedy for a vector that cannot be used.
    pub fn remedy(&self) -> Option<Remedy> {
        self.remedy
    }
}

/// The warning of a search that has no vector: it became a keyword search, or found nothing.
pub(super) fn without_vector(query: &Query, why: &str) -> String {
    match query.has_text() {
        true => format!("keyword search only: {why}"),
        false => format!("no vector search: {why}"),
    }
}

/// Reports why an index is missing.
fn out_of_use<T>(side: IndexKind, why: &str, warnings: &mut Vec<String>) -> Option<T> {
    warnings.push(format!("the {side} index is unusable and is being rebuilt: {why}"));
    None
}

/// An index that lacks entries which the log no longer has.
fn behind_the_log(key: &TailKey, trimmed_to: Seq) -> Option<IndexKind> {
    let sides = [(IndexKind::Vector, key.vectors_applied), (IndexKind::Keyword, key.keywords_applied)];
    sides.into_iter().find(|(_, applied)| applied.is_some_and(|applied| applied < trimmed_to)).map(|(kind, _)| kind)
}
