//! Our own index, the crate `memorist-index`, as a [`VectorIndex`]: on disk, memory-mapped, shared by processes.
//!
//! The payload of its manifest is `applied` (u64, little-endian, 8 bytes), then, in UTF-8, `2|`, the id of the store,
//! `|` and the identity of the embedding model. 2 is the format version; the first format had neither version nor store
//! id: the identity followed at once. An index whose payload has another format, or names another store or model, is
//! unusable, and is rebuilt from the records; nothing is embedded again.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memorist_durable::crash;
use memorist_index::{
    Filter, IndexOptions, Layout, OpenError, Reader, SearchParams, Snapshot, Stage, WriteError, Writer,
};
use parking_lot::Mutex;
use roaring::RoaringTreemap;

use super::{IdFilter, VectorBatch, VectorIndex, VectorSnapshot};
use crate::config::Backend;
use crate::error::{Error, IndexKind, Result};
use crate::files::{drop_in_background, private_folders};
use crate::passages::PassageKey;
use crate::progress::{Progress, cancel_point};
use crate::quality::Quality;
use crate::types::Seq;
use crate::verification::Verification;

/// A memory-mapped HNSW index in a folder.
#[derive(Debug)]
pub struct HnswIndex {
    /// The id of the store that it was built from.
    store: String,
    model: String,
    options: IndexOptions,
    reader: Reader,
    /// The generation of the newest state, with its verification and passages.
    newest: Mutex<Option<(u64, SharedState)>>,
}

/// The verification and the further passages of a state, found once for all its snapshots.
#[derive(Debug, Clone)]
struct SharedState {
    verification: Arc<Verification>,
    further: Arc<RoaringTreemap>,
}

/// One published state of it.
struct HnswSnapshot {
    index: Arc<Snapshot>,
    applied: Seq,
    shared: SharedState,
}

impl HnswIndex {
    /// Creates an empty index of the store with the id `store`, for vectors of `dims` numbers made by `model`, in a layout.
    ///
    /// # Errors
    /// If the folder has an index already or cannot be written.
    pub fn create(folder: &Path, store: &str, model: &str, dims: usize, layout: Layout) -> Result<Self> {
        let mut options = IndexOptions::new(dims);
        options.layout = layout;
        // It may replace another index: microseconds have not been used before.
        options.first_segment =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        watch_steps();
        private_folders().create(folder).map_err(|error| Error::io(folder, error))?;
        Writer::create(folder, options, &payload(Seq::START, store, model)).map_err(write_error)?;
        Self::open(folder, store, model, dims)
    }

    /// Opens the index in `folder`. Maps the files; reads only their headers.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`] if it is missing, damaged, of another version, other dimensions, another store or
    /// another model.
    pub fn open(folder: &Path, store: &str, model: &str, dims: usize) -> Result<Self> {
        watch_steps();
        let reader = Reader::open(folder).map_err(open_error)?;
        let snapshot = reader.snapshot();
        if snapshot.dims() != dims {
            return Err(unusable(format!("it holds vectors of {} numbers, not of {dims}", snapshot.dims())));
        }
        parse(snapshot.payload(), store, model)?;
        let (store, model, options) = (store.into(), model.into(), IndexOptions::new(dims));
        Ok(HnswIndex { store, model, options, reader, newest: Mutex::default() })
    }

    /// Looks for passages in `index`, and starts to compare its new segments with their checksums.
    fn find_out(&self, index: &Arc<Snapshot>) -> SharedState {
        let mut last = self.newest.lock();
        if let Some((generation, shared)) = &*last
            && *generation == index.generation()
        {
            return shared.clone();
        }
        let read = index.clone();
        let verification =
            Verification::start(index.unchecked_bytes(), move || read.check().map_err(|damaged| damaged.to_string()));
        let further = Arc::new(index.keys_from(PassageKey::FURTHER).collect());
        let shared = SharedState { verification, further };
        *last = Some((index.generation(), shared.clone()));
        shared
    }

    /// The snapshot that is published now.
    fn newest(&self) -> Result<Arc<Snapshot>> {
        let before = self.reader.snapshot();
        self.reader.refresh().map_err(open_error)?;
        let newest = self.reader.snapshot();
        if !Arc::ptr_eq(&before, &newest) {
            drop_in_background(before);
        }
        Ok(newest)
    }

