//! An opened store: the records, the available indexes, and the model.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use memorist_embed::{ModelHost, ModelIdentity, ModelSettings, ModelSource, NamedModel};
use parking_lot::Mutex;

#[cfg(feature = "postgres")]
use super::image_files;
use super::index_slot::IndexSlot;
use super::lock::{EmbeddingLock, WriterLock};
#[cfg(not(feature = "postgres"))]
use crate::address::no_client;
use crate::config::{Backend, Config, TeamSettings};
use crate::error::{Error, IndexKind, Result};
use crate::keywords::{self, KeywordIndex, KeywordSnapshot, TantivyIndex};
use crate::map::Keeper;
use crate::paths::StorePaths;
use crate::records::{Model, ModelId, Records};
use crate::scale::CosineScale;
use crate::sensitive::without_secrets;
use crate::types::{Millis, Seq};
use crate::vectors::exact::ExactIndex;
use crate::vectors::hnsw::HnswIndex;
use crate::vectors::{VectorIndex, VectorSnapshot};

/// A store with no more changes than this is searched without indexes until they are built.
const SEARCHED_WITHOUT_INDEX: u64 = 5_000;

/// The records, their two indexes and the model, which have to be kept in step.
pub struct Store {
    /// The source of truth.
    pub records: Records,
    /// The vector index.
    pub vectors: IndexSlot<dyn VectorIndex>,
    /// The keyword index.
    pub keywords: IndexSlot<dyn KeywordIndex>,
    /// The embedding model, loaded on demand.
    pub host: ModelHost,
    /// Another, for a store whose vectors are its own.
    pub fallback: Option<ModelHost>,
    /// The index-writer lock.
    pub lock: WriterLock,
    /// The lock of those who embed with a model that is not quick.
    pub embedding: EmbeddingLock,
    /// The lock of the batch jobs: one process asks about them.
    pub jobs_lock: WriterLock,
    /// The map of all records.
    pub map: Keeper,
    pub(super) scale: Mutex<Option<KnownScale>>,
    /// The scale of the last search, and its model.
    pub(super) last_scale: Mutex<Option<LastScale>>,
    /// Whether a save was embedded at once since the model was last looked at in the background.
    pub(super) has_embedded: AtomicBool,
    /// When nothing could be embedded: the head of the log, and the batch jobs.
    pub(super) nothing_to_embed: Mutex<Option<(Seq, usize)>>,
    pub paths: StorePaths,
    pub(super) config: Config,
}

/// The scale of a model that a search found last.
pub(super) struct LastScale {
    pub(super) model: ModelId,
    pub(super) scale: ModelScale,
    pub(super) looked_at: Instant,
}

/// The scale of a model, as far as a search knows it.
#[derive(Debug, Clone)]
pub(super) enum ModelScale {
    Known(Arc<CosineScale>),
    /// Another thread measures it.
    Measuring,
    /// It was not measured, or could not be.
    Unknown,
}

/// The scale as this process knows it.
#[derive(Debug, Clone)]
pub(super) enum KnownScale {
    /// The scale of the model that it names.
    Scale(Arc<CosineScale>),
    /// This model could not be measured.
    Failed(String),
}

/// Opens a node of a team. A new one begins with an image, if one was left for it.
#[cfg(feature = "postgres")]
fn open_node(paths: &StorePaths, team: &TeamSettings) -> Result<Records> {
    if let Some(images) = team.images.as_deref().filter(|_| !paths.database().exists()) {
        // Without the server, or without an image, the node fills itself when it can.
        let taken = Records::team_id_at(&team.address).and_then(|store_id| image_files::take(paths, images, &store_id));
        if let Err(error) = taken {
            tracing::warn!("no base backup was used: {error}");
        }
    }
    Records::open_node(paths, team)
}

#[cfg(not(feature = "postgres"))]
fn open_node(_paths: &StorePaths, _team: &TeamSettings) -> Result<Records> {
    Err(no_client())
}

/// The identity of a model as stored in the records.
pub(super) fn as_stored(identity: &ModelIdentity) -> Model {
    Model {
        // The fields below distinguish models.
        name: without_secrets(&identity.name),
        weights_sha256: identity.weights_sha256.clone(),
        pooling: identity.pooling.clone(),
        dims: identity.dims,
    }
}

/// The model that embeds: the configured one; by default, the model behind the store's vectors, if it has a name.
fn source_for(records: &Records, configured: ModelSource) -> Result<ModelSource> {
    if configured != ModelSource::Default {
        return Ok(configured);
    }
    let Some((_, stored)) = records.current_model()? else { return Ok(configured) };
    let is_its = |model: &NamedModel| as_stored(&model.identity()).is_comparable_to(&stored);
    Ok(NamedModel::ALL.into_iter().find(is_its).map_or(configured, ModelSource::Named))
}

