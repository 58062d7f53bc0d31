//! The door of the engine: [`Engine`] opens a store and ties its parts together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::bench::{self, BenchOptions, VectorBench};
use crate::config::Config;
use crate::doctor::{self, Diagnosis};
use crate::embed::{Embedder, ModelHost, Plan, Provision};
use crate::error::{Error, Result};
use crate::paths::StorePaths;
use crate::progress::Progress;
use crate::records::{self, Access, AccessKind, ModelId};
use crate::search::{self, QueryVector, StoreView, TailCache};
use crate::sync::{Sync, Wake, Worker, now};
use crate::text;
use crate::types::{
    AddOutcome, EmbeddingState, Filter, MAX_LIMIT, Mode, NewRecord, Query, Record, RecordId, RecordUpdate, SearchReply,
    Stats,
};

/// Up to so many records, a search that finds an index out of use rebuilds it first instead of doing without.
const REBUILD_BEFORE_SEARCH: u64 = 5_000;

/// A search rebuilds what it finds damaged so often: once for each side.
const MENDED_AT_MOST: usize = 2;

/// An open store. Share it between threads in an `Arc`; every method blocks.
///
/// ```no_run
/// use memorist_engine::{Engine, config::Config, types::{NewRecord, Query}};
///
/// let engine = Engine::open("my-store", Config::default())?;
/// engine.add(&NewRecord::new("User prefers dark mode for all applications"))?;
/// for hit in engine.search(&Query::new("dark theme"))?.hits {
///     println!("{:.2} {}", hit.score, hit.record.content);
/// }
/// # Ok::<(), memorist_engine::Error>(())
/// ```
pub struct Engine {
    // The worker first: it must have ended before the rest is dropped.
    worker: Worker,
    sync: Arc<Sync>,
    tails: TailCache,
    config: Config,
}

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
    /// Whether its text, as it is now, has its vector yet.
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

/// What [`setup`] provides.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupReport {
    /// Name of the model.
    pub model: String,
    /// Numbers per vector.
    pub dims: usize,
    /// The folder of the model's files.
    pub folder: PathBuf,
    /// The ONNX Runtime library.
    pub library: PathBuf,
    /// Whether anything was fetched (false: all was there already).
    pub fetched: bool,
}

/// What [`Engine::reembed`] did.
#[derive(Debug, Clone, PartialEq)]
pub struct ReembedReport {
    /// Name of the store's model before; `None` when it had none, and nothing was to be done.
    pub before: Option<String>,
    /// Name of its model now.
    pub model: Option<String>,
    /// Whether its model was another one than the one at hand.
    pub changed: bool,
    /// Texts that this call embedded.
    pub embedded: u64,
    /// Milliseconds it took.
    pub millis: u64,
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

impl Engine {
    /// Opens the store in the folder `root`, and makes it when it is missing. Returns at once: indexes are opened by
    /// mapping, and a background thread replays, rebuilds and embeds what is missing.
    ///
    /// # Errors
    /// [`Error::Store`] when the folder cannot be used, [`Error::Database`] when `memory.db` is not ours to read.
    pub fn open(root: impl Into<PathBuf>, config: Config) -> Result<Engine> {
        let host = ModelHost::new(&config)?;
        Self::open_with(root, config, host)
    }

    /// Opens a store with an embedder of the caller's own.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_with_embedder(root: impl Into<PathBuf>, config: Config, embedder: Arc<dyn Embedder>) -> Result<Engine> {
        Self::open_with(root, config, ModelHost::ready(embedder))
    }

    fn open_with(root: impl Into<PathBuf>, config: Config, host: ModelHost) -> Result<Engine> {
        let sync = Arc::new(Sync::open(StorePaths::new(root), config.clone(), host)?);
        let worker = Worker::start(sync.clone())?;
        Ok(Engine { worker, sync, tails: TailCache::default(), config })
    }

    /// Saves a record. Returns when it is on disk; its embedding follows (at once when the model is in memory). A text
    /// that the scope already has is not saved again: the outcome names the record that has it.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds.
    pub fn add(&self, new: &NewRecord) -> Result<AddOutcome> {
        let mut outcome = self.sync.records.add(new, now())?;
        if outcome.embedding == EmbeddingState::Pending {
            outcome.embedding = self.embed_now(new.context.as_deref(), &new.content);
        }
        self.worker.send(Wake::Written);
        Ok(outcome)
    }

