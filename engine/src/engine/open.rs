//! [`Engine`]: opening a store and closing it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::Config;
use crate::embed::{Embedder, ModelHost};
use crate::error::Result;
use crate::paths::StorePaths;
use crate::search::{HiddenCache, TailCache};
use crate::sync::{Sync, Worker};

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
    pub(super) worker: Worker,
    pub(super) sync: Arc<Sync>,
    pub(super) tails: TailCache,
    pub(super) hidden: HiddenCache,
    pub(super) config: Config,
}

impl Engine {
    /// Opens the store in the folder `root`, and makes it when it is missing. Returns at once: indexes are opened by
    /// mapping, and a background thread replays, rebuilds and embeds what is missing.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when the folder cannot be used, [`Error::Database`](crate::Error::Database) when `memory.db` is not ours to read.
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
        Ok(Engine { worker, sync, tails: TailCache::default(), hidden: HiddenCache::default(), config })
    }

    /// Finishes the background work in hand, and ends it. Dropping an engine does the same.
    pub fn close(self) {}
}
