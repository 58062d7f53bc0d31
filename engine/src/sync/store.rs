//! An opened store: the records, the indexes at hand, and the model.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::lock::WriterLock;
use super::side::Side;
use crate::config::{Backend, Config};
use crate::embed::ModelHost;
use crate::error::{Error, Result};
use crate::keywords::{self, KeywordIndex, KeywordSnapshot, TantivyIndex};
use crate::paths::StorePaths;
use crate::records::{Model, ModelId, Records};
use crate::types::{Millis, Seq};
use crate::vectors::exact::ExactIndex;
use crate::vectors::hnsw::HnswIndex;
use crate::vectors::{VectorIndex, VectorSnapshot};

/// A store that has seen no more changes is searched without indexes until they are made.
const SEARCHED_WITHOUT_INDEX: Seq = 5_000;

/// The records, their two indexes and the model: what has to be kept in step.
pub struct Sync {
    /// The truth.
    pub records: Records,
    /// The vector side.
    pub vectors: Side<dyn VectorIndex>,
    /// The keyword side.
    pub keywords: Side<dyn KeywordIndex>,
    /// The embedding model, loaded at need.
    pub host: ModelHost,
    /// The index-writer lock.
    pub lock: WriterLock,
    pub(super) paths: StorePaths,
    pub(super) config: Config,
}

impl Sync {
    /// Opens the store: the records, and whatever of the indexes can be opened. Neither is read whole.
    pub fn open(paths: StorePaths, mut config: Config, host: ModelHost) -> Result<Self> {
        let records = Records::open(&paths)?;
        config.index_writer &= records.can_write();
        let sync = Sync {
            lock: WriterLock::new(paths.writer_lock()),
            vectors: Side::out("not opened yet"),
            keywords: Side::out("not opened yet"),
            host,
            records,
            paths,
            config,
        };
        sync.reopen()?;
        Ok(sync)
    }

    /// Opens the sides that are out of use, for another process may have rebuilt them, and the vectors when they are not
    /// those of the store's model any more.
    pub fn reopen(&self) -> Result<()> {
        if self.keywords.may_open(&self.paths.keywords()) {
            let open = || self.open_keywords().map_err(|error| self.if_out_of_reach("keyword", error));
            self.keywords.open(&self.paths.keywords(), open)?;
        }
        if self.vectors.may_open(&self.paths.vectors()) || self.has_other_vectors()? {
            let open = || self.open_vectors().map_err(|error| self.if_out_of_reach("vector", error));
            self.vectors.open(&self.paths.vectors(), open)?;
        }
        Ok(())
    }

    /// Where the store cannot be written, an index whose files cannot be read is out of use and no failure: its owner
    /// writes files that nobody else may read.
    pub fn if_out_of_reach(&self, index: &'static str, error: Error) -> Error {
        match error {
            Error::Io { .. } | Error::Keywords(_) | Error::Vectors(_) if !self.records.can_write() => {
                Error::IndexUnusable { index, why: error.to_string() }
            }
            other => other,
        }
    }

    /// Whether the vector index at hand is of another model than the store's.
    fn has_other_vectors(&self) -> Result<bool> {
        let Ok(index) = self.vectors.get() else { return Ok(false) };
        Ok(!self.model()?.is_some_and(|(_, model)| is_of(&*index, &model)))
    }

    pub(super) fn open_keywords(&self) -> Result<Arc<dyn KeywordIndex>> {
        let folder = self.paths.keywords();
        let index = TantivyIndex::open(&folder, self.records.lineage())?;
        self.refuse_if_ahead("keyword", &folder, index.snapshot()?.applied())?;
        Ok(Arc::new(index))
    }

    /// An index that knows of changes which the records do not was made from another `memory.db`: that was replaced, by
    /// an older copy say. It is removed, for the records will come to its number again, with other changes.
    fn refuse_if_ahead(&self, index: &'static str, folder: &Path, applied: Seq) -> Result<()> {
        if applied <= self.records.head()? {
            return Ok(());
        }
        // Whoever holds the lock instead finds the same, and removes it.
        if self.records.can_write()
            && let Some(guard) = self.lock.try_acquire()?
        {
            self.discard(&guard, folder)?;
        }
        Err(Error::IndexUnusable { index, why: "it is ahead of the records: memory.db was replaced".into() })
    }

    /// An empty vector index in the place of one that was never made, while the log still has all that belongs into it:
    /// that is searched exactly then, and nothing is missing.
    pub fn unmade_vectors(&self) -> Result<Option<Arc<dyn VectorIndex>>> {
        match self.model()? {
            Some((_, model)) if self.is_unmade(&self.paths.vectors())? => {
                Ok(Some(Arc::new(ExactIndex::new(&identity(&model)))))
            }
            _ => Ok(None),
        }
    }

    /// The same of the keyword index.
    pub fn unmade_keywords(&self) -> Result<Option<Arc<dyn KeywordSnapshot>>> {
        let is_unmade = self.is_unmade(&self.paths.keywords())?;
        is_unmade.then(keywords::nothing).transpose()
    }

