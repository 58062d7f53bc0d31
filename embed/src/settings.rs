//! Which model is used, and how long it stays in memory.

use std::path::PathBuf;
use std::time::Duration;

use crate::named::NamedModel;
#[cfg(feature = "remote")]
use crate::provider::RemoteSettings;

/// The settings of the embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// Where it comes from.
    pub source: ModelSource,
    /// Another source, for stores whose vectors are of its model: two models are never mixed.
    pub fallback: Option<ModelSource>,
    /// Folder of fetched files; `None` is the platform's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// Folder of the caches of providers' embeddings, all of which a purge empties; `None` empties none.
    pub embeddings_dir: Option<PathBuf>,
    /// Folders with packages that have the model's files, beside those that are found near this program.
    pub packages: Vec<PathBuf>,
    /// Whether the model and its library may be fetched when they are missing.
    pub may_download: bool,
    /// It is released after this long without use.
    pub idle: Duration,
}

impl Default for ModelSettings {
    fn default() -> Self {
        ModelSource::Default.into()
    }
}

impl From<ModelSource> for ModelSettings {
    fn from(source: ModelSource) -> Self {
        ModelSettings {
            source,
            fallback: None,
            cache_dir: None,
            embeddings_dir: None,
            packages: Vec::new(),
            may_download: true,
            idle: Duration::from_secs(5 * 60),
        }
    }
}

/// Where the embedding model comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSource {
    /// No source is named: the named model whose vectors the store has, else all-MiniLM-L6-v2. It is fetched when it is missing.
    #[default]
    Default,
    /// A model with a name, fetched when it is missing.
    Named(NamedModel),
    /// A folder with `model.onnx` and `tokenizer.json`.
    Folder(PathBuf),
    /// A provider.
    #[cfg(feature = "remote")]
    Remote(Box<RemoteSettings>),
    /// No model: keyword search only.
    None,
}

impl ModelSource {
    /// Reads the value of the setting `model`: "none", the name of a model, or a folder.
    pub fn called(name: &str) -> Self {
        match (name, NamedModel::by_name(name)) {
            ("none", _) => ModelSource::None,
            (_, Some(model)) => ModelSource::Named(model),
            (folder, None) => ModelSource::Folder(folder.into()),
        }
    }
}

/// Why there is no embedder with [`ModelSource::Folder`] in a build that cannot run one.
pub(crate) const NO_ONNX: &str = "a folder is named as the embedding model, and this program is built without the feature \
     `onnx`, which runs a model of your own; build it with that feature, name the model `default` or `multilingual`, or use \
     keyword search only, with the setting `model = \"none\"`";

/// Why there is no embedder with [`ModelSource::None`].
pub(crate) const NONE_SET: &str = "no embedding model (`model = \"none\"`); remove that setting to enable vector \
     search";
