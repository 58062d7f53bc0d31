//! The settings of an engine. All have a default; `memorist.toml` and the command line may change them.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::quality::Quality;
use crate::sensitive::Sensitive;
use crate::types::Weights;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Weights of a hybrid search that names none.
    pub weights: Weights,
    /// Which vector index serves.
    pub backend: Backend,
    /// How much of the true neighbours the vector search is to find.
    pub quality: Quality,
    /// Where the model comes from.
    pub model: ModelSource,
    /// Folder of provisioned files; `None` is the platform's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Whether the model and its library may be fetched when they are missing.
    pub may_download: bool,
    /// Whether the background thread fetches a missing model by itself, where [`Config::may_download`] allows it: for a
    /// server, that should neither wait for a download nor do without it for ever.
    pub fetch_in_background: bool,
    /// The model is released after this long without use.
    pub model_idle: Duration,
    /// What is done about passwords, keys and the like in what is to be saved.
    pub sensitive: Sensitive,
    /// Whether searches write the access log.
    pub log_searches: bool,
    /// A record is deleted for good this long after it has expired, though nobody sees it from then on: a clock that was
    /// ahead for a while must not have lost any.
    pub expiry_grace: Duration,
    /// Whether this engine may write the indexes. When false it only reads them and searches the rest exactly.
    pub index_writer: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            weights: Weights::default(),
            backend: Backend::default(),
            quality: Quality::default(),
            model: ModelSource::Default,
            cache_dir: None,
            may_download: true,
            fetch_in_background: false,
            model_idle: Duration::from_secs(5 * 60),
            sensitive: Sensitive::default(),
            log_searches: true,
            expiry_grace: Duration::from_secs(24 * 60 * 60),
            index_writer: true,
        }
    }
}

/// Which implementation of the vector index serves a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// Our own memory-mapped HNSW.
    #[default]
    Hnsw,
    /// An exact scan, in memory.
    Exact,
    /// The crate hnsw_rs, in memory, for comparison.
    #[cfg(feature = "hnsw-rs")]
    HnswRs,
}

/// Where the embedding model comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ModelSource {
    /// all-MiniLM-L6-v2, provisioned.
    #[default]
    Default,
    /// A folder with `model.onnx` and `tokenizer.json`.
    Folder(PathBuf),
    /// No model: words alone.
    None,
}