    /// A writer, for one change: the next one may follow on that of another process.
    fn writer(&self, options: IndexOptions) -> Result<Writer> {
        self.newest()?;
        Writer::beside(&self.reader, options).map_err(write_error)
    }

    /// Runs the next merge of `writer`. Returns whether there was one.
    fn merge(mut writer: Writer, progress: &dyn Progress) -> Result<bool> {
        let Some(merge) = writer.begin_merge() else { return Ok(false) };
        let shown: Mutex<Option<memorist_index::Progress>> = Mutex::default();
        let report = |now: memorist_index::Progress| {
            let mut shown = shown.lock();
            let before = shown.filter(|before| before.stage == now.stage).map(|before| before.done);
            if before.is_none() {
                if shown.is_some() {
                    progress.finish();
                }
                progress.start(stage_name(now.stage), Some(now.total as u64));
            }
            // Threads may overtake one another on their way here.
            let done = now.done.max(before.unwrap_or(0));
            progress.advance((done - before.unwrap_or(0)) as u64);
            *shown = Some(memorist_index::Progress { done, ..now });
            if progress.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let merged = merge_pool().install(|| merge.run(&report));
        if shown.into_inner().is_some() {
            progress.finish();
        }
        writer.finish_merge(merged.map_err(write_error)?).map_err(write_error)?;
        Ok(true)
    }
}

impl VectorIndex for HnswIndex {
    fn model(&self) -> &str {
        &self.model
    }

    fn snapshot(&self) -> Result<Arc<dyn VectorSnapshot>> {
        let index = self.newest()?;
        let applied = parse(index.payload(), &self.store, &self.model)?;
        let shared = self.find_out(&index);
        Ok(Arc::new(HnswSnapshot { index, applied, shared }))
    }

    fn apply(&self, batch: VectorBatch, applied: Seq) -> Result<()> {
        let upserts: Vec<(u64, &[f32])> =
            batch.upserts.iter().map(|(key, vector)| (key.get(), vector.as_slice())).collect();
        let deletes: Vec<u64> = batch.deletes.iter().map(|key| key.get()).collect();
        self.writer(self.options.clone())?
            .apply(&upserts, &deletes, &payload(applied, &self.store, &self.model))
            .map_err(write_error)
    }

    fn maintain(&self, progress: &dyn Progress) -> Result<bool> {
        Self::merge(self.writer(self.options.clone())?, progress)
    }

    fn forget_deleted(&self, progress: &dyn Progress) -> Result<bool> {
        let mut options = self.options.clone();
        options.deleted_percent = 0;
        loop {
            // Opening it removes unreferenced files.
            let writer = self.writer(options.clone())?;
            let all_removed = !writer.has_leftovers();
            let merged = Self::merge(writer, progress)?;
            crash::point("vectors forgotten");
            if !merged {
                return Ok(all_removed);
            }
            cancel_point(progress)?;
        }
    }

    fn verify(&self) -> Result<Vec<String>> {
        Ok(self.newest()?.verify().into_iter().map(|problem| problem.to_string()).collect())
    }
}

impl VectorSnapshot for HnswSnapshot {
    fn backend(&self) -> Backend {
        match self.index.layout() {
            Layout::Compact => Backend::HnswCompact,
            _ => Backend::Hnsw,
        }
    }

    fn applied(&self) -> Seq {
        self.applied
    }

    fn wait_verified(&self, timeout: Duration) -> Result<bool> {
        self.shared.verification.wait(IndexKind::Vector, timeout)
    }

    fn len(&self) -> u64 {
        self.index.len() as u64
    }

    fn keys(&self) -> RoaringTreemap {
        self.index.keys().collect()
    }

    fn further(&self) -> &RoaringTreemap {
        &self.shared.further
    }

    fn search(&self, query: &[f32], k: usize, filter: &IdFilter, quality: Quality) -> Result<Vec<(PassageKey, f32)>> {
        let filter = match filter {
            IdFilter::All => Filter::All,
            IdFilter::Only(keys) => Filter::Only(keys),
            IdFilter::Except(keys) => Filter::Except(keys),
        };
        let params = SearchParams { k, effort: quality.into() };
        let hits = self.index.search(query, &params, filter).map_err(Error::vectors)?;
        Ok(hits.into_iter().map(|hit| (PassageKey::from(hit.key), hit.score)).collect())
    }

