//! [`Engine`]: opening a store and closing it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memorist_embed::{Embedder, Loader, ModelHost, Reranker, RerankerHost};
use parking_lot::Mutex;

use crate::config::{Config, ModelSource};
use crate::error::Result;
use crate::paths::StorePaths;
use crate::search::{SearchSets, TailCache};
use crate::sync::{Store, Worker};
use crate::types::RecordId;

/// The memories that sessions were reminded of, each with its version.
pub(super) type Reminded = HashMap<String, HashMap<RecordId, i64>>;

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
    pub(super) store: Arc<Store>,
    pub(super) tails: TailCache,
    pub(super) sets: SearchSets,
    pub(super) reranker: RerankerHost,
    /// Whether a search has waited in vain for an index that another thread or process may be rebuilding.
    pub(super) is_rebuild_late: AtomicBool,
    /// The memories that sessions were reminded of, where the store can only be read.
    pub(super) reminded: Mutex<Reminded>,
    pub(super) config: Config,
}

impl Engine {
    /// Opens the store in the folder `root`, and creates it if it is missing. Returns at once: indexes are
    /// memory-mapped, and a background thread replays, rebuilds and embeds what is missing.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when the folder cannot be used, [`Error::Database`](crate::Error::Database)
    /// when `memory.db` is not ours to read.
    pub fn open(root: impl Into<PathBuf>, config: Config) -> Result<Engine> {
        let host = match config.model.source {
            // The store may say which.
            ModelSource::Default => None,
            _ => Some(ModelHost::new(&config.model)?),
        };
        Self::open_with(root, config, host)
    }

    /// Opens a store with a custom embedder.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_with_embedder(root: impl Into<PathBuf>, config: Config, embedder: Arc<dyn Embedder>) -> Result<Engine> {
        Self::open_with(root, config, Some(ModelHost::ready(embedder)))
    }

    /// Opens a store with a custom model that is loaded on first use, and released after
    /// [`ModelSettings::idle`](crate::config::ModelSettings::idle) without use.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_with_loader(root: impl Into<PathBuf>, config: Config, loader: Box<dyn Loader>) -> Result<Engine> {
        let host = ModelHost::loaded_by(loader, config.model.idle);
        Self::open_with(root, config, Some(host))
    }

    fn open_with(root: impl Into<PathBuf>, config: Config, host: Option<ModelHost>) -> Result<Engine> {
        let store = Arc::new(Store::open(StorePaths::new(root), config.clone(), host)?);
        let worker = Worker::start(store.clone())?;
        let (tails, sets) = (TailCache::default(), SearchSets::default());
        let reranker = RerankerHost::new(&config.model);
        Ok(Engine {
            worker,
            store,
            tails,
            sets,
            reranker,
            is_rebuild_late: AtomicBool::new(false),
            reminded: Mutex::default(),
            config,
        })
    }

    /// The engine with a custom reranker, instead of the one that is set up on this machine.
    #[must_use]
    pub fn with_reranker(self, reranker: Arc<dyn Reranker>) -> Engine {
        Engine { reranker: RerankerHost::ready(reranker), ..self }
    }

    /// Finishes the current background work and stops it. Dropping an engine does the same.
    pub fn close(self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::ErrorKind;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::paths::StorePaths;
    use crate::progress::NoProgress;
    use crate::types::{Filter, NewRecord, Query, Viewer};

    const STORE: &str = "MEMORIST_TEST_READ_ONLY_STORE";
    const NOBODY: u32 = 65534;

    fn words_only() -> Config {
        Config::without_model()
    }

    #[test]
    #[ignore = "the next runs it in a process that cannot write"]
    fn a_read_only_process_searches_and_refuses_writes() {
        let Some(folder) = std::env::var_os(STORE) else { return };
        let engine = Engine::open(&folder, words_only()).unwrap();
        let hits = || engine.search(&Query::new("harbour office")).unwrap().hits;
        assert_eq!(hits().len(), 10);
        assert_eq!(hits()[0].matched_by.len(), 1, "found by words, not by letters");
        assert_eq!(engine.stats(&Filter::default()).unwrap().total, 30);
        assert_eq!(engine.viewed_by(&Viewer::OWNER).access(7.into()).unwrap().access_count, 0);
        let refused = [
            engine.add(&NewRecord::new("more")).map(drop),
            engine.viewed_by(&Viewer::OWNER).delete(7.into()).map(drop),
            engine.rebuild(&NoProgress).map(drop),
        ];
        for outcome in refused {
            let said = outcome.unwrap_err().to_string();
            assert!(said.contains("can only be read") && said.contains("writable"), "{said}");
        }
        assert_eq!((engine.embed_pending(&NoProgress).unwrap(), engine.flush(&NoProgress).unwrap()), (0, ()));
    }

    fn set_modes(folder: &Path, folders: u32, files: u32) {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => set_modes(&path, folders, files),
                false => fs::set_permissions(&path, Permissions::from_mode(files)).unwrap(),
            }
        }
        fs::set_permissions(folder, Permissions::from_mode(folders)).unwrap();
    }

    /// Nothing is forbidden to root: if the tests run as root, the other process runs as `nobody`.
    #[test]
    fn a_read_only_store_is_searched_with_or_without_indexes() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let paths = StorePaths::new(folder.path().join("store"));
        let engine = Engine::open(paths.root(), words_only()).unwrap();
        for at in 0..30 {
            engine.add(&NewRecord::new(format!("The harbour office {at} opens at nine"))).unwrap();
        }
        engine.flush(&NoProgress).unwrap();
        engine.close();
        let program = folder.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o555)).unwrap();
        let names = || fs::read_dir(paths.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        for step in ["with indexes", "without", "with an index of the owner alone"] {
            match step {
                "without" => fs::remove_dir_all(paths.keywords()).unwrap(),
                "with indexes" => {}
                _ => {
                    let engine = Engine::open(paths.root(), words_only()).unwrap();
                    engine.flush(&NoProgress).unwrap();
                    engine.close();
                }
            }
            set_modes(paths.root(), 0o555, 0o444);
            if step.ends_with("alone") {
                set_modes(&paths.keywords(), 0o555, 0o400);
            }
            let before = names();
            let mut reader = Command::new(&program);
            reader
                .args(["--exact", "engine::open::tests::a_read_only_process_searches_and_refuses_writes", "--ignored"])
                .env(STORE, paths.root());
            if fs::metadata(paths.root()).unwrap().uid() == 0 {
                reader.uid(NOBODY).gid(NOBODY);
            }
            let said = loop {
                match reader.output() {
                    // Another test forked while the copy was open for writing.
                    Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                        thread::sleep(Duration::from_millis(10))
                    }
                    said => break said.unwrap(),
                }
            };
            let text = String::from_utf8_lossy(&said.stdout);
            assert!(said.status.success() && text.contains("1 passed"), "{step}: {text}");
            assert_eq!(names(), before, "{step}");
            set_modes(paths.root(), 0o755, 0o644);
        }
    }
}
