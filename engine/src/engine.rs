//! The door of the engine: [`Engine`] opens a store and ties its parts together.

use std::path::PathBuf;

use crate::config::Config;
use crate::error::Result;
use crate::progress::Progress;
use crate::types::*;

/// An open store. Cheap to share between threads (`Arc<Engine>`); every method blocks.
pub struct Engine {}

/// A page of records, by id.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Records with a larger id than this.
    pub after: RecordId,
    /// Most records, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Which records.
    pub filter: Filter,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateOutcome {
    /// The record as it is now.
    pub record: Record,
    /// Whether its (new) text has its vector yet.
    pub embedding: EmbeddingState,
}

/// How the indexes stand beside the records.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexStats {
    /// Vectors that can be found in the published index.
    pub vectors: u64,
    /// Documents in the published keyword index.
    pub documents: u64,
    /// Log entries that one of the two has not applied yet; searched exactly until then.
    pub unapplied: u64,
    /// Name of the embedding model of the store, where one has been used.
    pub model: Option<String>,
}

/// One thing that [`Engine::doctor`] looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What was checked: `database`, `vectors`, `keywords`, `agreement`, `model`.
    pub name: String,
    /// Whether it is sound.
    pub ok: bool,
    /// What was found, in words; for a failed check, also the way out.
    pub details: Vec<String>,
}

/// What [`Engine::doctor`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Every check, in the order made.
    pub checks: Vec<Check>,
}

/// What [`setup`] provides.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupReport {
    /// Name of the model.
    pub model: String,
    /// Numbers per vector.
    pub dims: usize,
    /// The folder of the files.
    pub folder: PathBuf,
    /// The ONNX Runtime library.
    pub library: PathBuf,
    /// Whether anything was fetched (false: all was there already).
    pub fetched: bool,
}

/// What [`Engine::rebuild`] did.
#[derive(Debug, Clone, PartialEq)]
pub struct RebuildReport {
    /// Vectors in the new vector index.
    pub vectors: u64,
    /// Documents in the new keyword index.
    pub documents: u64,
    /// Milliseconds it took.
    pub millis: u64,
}

/// Finds or fetches the embedding model and its library, and checks them. Needs no store.
pub fn setup(_config: &Config, _progress: &dyn Progress) -> Result<SetupReport> {
    todo!()
}

impl Engine {
    /// Opens the store in the folder `root`, and makes it when it is missing. Returns at once: indexes are opened by
    /// mapping, and a background thread replays, rebuilds and embeds what is missing.
    pub fn open(_root: impl Into<PathBuf>, _config: Config) -> Result<Engine> {
        todo!()
    }
    /// Saves a record. Returns when it is on disk; its embedding follows (at once when the model is in memory).
    pub fn add(&self, _new: &NewRecord) -> Result<AddOutcome> {
        todo!()
    }
    /// Saves many in one transaction. One outcome per record, in order; a refused record does not stop the others.
    pub fn add_batch(&self, _new: &[NewRecord]) -> Result<Vec<Result<AddOutcome>>> {
        todo!()
    }
    /// The record, and counts the access.
    pub fn get(&self, _id: RecordId) -> Result<Record> {
        todo!()
    }
    /// Changes a record; the version before is kept.
    pub fn update(&self, _id: RecordId, _update: &RecordUpdate) -> Result<UpdateOutcome> {
        todo!()
    }
    /// Deletes a record. False when there was none.
    pub fn delete(&self, _id: RecordId) -> Result<bool> {
        todo!()
    }
    /// Searches.
    pub fn search(&self, _query: &Query) -> Result<SearchReply> {
        todo!()
    }
    /// A page of live records by id.
    pub fn list(&self, _query: &ListQuery) -> Result<Vec<Record>> {
        todo!()
    }
    /// What the store holds.
    pub fn stats(&self) -> Result<Stats> {
        todo!()
    }
    /// How the indexes stand beside the records.
    pub fn index_stats(&self) -> Result<IndexStats> {
        todo!()
    }
    /// Embeds every record that waits for it, with progress; fetches and loads the model where allowed. Returns how many
    /// texts were embedded. When another process is the index writer this one embeds all the same.
    pub fn embed_pending(&self, _progress: &dyn Progress) -> Result<u64> {
        todo!()
    }
    /// Applies the whole log to both indexes and merges what is worth merging. Returns false when another process holds
    /// the writer lock (it will do the same by itself).
    pub fn flush(&self, _progress: &dyn Progress) -> Result<bool> {
        todo!()
    }
    /// Builds both indexes anew from the records, beside the old ones, and swaps them in.
    pub fn rebuild(&self, _progress: &dyn Progress) -> Result<RebuildReport> {
        todo!()
    }
    /// Proves that records, vectors and keywords agree; with `repair`, mends what does not.
    pub fn doctor(&self, _repair: bool, _progress: &dyn Progress) -> Result<Diagnosis> {
        todo!()
    }
    /// Waits for the background work in hand, and ends it. Dropping an engine does the same.
    pub fn close(self) {
        todo!()
    }
}