    /// Saves many in one transaction. One outcome per record, in order; a refused record does not stop the others. Their
    /// embeddings are made in the background, or by [`Engine::embed_pending`].
    pub fn add_batch(&self, new: &[NewRecord]) -> Result<Vec<Result<AddOutcome>>> {
        let outcomes = self.sync.records.add_batch(new, now())?;
        self.worker.send(Wake::Written);
        Ok(outcomes)
    }

    /// Saves a record with an embedding of the caller's own: `vector` is what the store's model makes of its text.
    ///
    /// # Errors
    /// As [`Engine::add`], and when `vector` has other dimensions than the model or a number that is not finite;
    /// [`Error::ModelMismatch`] when the model at hand is not the store's.
    pub fn add_with(&self, new: &NewRecord, vector: &[f32]) -> Result<AddOutcome> {
        if self.sync.model()?.is_none() {
            // A store that has no model yet takes the one at hand.
            self.sync.embedder()?;
        }
        let (model, dims) = self.model_of_own_vectors()?.unwrap_or_default();
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if vector.len() != dims || !length.is_finite() || length == 0.0 {
            let why = format!("must be {dims} finite numbers, not all 0; it has {}", vector.len());
            return Err(Error::invalid("embedding", why));
        }
        let mut outcome = self.sync.records.add(new, now())?;
        if outcome.embedding == EmbeddingState::Pending {
            let hash = text::embedding_hash(new.context.as_deref(), &new.content);
            let vector = vector.iter().map(|number| number / length).collect();
            match self.sync.records.store_embeddings(model, &[(hash, vector)]) {
                Ok(_) => outcome.embedding = EmbeddingState::Ready,
                // The model was changed at this moment: the record is saved, and waits for the new one.
                Err(Error::ModelMismatch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.worker.send(Wake::Written);
        Ok(outcome)
    }

    /// The record, and counts the access, unless others keep the store busy.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live record has this id.
    pub fn get(&self, id: RecordId) -> Result<Record> {
        let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        if let Err(error) = self.sync.records.record_access(&[access], now()) {
            tracing::debug!("an access was not counted: {error}");
        }
        self.peek(id)?.ok_or(Error::NotFound(id))
    }

    /// The record, where a live one has this id. Counts nothing.
    pub fn peek(&self, id: RecordId) -> Result<Option<Record>> {
        self.sync.records.get(id, now())
    }

    /// Writes an access of the caller's own to the access log, and counts it.
    ///
    /// # Errors
    /// [`Error::Store`] when others keep the store busy.
    pub fn log_access(&self, id: RecordId, kind: AccessKind, score: Option<f64>, query: Option<&str>) -> Result<()> {
        self.sync.records.record_access(&[Access { id, kind, score, query, counts: true }], now())
    }

    /// Changes a record; the version before is kept.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Duplicate`] when another record of the scope has the new text.
    pub fn update(&self, id: RecordId, update: &RecordUpdate) -> Result<UpdateOutcome> {
        let record = self.sync.records.update(id, update, now())?;
        let embedding = match self.sync.records.embedding_state(id)? {
            EmbeddingState::Ready => EmbeddingState::Ready,
            EmbeddingState::Pending => self.embed_now(record.context.as_deref(), &record.content),
        };
        self.worker.send(Wake::Written);
        Ok(UpdateOutcome { record, embedding })
    }

    /// Deletes a record. False when there was none.
    pub fn delete(&self, id: RecordId) -> Result<bool> {
        let deleted = self.sync.records.delete(id)?;
        self.worker.send(Wake::Written);
        Ok(deleted)
    }

    /// Searches. A side that is out of use, or a model that cannot be had, is said in the reply, not an error.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds.
    pub fn search(&self, query: &Query) -> Result<SearchReply> {
        query.validate()?;
        let started = Instant::now();
        let vector = (query.mode != Mode::Keyword).then(|| self.query_vector(&query.text));
        let embed_us = started.elapsed().as_micros() as u64;
        let mut reply = self.search_by(query, vector)?;
        reply.explain.embed_us = embed_us;
        reply.explain.total_us += embed_us;
        if self.config.log_searches && !reply.hits.is_empty() {
            let hits = reply.hits.iter().map(|hit| (hit.record.id, hit.score)).collect();
            self.worker.send(Wake::Searched { query: query.text.clone(), hits });
        }
        Ok(reply)
    }

    /// Searches with an embedding that is at hand: what [`Engine::search`] does after the model. `None` searches words
    /// alone, and so does a vector while the model at hand is not the store's.
    ///
    /// # Errors
    /// As [`Engine::search`], and when `vector` has other dimensions than the model.
    pub fn search_with(&self, query: &Query, vector: Option<Vec<f32>>) -> Result<SearchReply> {
        query.validate()?;
        let Some(vector) = vector else { return self.search_by(query, None) };
        let vector = match self.model_of_own_vectors() {
            Ok(Some((_, dims))) if vector.len() != dims => {
                return Err(Error::invalid("embedding", format!("must be {dims} numbers; it has {}", vector.len())));
            }
            Ok(Some((model, _))) => Ok((model, vector)),
            Ok(None) => Err("no embedding model has been used yet".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        self.search_by(query, Some(vector))
    }

    /// The model that vectors of the caller's own are of, and its dimensions: the one at hand, which must be the store's;
    /// without one it is the store's, on the caller's word.
    fn model_of_own_vectors(&self) -> Result<Option<(ModelId, usize)>> {
        let sync = &self.sync;
        let model = if sync.host.is_available() { sync.model_at_hand()? } else { sync.model()? };
        Ok(model.map(|(id, model)| (id, model.dims)))
    }

    /// The vector that [`Engine::search`] would use for this text.
    ///
    /// # Errors
    /// [`Error::NoEmbedder`] and its kin when there is no model.
    pub fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.embed_for_search(text).map(|(_, vector)| vector)
    }

    /// Whether the embedding model is in memory.
    pub fn is_model_loaded(&self) -> bool {
        self.sync.host.is_warm()
    }

    /// Numbers per vector of the store's model, or of the one at hand where the store has none yet.
    ///
    /// # Errors
    /// Those of the model, where it has to be asked.
    pub fn dimensions(&self) -> Result<usize> {
        match self.sync.model()? {
            Some((_, model)) => Ok(model.dims),
            None => Ok(self.sync.host.identity()?.dims),
        }
    }

    fn search_by(&self, query: &Query, vector: Option<QueryVector>) -> Result<SearchReply> {
        // Damage shows where it is read: then the index is taken out of use, and the search goes on without it. Each side
        // may be mended once: one that is found damaged again is done without.
        let mut mended = 0;
        loop {
            if mended < MENDED_AT_MOST {
                self.mend_if_quick()?;
                mended += 1;
            }
            match self.search_once(query, vector.clone()) {
                Err(damaged @ Error::IndexUnusable { .. }) => self.sync.take_out_damaged(damaged)?,
                outcome => return outcome,
            }
        }
    }

    fn search_once(&self, query: &Query, vector: Option<QueryVector>) -> Result<SearchReply> {
        let store = StoreView { sync: &self.sync, tails: &self.tails };
        search::search(&store, query, vector, self.config.weights, now())
    }

    fn query_vector(&self, text: &str) -> QueryVector {
        self.embed_for_search(text).map_err(|error| error.to_string())
    }

    fn embed_for_search(&self, text: &str) -> Result<(ModelId, Vec<f32>)> {
        let (embedder, model) = self.sync.embedder()?;
        Ok((model, embedder.embed_query(text)?))
    }

    /// A small store's index is rebuilt faster than anybody could read the warning that it is missing.
    fn mend_if_quick(&self) -> Result<()> {
        if !self.sync.is_out()? {
            return Ok(());
        }
        // Another process may have rebuilt it.
        self.sync.reopen()?;
        if !self.sync.is_out()? {
            return Ok(());
        }
        if self.config.index_writer
            && self.sync.records.snapshot()?.live_count(now())? <= REBUILD_BEFORE_SEARCH
            && let Some(guard) = self.sync.lock.try_acquire()?
        {
            let mended = self.sync.as_writer(guard, |guard| self.sync.mend(guard, &crate::progress::NoProgress));
            if let Err(error) = mended {
                // The search goes on without that index, and says so.
                tracing::warn!("an index could not be rebuilt: {error}");
            }
        }
        Ok(())
    }

    /// A page of live records by id.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Record>> {
        query.filter.validate()?;
        if query.limit == 0 || query.limit > MAX_LIMIT {
            return Err(Error::invalid("limit", format!("{} is outside 1 to {MAX_LIMIT}", query.limit)));
        }
        self.sync.records.snapshot()?.list(query.after, query.limit, &query.filter, now())
    }

    /// What the store holds.
    pub fn stats(&self) -> Result<Stats> {
        self.sync.records.snapshot()?.stats(now())
    }

    /// How the indexes stand beside the records.
    pub fn index_stats(&self) -> Result<IndexStats> {
        self.sync.reopen()?;
        Ok(IndexStats {
            vectors: self.sync.vector_snapshot()?.map_or(0, |index| index.len()),
            documents: self.sync.keyword_snapshot()?.map_or(0, |index| index.len()),
            unapplied: self.sync.unapplied()?,
            model: self.sync.model()?.map(|(_, model)| model.name),
        })
    }

    /// Finds the model, or fetches it where that is allowed, and loads it. `announce` is told before anything is
    /// fetched.
    pub fn prepare_model(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<()> {
        self.sync.host.prepare(announce, progress).map(drop)
    }

    /// Embeds every record that waits for it, with progress. Returns how many texts this call embedded: while another
    /// process does the work, this one waits for it.
    pub fn embed_pending(&self, progress: &dyn Progress) -> Result<u64> {
        if self.sync.pending_count()? == 0 {
            return Ok(0);
        }
        let done_by_others = || Ok(progress.cancelled() || self.sync.pending_count()? == 0);
        let Some(guard) = self.sync.lock.acquire_unless(done_by_others)? else { return Ok(0) };
        self.sync.as_writer(guard, |guard| self.sync.embed_backlog(guard, progress))
    }

    /// Applies what was written before this call to both indexes, rebuilds one that is out of use, and merges what is
    /// worth merging. While another process does it, this one waits.
    pub fn flush(&self, progress: &dyn Progress) -> Result<()> {
        let done_by_others = || {
            self.sync.reopen()?;
            Ok(progress.cancelled() || (!self.sync.is_out()? && self.sync.unapplied()? == 0))
        };
        let Some(guard) = self.sync.lock.acquire_unless(done_by_others)? else { return Ok(()) };
        self.sync.as_writer(guard, |guard| {
            self.sync.mend(guard, progress)?;
            progress.start("indexing", Some(self.sync.unapplied()?));
            let applied = self.sync.catch_up(guard, progress);
            progress.finish();
            applied?;
            self.sync.maintain(guard, progress)
        })
    }

    /// Builds both indexes anew from the records, beside the old ones, and swaps them in. Nothing is embedded again.
    pub fn rebuild(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        let started = Instant::now();
        let (documents, vectors) = self.rebuild_sides(true, true, progress)?;
        Ok(RebuildReport { vectors, documents, millis: started.elapsed().as_millis() as u64 })
    }

    fn rebuild_sides(&self, keywords: bool, vectors: bool, progress: &dyn Progress) -> Result<(u64, u64)> {
        let cancelled = || if progress.cancelled() { Err(Error::Cancelled) } else { Ok(false) };
        let Some(guard) = self.sync.lock.acquire_unless(cancelled)? else { return Err(Error::Cancelled) };
        self.sync.as_writer(guard, |guard| {
            let documents = if keywords { self.sync.rebuild_keywords(guard, progress)? } else { 0 };
            let vectors = if vectors { self.sync.rebuild_vectors(guard, progress)? } else { 0 };
            Ok((documents, vectors))
        })
    }

    /// Makes the model at hand the store's: embeds every text anew beside the embeddings in use, which serve until the last
    /// is done, here and in other processes; then the new ones take their place at once. Interrupted, the next call goes
    /// on from where it was. Processes that are open with another model search words alone from then on.
    ///
    /// # Errors
    /// [`Error::NoEmbedder`] without a model; [`Error::Cancelled`]; [`Error::ModelMismatch`] when another process has
    /// begun the change to a third model meanwhile.
    pub fn reembed(&self, progress: &dyn Progress) -> Result<ReembedReport> {
        let started = Instant::now();
        let done = self.sync.reembed(progress)?;
        Ok(ReembedReport {
            before: done.before.map(|model| model.name),
            model: self.sync.model()?.map(|(_, model)| model.name),
            changed: done.changed,
            embedded: done.texts,
            millis: started.elapsed().as_millis() as u64,
        })
    }

    /// Proves that records, vectors and keywords agree; with `repair`, rebuilds the index that does not. A database that
    /// is damaged itself cannot be mended while it is open: see [`examine`].
    pub fn doctor(&self, repair: bool, progress: &dyn Progress) -> Result<Diagnosis> {
        let diagnosis = doctor::examine(&self.sync, progress)?;
        let [keywords, vectors] = [doctor::KEYWORDS, doctor::VECTORS].map(|name| repair && diagnosis.has_failed(name));
        if !keywords && !vectors {
            return Ok(diagnosis);
        }
        self.rebuild_sides(keywords, vectors, progress)?;
        doctor::examine(&self.sync, progress)
    }

    /// Measures the vector search on the store's own vectors: recall against an exact scan, and latency, along a ladder
    /// of efforts and for every quality that has a name. Others may use the store meanwhile.
    ///
    /// # Errors
    /// [`Error::NothingToMeasure`] without memories or without vectors, [`Error::Invalid`] when there are too few;
    /// [`Error::IndexUnusable`]; [`Error::Cancelled`].
    pub fn bench_vectors(&self, options: &BenchOptions, progress: &dyn Progress) -> Result<VectorBench> {
        bench::bench(&self.sync, options, progress)
    }

    /// Copies all records, versions and embeddings, as they are at one moment, into one file, while others read and write.
    /// The file appears whole or not at all, and takes the place of one of that name. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written.
    pub fn back_up(&self, to: &Path, progress: &dyn Progress) -> Result<u64> {
        self.sync.records.back_up(to, progress)
    }

    /// Finishes the background work in hand, and ends it. Dropping an engine does the same.
    pub fn close(self) {}

    /// Embeds a text that was just saved, if that is quick. When it fails, the text waits for the worker.
    fn embed_now(&self, context: Option<&str>, content: &str) -> EmbeddingState {
        let hash = text::embedding_hash(context, content);
        match self.sync.embed_now(hash, &text::embedding_text(context, content)) {
            Ok(true) => EmbeddingState::Ready,
            Ok(false) => EmbeddingState::Pending,
            Err(error) => {
                tracing::debug!("not embedded at once: {error}");
                EmbeddingState::Pending
            }
        }
    }
}

/// What [`Engine::doctor`] does, also for a store whose database is damaged, even so that [`Engine::open`] refuses it:
/// says what can be saved of it, and with `repair` saves it into a new database, which takes the place of the damaged
/// one. That one is kept beside it.
///
/// # Errors
/// Those of [`Engine::open`] when the database is none of ours, or not even its header can be read; [`Error::Store`] when
/// a repair finds the store open elsewhere.
pub fn examine(root: impl Into<PathBuf>, config: Config, repair: bool, progress: &dyn Progress) -> Result<Diagnosis> {
    let paths = StorePaths::new(root);
    let mut damage = match Engine::open(paths.root(), config.clone()) {
        Ok(engine) => engine.doctor(repair, progress)?,
        Err(error @ (Error::Database { .. } | Error::Sqlite(_))) => Diagnosis::of_unusable_database(&error),
        Err(error) => return Err(error),
    };
    if !damage.has_failed(doctor::DATABASE) {
        return Ok(damage);
    }
    if !repair {
        damage.salvage = Some(records::survey(&paths, progress)?);
        return Ok(damage);
    }
    let salvage = records::salvage(&paths, progress)?;
    let engine = Engine::open(paths.root(), config)?;
    engine.flush(progress)?;
    Ok(Diagnosis { salvage: Some(salvage), ..engine.doctor(false, progress)? })
}

/// Makes the store in the folder `root`, which must have none yet, from a file that [`Engine::back_up`] has written. The
/// indexes are built when it is opened.
///
/// # Errors
/// [`Error::Database`] when the file is no backup or damaged, [`Error::Store`] when there is a store already.
pub fn restore(from: &Path, root: impl Into<PathBuf>, progress: &dyn Progress) -> Result<()> {
    records::restore(from, &StorePaths::new(root), progress)
}

/// Finds or fetches the embedding model and its library, and checks them. Needs no store.
///
/// # Errors
/// [`Error::Provision`] says what is missing and the ways to provide it.
pub fn setup(config: &Config, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<SetupReport> {
    let provision = Provision::new(config)?;
    let before = provision.locate()?.is_some();
    let files = provision.ensure(announce, progress)?;
    // Loading it is the proof that it works on this machine.
    let embedder = ModelHost::new(config)?.prepare(announce, progress)?;
    let identity = embedder.identity();
    Ok(SetupReport {
        model: identity.name.clone(),
        dims: identity.dims,
        folder: files.model.parent().map(PathBuf::from).unwrap_or_default(),
        library: files.library.clone(),
        fetched: !before,
    })
}