impl Store {
    /// Opens the store: the records, and the indexes that can be opened. No file is read completely. Without a `host`, the model
    /// is that of the settings; where these name none, that of the store's vectors, if it has a name.
    pub fn open(paths: StorePaths, mut config: Config, host: Option<ModelHost>) -> Result<Self> {
        let records = match &config.team {
            Some(team) => open_node(&paths, team)?,
            None => Records::open(&paths)?,
        };
        config.index_writer &= records.can_write();
        let host = match host {
            Some(host) => host,
            None => {
                config.model.source = source_for(&records, config.model.source)?;
                ModelHost::new(&config.model)?
            }
        };
        let fallback = config.model.fallback.clone();
        let fallback = fallback.map(|source| ModelHost::new(&ModelSettings { source, ..config.model.clone() }));
        let store = Store {
            lock: WriterLock::new(paths.writer_lock()),
            embedding: EmbeddingLock::new(paths.embedding_lock()),
            jobs_lock: WriterLock::new(paths.jobs_lock()),
            map: Keeper::new(paths.map(), records.lineage(), records.can_write(), config.index_writer),
            scale: Mutex::default(),
            last_scale: Mutex::default(),
            has_embedded: AtomicBool::default(),
            nothing_to_embed: Mutex::default(),
            vectors: IndexSlot::unusable("not opened yet"),
            keywords: IndexSlot::unusable("not opened yet"),
            host,
            fallback: fallback.transpose()?,
            records,
            paths,
            config,
        };
        store.reopen()?;
        Ok(store)
    }

    /// Opens the unusable indexes, as another process may have rebuilt them, and the vectors if they are not those of
    /// the store's model any longer.
    pub fn reopen(&self) -> Result<()> {
        if self.keywords.may_open(&self.paths.keywords()) {
            let open = || self.open_keywords().map_err(|error| self.unusable_if_unreadable(IndexKind::Keyword, error));
            self.keywords.open(&self.paths.keywords(), open)?;
        }
        if self.vectors.may_open(&self.paths.vectors()) || self.has_other_vectors()? {
            let open = || self.open_vectors().map_err(|error| self.unusable_if_unreadable(IndexKind::Vector, error));
            self.vectors.open(&self.paths.vectors(), open)?;
        }
        Ok(())
    }

    /// In a read-only store, an index whose files cannot be read is unusable rather than an error: its owner's files
    /// may be private.
    pub fn unusable_if_unreadable(&self, index: IndexKind, error: Error) -> Error {
        match error {
            Error::Io { .. } | Error::IndexFailed { .. } if !self.records.can_write() => {
                Error::IndexUnusable { index, why: error.to_string() }
            }
            other => other,
        }
    }

    /// Whether the open vector index belongs to another model than the store's.
    fn has_other_vectors(&self) -> Result<bool> {
        let Ok(index) = self.vectors.get() else { return Ok(false) };
        Ok(!self.model()?.is_some_and(|(_, model)| has_model(&*index, &model)))
    }

    pub(super) fn open_keywords(&self) -> Result<Arc<dyn KeywordIndex>> {
        let folder = self.paths.keywords();
        let index = TantivyIndex::open(&folder, self.records.lineage())?;
        self.refuse_if_ahead(IndexKind::Keyword, &folder, index.snapshot()?.applied())?;
        Ok(Arc::new(index))
    }

    /// An index that knows of changes which the records lack was built from another `memory.db`, which has been
    /// replaced, for instance by an older copy. It is removed, because the records will reach its number again, with
    /// other changes.
    fn refuse_if_ahead(&self, index: IndexKind, folder: &Path, applied: Seq) -> Result<()> {
        if applied <= self.records.head()? {
            return Ok(());
        }
        // Another holder of the lock would find the same, and remove it.
        if self.records.can_write()
            && let Some(guard) = self.lock.try_acquire()?
        {
            self.discard(&guard, folder)?;
        }
        Err(Error::IndexUnusable { index, why: "it is ahead of the records: memory.db was replaced".into() })
    }

