//! The settings of an engine. All have a default; `memorist.toml` and the command line may change them.

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

pub use memorist_embed::{ModelSettings, ModelSource};
use memorist_index::Layout;
use serde::{Deserialize, Serialize};

pub use crate::address::ServerAddress;
pub use crate::clock::Clock;
use crate::quality::Quality;
use crate::sensitive::Sensitive;
use crate::types::Exported;
use crate::types::{Scale, Weights};

/// Everything that can be set. Start from [`Config::default`] and change fields.
#[derive(Debug, Clone)]
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
    /// The policy for passwords, keys and the like in new records.
    pub sensitive: Sensitive,
    /// Whether searches write the access log, and are kept themselves ([`Engine::searches`](crate::Engine::searches)).
    pub log_searches: bool,
    /// A record is deleted permanently this long after it has expired. It is invisible from its expiry on; the delay
    /// makes sure that a clock that was ahead for a while loses nothing.
    pub expiry_grace: Duration,
    /// A deleted record can be restored for this long; then it is removed.
    pub trash_grace: Duration,
    /// The clock of the store. By default the system's.
    pub clock: Clock,
    /// Whether this engine may write the indexes. If false, it only reads them and searches the unapplied tail exactly.
    pub index_writer: bool,
    /// The team whose store this is: then the folder is a copy, which follows a server.
    pub team: Option<TeamSettings>,
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
            team: None,
        }
    }
}

/// A node of a team store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TeamSettings {
    /// The server that has the records.
    pub address: ServerAddress,
    /// The projects whose memories are copied, beside global ones; empty is all that the server shows.
    pub follow: Vec<String>,
    /// How old an answer may be.
    pub reads: Reads,
    /// The folder in which nodes leave images, and a new one finds them.
    pub images: Option<PathBuf>,
    /// The name of the node in lists of nodes.
    pub node_name: String,
    /// How memories are written that a promoted standby has lost.
    pub lost: &'static dyn ExportFormat,
    /// Where they are written: not in the copy, which may be deleted. `None` is in its folder.
    pub lost_folder: Option<PathBuf>,
}

impl TeamSettings {
    /// A node with this name, which copies every project, and whose answers are never old. What is lost is written as text for
    /// people, which cannot be imported: a program with a format of its own sets [`TeamSettings::lost`].
    pub fn new(address: ServerAddress, node_name: impl Into<String>) -> Self {
        TeamSettings {
            address,
            follow: Vec::new(),
            reads: Reads::Latest,
            images: None,
            node_name: node_name.into(),
            lost: &DebugText,
            lost_folder: None,
        }
    }
}

/// The lines of a file that can be imported.
pub trait ExportFormat: Debug + Send + Sync {
    /// The first line.
    fn header(&self) -> String;

    /// The line of a memory, or of a link.
    fn line(&self, exported: Exported) -> String;
}

#[derive(Debug)]
struct DebugText;

impl ExportFormat for DebugText {
    fn header(&self) -> String {
        String::new()
    }

    fn line(&self, exported: Exported) -> String {
        format!("{exported:?}")
    }
}

/// How old what a search of a team store finds may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reads {
    /// A search finds all that any node has saved before it began: it asks the server first.
    #[default]
    Latest,
    /// A search may miss what was saved within this time.
    Within(Duration),
    /// A search finds what is here, and asks nobody: for who may not wait.
    Copy,
}

/// Which implementation of the vector index a store uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Backend {
    /// Our own memory-mapped HNSW.
    #[default]
    Hnsw,
    /// [`Backend::Hnsw`] in a fifth of the space, and slower ([`Layout::Compact`]). The layout is chosen when the index is built:
    /// a store has its former one until [`Engine::rebuild`](crate::Engine::rebuild).
    HnswCompact,
    /// An exact scan, in memory.
    Exact,
    /// The crate hnsw_rs, in memory, for comparison.
    #[cfg(feature = "hnsw-rs")]
    HnswRs,
}

impl Backend {
    /// The layout of the index in the store's folder; `None` for a backend in memory.
    pub(crate) fn layout(self) -> Option<Layout> {
        match self {
            Backend::Hnsw => Some(Layout::Standard),
            Backend::HnswCompact => Some(Layout::Compact),
            Backend::Exact => None,
            #[cfg(feature = "hnsw-rs")]
            Backend::HnswRs => None,
        }
    }
}
