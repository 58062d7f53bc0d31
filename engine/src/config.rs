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
    /// Default weights of a hybrid search.
    pub weights: Weights,
    /// Which vector index to use.
    pub backend: Backend,
    /// Target recall of the vector search.
    pub quality: Quality,
    /// Where the model comes from.
    pub model: ModelSource,
    /// Folder of provisioned files; `None` is the platform's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Whether the model and its library may be fetched when they are missing.
    pub may_download: bool,
    /// Whether the background thread fetches a missing model by itself, if [`Config::may_download`] allows it. For
    /// servers, which should neither wait for a download nor do without the model forever.
    pub fetch_in_background: bool,
    /// The model is released after this long without use.
    pub model_idle: Duration,
    /// What to do about passwords, keys and the like in new records.
    pub sensitive: Sensitive,
    /// Whether searches write the access log.
    pub log_searches: bool,
    /// A record is deleted permanently this long after it has expired. It is invisible from its expiry on; the delay
    /// makes sure that a clock that was ahead for a while loses nothing.
    pub expiry_grace: Duration,
    /// Whether this engine may write the indexes. If false, it only reads them and searches the unapplied tail exactly.
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

/// Which implementation of the vector index a store uses.
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
    /// No model: keyword search only.
    None,
}