    fn vector(&self, key: PassageKey) -> Option<Vec<f32>> {
        self.index.vector(key.get())
    }

    fn scores(&self, query: &[f32], keys: &[PassageKey]) -> Result<Vec<Option<f32>>> {
        let keys: Vec<u64> = keys.iter().map(|key| key.get()).collect();
        self.index.scores(query, &keys).map_err(Error::vectors)
    }
}

/// Lets a test end the process at a step of publishing.
fn watch_steps() {
    #[cfg(feature = "crash-points")]
    memorist_index::watch_steps(crash::point);
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Mending => "mending links",
        Stage::Linking => "linking vectors",
        Stage::Writing => "writing the vector index",
        Stage::Measuring => "measuring the vector index",
    }
}

/// A separate thread pool for merges: a search must not wait for one.
fn merge_pool() -> &'static rayon::ThreadPool {
    static POOL: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
        let name = |at| format!("memorist-merge-{at}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build().expect("the system gives threads")
    });
    &POOL
}

/// The format version, as it is written in the payload.
const LAYOUT: &str = "2";

pub(crate) fn payload(applied: Seq, store: &str, model: &str) -> Vec<u8> {
    [&applied.get().to_le_bytes(), format!("{LAYOUT}|{store}|{model}").as_bytes()].concat()
}

/// How far an index of this store and this model has applied the log.
pub(crate) fn parse(payload: &[u8], store: &str, model: &str) -> Result<Seq> {
    let (applied, made_from, made_by) = parts(payload).map_err(unusable)?;
    if made_from != store {
        return Err(unusable("it was made from another store"));
    }
    if made_by != model {
        return Err(Error::of_another_model());
    }
    Ok(applied)
}

/// How far it has applied the log, the id of its store and the identity of its model.
pub(crate) fn parts(payload: &[u8]) -> Result<(Seq, &str, &str), &'static str> {
    let (applied, text) = payload.split_first_chunk::<8>().ok_or("its manifest does not say how far it is applied")?;
    let text = str::from_utf8(text).map_err(|_| "its manifest does not say what it was made from")?;
    let origin = text.strip_prefix(LAYOUT).and_then(|rest| rest.strip_prefix('|'));
    let origin = origin.ok_or("its manifest is of another version of memorist")?;
    let (store, model) = origin.split_once('|').ok_or("its manifest does not name its model")?;
    Ok((u64::from_le_bytes(*applied).into(), store, model))
}

fn unusable(why: impl Into<String>) -> Error {
    Error::IndexUnusable { index: IndexKind::Vector, why: why.into() }
}

fn open_error(error: OpenError) -> Error {
    match error {
        OpenError::Missing { .. } => unusable("it is missing"),
        // Out of files or memory: the index is not at fault. Everything else is fixed by a rebuild.
        OpenError::Io { path, source } if is_exhausted(&source) => Error::io(path, source),
        other => unusable(other.to_string()),
    }
}

fn is_exhausted(error: &std::io::Error) -> bool {
    // EMFILE, ENFILE
    error.kind() == std::io::ErrorKind::OutOfMemory || matches!(error.raw_os_error(), Some(23 | 24))
}

fn write_error(error: WriteError) -> Error {
    match error {
        WriteError::Open(error) => open_error(error),
        WriteError::Io { path, source } | WriteError::Unsynced { path, source } => Error::io(path, source),
        WriteError::Cancelled => Error::Cancelled,
        other => Error::vectors(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_of_one_store_one_model_and_one_layout() {
        let ours = payload(41.into(), "01STORE", "abc|mean|8");
        assert_eq!(parse(&ours, "01STORE", "abc|mean|8").unwrap(), 41.into());
        let why = |payload: &[u8], store, model| parse(payload, store, model).unwrap_err().to_string();
        assert!(why(&ours, "01OTHER", "abc|mean|8").contains("another store"));
        assert!(why(&ours, "01STORE", "abc|last|8").contains("another model"));
        let first_layout = [&41_u64.to_le_bytes()[..], b"abc|mean|8"].concat();
        assert!(why(&first_layout, "01STORE", "abc|mean|8").contains("another version"));
        assert!(why(&ours[..7], "01STORE", "").contains("how far"));
        assert!(why(&[&ours[..8], b"2|01STORE"].concat(), "01STORE", "").contains("model"));
    }
}