    pub(super) fn is_unmade(&self, folder: &Path) -> Result<bool> {
        if folder.exists() {
            return Ok(false);
        }
        let records = self.records.snapshot()?;
        let is_logged = match (records.trimmed_to(), records.head()) {
            // Of a damaged database the log may be lost, and the records saved.
            (0, 0) => records.live_count(Millis::MIN)? == 0,
            (trimmed_to, head) => trimmed_to == 0 && head <= SEARCHED_WITHOUT_INDEX,
        };
        Ok(is_logged)
    }

    pub(super) fn open_vectors(&self) -> Result<Arc<dyn VectorIndex>> {
        let Some((id, model)) = self.model()? else {
            return Err(Error::IndexUnusable { index: "vector", why: "no embedding model has been used yet".into() });
        };
        match self.config.backend {
            Backend::Hnsw => {
                let folder = self.paths.vectors();
                let index = HnswIndex::open(&folder, self.records.lineage(), &identity(&model), model.dims)?;
                self.refuse_if_ahead("vector", &folder, index.snapshot()?.applied())?;
                Ok(Arc::new(index))
            }
            Backend::Exact => self.filled(Arc::new(ExactIndex::new(&identity(&model))), id),
            #[cfg(feature = "hnsw-rs")]
            Backend::HnswRs => self.filled(Arc::new(crate::vectors::hnsw_rs::HnswRsIndex::new(&identity(&model))), id),
        }
    }

    /// The model that the store's vectors were made by, as it is now: any process may change it.
    pub fn model(&self) -> Result<Option<(ModelId, Model)>> {
        self.records.current_model()
    }

    /// The newest view of the vector index; `None` while it is out of use.
    pub fn vector_snapshot(&self) -> Result<Option<Arc<dyn VectorSnapshot>>> {
        self.in_use(self.vectors.get().ok().map(|index| index.snapshot()))
    }

    /// The newest view of the keyword index; `None` while it is out of use.
    pub fn keyword_snapshot(&self) -> Result<Option<Arc<dyn KeywordSnapshot>>> {
        self.in_use(self.keywords.get().ok().map(|index| index.snapshot()))
    }

    /// How far the two indexes have applied the log: vectors, keywords. `None` for one that is out of use.
    pub fn applied(&self) -> Result<(Option<Seq>, Option<Seq>)> {
        let (vectors, keywords) = (self.vector_snapshot()?, self.keyword_snapshot()?);
        Ok((vectors.map(|snapshot| snapshot.applied()), keywords.map(|snapshot| snapshot.applied())))
    }

    /// What an index said, or nothing when it turns out to be damaged.
    pub(super) fn in_use<T>(&self, outcome: Option<Result<T>>) -> Result<Option<T>> {
        match outcome {
            Some(Err(error)) => self.take_out_damaged(error).map(|()| None),
            Some(Ok(value)) => Ok(Some(value)),
            None => Ok(None),
        }
    }

    /// Takes an index out of use whose files turn out to be damaged: what is applied to such an index, or merged from it,
    /// would pass for sound.
    pub fn take_out_unless_sound(&self) -> Result<()> {
        let vectors = self.vectors.get().ok().map(|index| index.snapshot()?.is_checked(Duration::MAX));
        self.in_use(vectors)?;
        let keywords = self.keywords.get().ok().map(|index| index.snapshot()?.is_checked(Duration::MAX));
        self.in_use(keywords).map(drop)
    }

    /// Takes a damaged index out of use, until it is rebuilt. Other errors are given back.
    pub fn take_out_damaged(&self, error: Error) -> Result<()> {
        let Error::IndexUnusable { index, why } = error else { return Err(error) };
        let was_in_use = match index {
            "keyword" => self.keywords.take_out(&why),
            _ => self.vectors.take_out(&why),
        };
        if was_in_use {
            tracing::warn!("the {index} index is out of use until it is rebuilt: {why}");
        }
        Ok(())
    }

    /// The settings that the store was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether an index is out of use that should be there.
    pub fn is_out(&self) -> Result<bool> {
        Ok(self.keywords.is_out() || (self.vectors.is_out() && self.model()?.is_some()))
    }

    /// Log entries that an index which is at hand has not applied.
    pub fn unapplied(&self) -> Result<u64> {
        let (vectors, keywords) = self.applied()?;
        let head = self.records.head()?;
        Ok([vectors, keywords].into_iter().flatten().map(|applied| head.saturating_sub(applied)).max().unwrap_or(0))
    }
}

/// Whether the vectors of `index` are of this model.
pub fn is_of(index: &dyn VectorIndex, model: &Model) -> bool {
    index.model() == identity(model)
}

/// What a vector index keeps of its model: enough to refuse another's vectors.
pub(super) fn identity(model: &Model) -> String {
    format!("{}|{}|{}", model.weights_sha256, model.pooling, model.dims)
}
