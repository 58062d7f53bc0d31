//! The settings of an engine. All have a default; `memorist.toml` and the command line may change them.

use std::time::Duration;

pub use memorist_embed::{ModelSettings, ModelSource};
use serde::{Deserialize, Serialize};

pub use crate::clock::Clock;
use crate::quality::Quality;
use crate::sensitive::Sensitive;
use crate::types::{Scale, Weights};

/// Everything that can be set. Start from [`Config::default`] and change fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Default weights of a hybrid search.
    pub weights: Weights,
    /// How each side of a hybrid search is scaled.
    pub scale: Scale,
    /// Which vector index to use.
    pub backend: Backend,
    /// Target recall of the vector search.
    pub quality: Quality,
    /// The embedding model.
    pub model: ModelSettings,
    /// Whether the background thread fetches a missing model by itself, if [`ModelSettings::may_download`] allows it. For
    /// servers, which should neither wait for a download nor do without the model forever.
    pub fetch_in_background: bool,
    /// What to do about passwords, keys and the like in new records.
    pub sensitive: Sensitive,
    /// Whether searches write the access log, and are kept themselves ([`Engine::searches`](crate::Engine::searches)).
    pub log_searches: bool,
    /// A record is deleted permanently this long after it has expired. It is invisible from its expiry on; the delay
    /// makes sure that a clock that was ahead for a while loses nothing.
    pub expiry_grace: Duration,
    /// A deleted record can be restored for this long; then it is removed.
    pub trash_grace: Duration,
    /// What the store takes for the present time. By default the system's clock.
    pub clock: Clock,
    /// Whether this engine may write the indexes. If false, it only reads them and searches the unapplied tail exactly.
    pub index_writer: bool,
}

impl Config {
    /// The default settings without an embedding model: keyword search only, unless the store is opened with an
    /// [`Embedder`](memorist_embed::Embedder).
    pub fn without_model() -> Self {
        Config { model: ModelSource::None.into(), ..Config::default() }
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for Config {
    fn default() -> Self {
        Config {
            weights: Weights::default(),
            scale: Scale::default(),
            backend: Backend::default(),
            quality: Quality::default(),
            model: ModelSettings::default(),
            fetch_in_background: false,
            sensitive: Sensitive::default(),
            log_searches: true,
            expiry_grace: DAY,
            trash_grace: 30 * DAY,
            clock: Clock::default(),
            index_writer: true,
        }
    }
}

/// Which implementation of the vector index a store uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
