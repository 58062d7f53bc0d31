//! Rebuilds an index from the records: in a folder beside the old one, then swapped in. Nothing is embedded again; the
//! vectors come from `memory.db`. A crash at any point leaves either index or none; a missing one is rebuilt.

use std::path::Path;
use std::sync::Arc;

use memorist_index::Layout;
use roaring::RoaringTreemap;

use super::lock::WriterGuard;
use super::store::{Store, identity};
use crate::error::{Error, Result};
use crate::files::remove_if_present;
use crate::index_folder;
use crate::keywords::{KeywordIndex, TantivyIndex};
use crate::paths::StorePaths;
use crate::progress::{Progress, cancel_point};
use crate::records::{Model, ModelId, Snapshot};
use crate::types::{Millis, RecordId, Seq};
use crate::vectors::hnsw::HnswIndex;
use crate::vectors::{VectorBatch, VectorIndex};

/// Records per commit.
const STEP: usize = 10_000;

impl Store {
    /// Rebuilds the unusable indexes.
    pub fn repair_indexes(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        // Left by a killed rebuild.
        for folder in [self.paths.keywords(), self.paths.vectors()] {
            index_folder::sweep(&folder);
        }
        // Another process may have rebuilt them while we waited for the lock.
        self.reopen()?;
        if self.keywords.is_unusable() {
            self.rebuild_keywords(proof, progress)?;
        }
        if self.vectors.is_unusable() && self.model()?.is_some() {
            self.rebuild_vectors(proof, progress)?;
        }
        Ok(())
    }

    /// Rebuilds the keyword index. Returns its number of documents.
    pub fn rebuild_keywords(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<u64> {
        let folder = self.paths.keywords();
        let beside = StorePaths::staging(&folder);
        remove_if_present(&beside)?;
        self.release_keyword_writer(proof)?;
        let index = TantivyIndex::create(&beside, self.records.lineage())?;
        let records = self.records.copy().snapshot()?;
        let head = records.head();
        progress.start("indexing words", Some(records.live_count(self.now())?));
        let mut documents = 0;
        let built = each_step(&records, progress, |ids| {
            let live = records.records(ids, Millis::MIN)?;
            documents += live.len() as u64;
            index.apply(&live, &[], Seq::START)
        });
        progress.finish();
        built?;
        index.apply(&[], &[], head)?;
        index.maintain()?;
        index.release_writer()?;
        drop(index);
        index_folder::swap_in(&beside, &folder)?;
        self.keywords.open(&folder, || self.open_keywords())?;
        index_folder::sweep(&folder);
        Ok(documents)
    }

    /// Rebuilds the vector index. Returns its number of vectors; without a model there are none.
    pub fn rebuild_vectors(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<u64> {
        let Some((id, model)) = self.model()? else { return Ok(0) };
        let Some(layout) = self.config.backend.layout() else {
            self.vectors.open(&self.paths.vectors(), || self.open_vectors())?;
            return self.vectors.get().map_err(Error::vectors)?.snapshot().map(|snapshot| snapshot.len());
        };
        let keys = self.build_vectors_aside(proof, id, &model, layout, progress)?;
        self.swap_in_vectors(proof)?;
        Ok(keys.len())
    }

    /// Builds the vector index of a model beside the one in use. Returns its keys.
    pub(super) fn build_vectors_aside(
        &self,
        _proof: &WriterGuard<'_>,
        id: ModelId,
        model: &Model,
        layout: Layout,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let beside = StorePaths::staging(&self.paths.vectors());
        remove_if_present(&beside)?;
        let index = HnswIndex::create(&beside, self.records.lineage(), &identity(model), model.dims, layout)?;
        self.fill(&index, id, progress)?;
        Ok(index.snapshot()?.keys())
    }

    /// Replaces the vector index in use by the one that was built beside it.
    pub(super) fn swap_in_vectors(&self, _proof: &WriterGuard<'_>) -> Result<()> {
        let folder = self.paths.vectors();
        index_folder::swap_in(&StorePaths::staging(&folder), &folder)?;
        self.vectors.open(&folder, || self.open_vectors())?;
        index_folder::sweep(&folder);
        Ok(())
    }

    /// Removes an index; it disappears at once for others. Returns whether all its files are gone.
    pub(super) fn discard(&self, _proof: &WriterGuard<'_>, folder: &Path) -> Result<bool> {
        index_folder::retire(folder)
    }

    /// An in-memory index with every embedding of the store.
    pub(super) fn filled(&self, index: Arc<dyn VectorIndex>, model: ModelId) -> Result<Arc<dyn VectorIndex>> {
        self.fill(&*index, model, &crate::progress::NoProgress)?;
        Ok(index)
    }

    fn fill(&self, index: &dyn VectorIndex, model: ModelId, progress: &dyn Progress) -> Result<()> {
        let records = self.records.copy().snapshot()?;
        let head = records.head();
        progress.start("indexing vectors", Some(records.live_count(self.now())?));
        let built = each_step(&records, progress, |ids| {
            let upserts = records.embeddings(model, ids)?;
            index.apply(VectorBatch { upserts, deletes: Vec::new() }, Seq::START)
        });
        progress.finish();
        built?;
        index.apply(VectorBatch::default(), head)?;
        while index.maintain(progress)? {
            cancel_point(progress)?;
        }
        Ok(())
    }
}

/// Calls `apply` for all live records, in batches of ids.
pub(super) fn each_step(
    records: &Snapshot,
    progress: &dyn Progress,
    mut apply: impl FnMut(&[RecordId]) -> Result<()>,
) -> Result<()> {
    let mut after = RecordId::START;
    loop {
        // Includes expired ones, as everywhere in the indexes.
        let ids = records.live_ids_after(after, STEP, Millis::MIN)?;
        let Some(last) = ids.last() else { return Ok(()) };
        after = *last;
        apply(&ids)?;
        progress.advance(ids.len() as u64);
        cancel_point(progress)?;
    }
}