    /// An empty vector index if none was ever built and the log still has everything that belongs into it. The tail is
    /// searched exactly then, and nothing is missing.
    pub fn unbuilt_vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        match self.model()? {
            Some((_, model)) if self.is_unbuilt(&self.paths.vectors())? => {
                Ok(Some(Arc::new(ExactIndex::new(&identity(&model)))))
            }
            _ => Ok(None),
        }
    }

    /// An empty keyword index under the same conditions.
    pub fn unbuilt_keywords(&self) -> Result<Option<Arc<dyn KeywordSnapshot>>> {
        let is_unbuilt = self.is_unbuilt(&self.paths.keywords())?;
        is_unbuilt.then(keywords::empty_snapshot).transpose()
    }

    pub(super) fn is_unbuilt(&self, folder: &Path) -> Result<bool> {
        if folder.exists() {
            return Ok(false);
        }
        let records = self.records.copy().snapshot()?;
        let is_logged = match (records.trimmed_to(), records.head()) {
            // A damaged database may have lost its log, and kept its records.
            (Seq::START, Seq::START) => records.live_count(Millis::MIN)? == 0,
            (trimmed_to, head) => trimmed_to == Seq::START && head.get() <= SEARCHED_WITHOUT_INDEX,
        };
        Ok(is_logged)
    }

    pub(super) fn open_vectors(&self) -> Result<Arc<dyn VectorIndex>> {
        let Some((id, model)) = self.model()? else {
            return Err(Error::IndexUnusable {
                index: IndexKind::Vector,
                why: "no embedding model has been used yet".into(),
            });
        };
        match self.config.backend {
            Backend::Hnsw | Backend::HnswCompact => {
                let folder = self.paths.vectors();
                let index = HnswIndex::open(&folder, self.records.lineage(), &identity(&model), model.dims)?;
                self.refuse_if_ahead(IndexKind::Vector, &folder, index.snapshot()?.applied())?;
                Ok(Arc::new(index))
            }
            Backend::Exact => self.filled(Arc::new(ExactIndex::new(&identity(&model))), id),
            #[cfg(feature = "hnsw-rs")]
            Backend::HnswRs => self.filled(Arc::new(crate::vectors::hnsw_rs::HnswRsIndex::new(&identity(&model))), id),
        }
    }

    /// The current model of the store's vectors: any process may change it.
    pub fn model(&self) -> Result<Option<(ModelId, Model)>> {
        self.records.current_model()
    }

    /// The newest snapshot of the vector index; `None` while it is unusable.
    pub fn vector_snapshot(&self) -> Result<Option<Arc<dyn VectorSnapshot>>> {
        self.in_use(self.vectors.get().ok().map(|index| index.snapshot()))
    }

    /// The newest snapshot of the keyword index; `None` while it is unusable.
    pub fn keyword_snapshot(&self) -> Result<Option<Arc<dyn KeywordSnapshot>>> {
        self.in_use(self.keywords.get().ok().map(|index| index.snapshot()))
    }

    /// How far the two indexes have applied the log: vectors, keywords. `None` for an unusable one.
    pub fn applied(&self) -> Result<(Option<Seq>, Option<Seq>)> {
        let (vectors, keywords) = (self.vector_snapshot()?, self.keyword_snapshot()?);
        Ok((vectors.map(|snapshot| snapshot.applied()), keywords.map(|snapshot| snapshot.applied())))
    }

    /// The value of an outcome; `None` if the index turns out to be damaged.
    pub(super) fn in_use<T>(&self, outcome: Option<Result<T>>) -> Result<Option<T>> {
        match outcome {
            Some(Err(error)) => self.mark_unusable(error).map(|()| None),
            Some(Ok(value)) => Ok(Some(value)),
            None => Ok(None),
        }
    }

    /// Marks indexes with damaged files as unusable: what is applied to such an index, or merged from it, would look
    /// intact.
    pub fn mark_damaged_indexes(&self) -> Result<()> {
        let vectors = self.vectors.get().ok().map(|index| index.snapshot()?.wait_verified(Duration::MAX));
        self.in_use(vectors)?;
        let keywords = self.keywords.get().ok().map(|index| index.snapshot()?.wait_verified(Duration::MAX));
        self.in_use(keywords).map(drop)
    }

    /// Marks a damaged index as unusable, until it is rebuilt. Returns other errors.
    pub fn mark_unusable(&self, error: Error) -> Result<()> {
        let Error::IndexUnusable { index, why } = error else { return Err(error) };
        let was_in_use = match index {
            IndexKind::Keyword => self.keywords.mark_unusable(&why),
            IndexKind::Vector => self.vectors.mark_unusable(&why),
        };
        if was_in_use {
            tracing::warn!("the {index} index is out of use until it is rebuilt: {why}");
        }
        Ok(())
    }

    /// The present time, by the clock of the settings; on a node of a team, by that of its server.
    pub fn now(&self) -> Millis {
        self.config.clock.now().saturating_add(self.records.clock_ahead())
    }

    /// The settings that the store was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether an index is unusable that should be there.
    pub fn has_unusable_index(&self) -> Result<bool> {
        Ok(self.keywords.is_unusable() || (self.vectors.is_unusable() && self.model()?.is_some()))
    }

    /// Log entries that an open index has not applied.
    pub fn unapplied(&self) -> Result<u64> {
        let (vectors, keywords) = self.applied()?;
        let head = self.records.head()?;
        Ok([vectors, keywords].into_iter().flatten().map(|applied| head.since(applied)).max().unwrap_or(0))
    }
}

/// Whether the vectors of `index` are of this model.
pub fn has_model(index: &dyn VectorIndex, model: &Model) -> bool {
    index.model() == identity(model)
}

/// The identity of a model in its vector index: enough to refuse another's vectors.
pub fn identity(model: &Model) -> String {
    format!("{}|{}|{}", model.weights_sha256, model.pooling, model.dims)
}
