//! An index anew from the records: built in a folder beside the old one, then swapped in. Nothing is embedded again;
//! the vectors come from `memory.db`. A crash at any point leaves either index or none, and none is rebuilt.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use memorist_durable::{crash, sync_folder};
use roaring::RoaringTreemap;

use super::clock::now;
use super::lock::WriterGuard;
use super::store::{Sync, identity};
use crate::config::Backend;
use crate::error::{Error, Result};
use crate::files::remove_if_present;
use crate::keywords::{KeywordIndex, TantivyIndex};
use crate::paths::StorePaths;
use crate::progress::{Progress, cancel_point};
use crate::records::{Model, ModelId, Snapshot};
use crate::types::{Millis, RecordId};
use crate::vectors::hnsw::HnswIndex;
use crate::vectors::{VectorBatch, VectorIndex};

/// Records per commit.
const STEP: usize = 10_000;

impl Sync {
    /// Rebuilds the sides that are out of use.
    pub fn mend(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        // What a rebuild that was killed has left.
        for folder in [self.paths.keywords(), self.paths.vectors()] {
            remove_if_present(&StorePaths::in_making(&folder))?;
            remove_if_present(&StorePaths::retired(&folder))?;
        }
        // Another process may have rebuilt them while we waited for the lock.
        self.reopen()?;
        if self.keywords.is_out() {
            self.rebuild_keywords(proof, progress)?;
        }
        if self.vectors.is_out() && self.model()?.is_some() {
            self.rebuild_vectors(proof, progress)?;
        }
        Ok(())
    }

    /// Builds the keyword index anew. Returns how many documents it has.
    pub fn rebuild_keywords(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<u64> {
        let folder = self.paths.keywords();
        let beside = StorePaths::in_making(&folder);
        remove_if_present(&beside)?;
        self.release_keyword_writer(proof)?;
        let index = TantivyIndex::create(&beside, self.records.lineage())?;
        let records = self.records.snapshot()?;
        let head = records.head();
        progress.start("indexing words", Some(records.live_count(now())?));
        let mut documents = 0;
        let built = each_step(&records, progress, |ids| {
            let live = records.records(ids, Millis::MIN)?;
            documents += live.len() as u64;
            index.apply(&live, &[], 0)
        });
        progress.finish();
        built?;
        index.apply(&[], &[], head)?;
        index.maintain()?;
        index.release_writer()?;
        drop(index);
        swap_in(&beside, &folder)?;
        self.keywords.open(&folder, || self.open_keywords())?;
        Ok(documents)
    }

    /// Builds the vector index anew. Returns how many vectors it has; without a model there are none.
    pub fn rebuild_vectors(&self, proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<u64> {
        let Some((id, model)) = self.model()? else { return Ok(0) };
        if self.config.backend != Backend::Hnsw {
            self.vectors.open(&self.paths.vectors(), || self.open_vectors())?;
            return self.vectors.get().map_err(Error::Vectors)?.snapshot().map(|snapshot| snapshot.len());
        }
        let ids = self.vectors_beside(proof, id, &model, progress)?;
        self.use_vectors_beside(proof)?;
        Ok(ids.len())
    }

    /// Builds the vector index of a model beside the one in use. Returns the ids that it has.
    pub(super) fn vectors_beside(
        &self,
        _proof: &WriterGuard<'_>,
        id: ModelId,
        model: &Model,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let beside = StorePaths::in_making(&self.paths.vectors());
        remove_if_present(&beside)?;
        let index = HnswIndex::create(&beside, self.records.lineage(), &identity(model), model.dims)?;
        self.fill(&index, id, progress)?;
        Ok(index.snapshot()?.ids())
    }

    /// Puts the vector index that was built beside the one in use into its place.
    pub(super) fn use_vectors_beside(&self, _proof: &WriterGuard<'_>) -> Result<()> {
        let folder = self.paths.vectors();
        swap_in(&StorePaths::in_making(&folder), &folder)?;
        self.vectors.open(&folder, || self.open_vectors())
    }

    /// Removes an index, at once for whoever looks.
    pub(super) fn discard(&self, _proof: &WriterGuard<'_>, folder: &Path) -> Result<()> {
        let old = StorePaths::retired(folder);
        remove_if_present(&old)?;
        fs::rename(folder, &old).map_err(|error| Error::io(folder, error))?;
        remove_if_present(&old)
    }

    /// An in-memory index with every embedding of the store.
    pub(super) fn filled(&self, index: Arc<dyn VectorIndex>, model: ModelId) -> Result<Arc<dyn VectorIndex>> {
        self.fill(&*index, model, &crate::progress::NoProgress)?;
        Ok(index)
    }

    fn fill(&self, index: &dyn VectorIndex, model: ModelId, progress: &dyn Progress) -> Result<()> {
        let records = self.records.snapshot()?;
        let head = records.head();
        progress.start("indexing vectors", Some(records.live_count(now())?));
        let built = each_step(&records, progress, |ids| {
            let upserts = records.embeddings(model, ids)?;
            index.apply(VectorBatch { upserts, deletes: Vec::new() }, 0)
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

/// Calls `apply` for all live records, a step of ids at a time.
pub(super) fn each_step(
    records: &Snapshot,
    progress: &dyn Progress,
    mut apply: impl FnMut(&[RecordId]) -> Result<()>,
) -> Result<()> {
    let mut after = 0;
    loop {
        // Expired ones too, as everywhere in the indexes.
        let ids = records.live_ids_after(after, STEP, Millis::MIN)?;
        let Some(last) = ids.last() else { return Ok(()) };
        after = *last;
        apply(&ids)?;
        progress.advance(ids.len() as u64);
        cancel_point(progress)?;
    }
}

/// Puts the folder `new` in the place of `folder`. Whoever has files of the old one open or mapped keeps them.
fn swap_in(new: &Path, folder: &Path) -> Result<()> {
    let old = StorePaths::retired(folder);
    remove_if_present(&old)?;
    match fs::rename(folder, &old) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(folder, error)),
        _ => {}
    }
    crash::point("old index retired");
    fs::rename(new, folder).map_err(|error| Error::io(folder, error))?;
    crash::point("new index in place");
    if let Some(parent) = folder.parent() {
        sync_folder(parent).map_err(|error| Error::io(parent, error))?;
    }
    remove_if_present(&old)
}
