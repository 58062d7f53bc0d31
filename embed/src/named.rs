//! The models that have a name in the settings.

use crate::identity::ModelIdentity;

/// SHA-256 of the weights, in hex.
pub(crate) const MINILM_SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";
pub(crate) const E5_SMALL_SHA256: &str = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f";
/// Mean of the token vectors, scaled to length 1: how every model here is pooled.
pub(crate) const MEAN_POOLING: &str = "mean+l2";
/// Numbers per vector of the models with a name.
const DIMS: usize = 384;

/// A model that is known by a name: its files are pinned by their hashes, and this program runs it itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedModel {
    /// `default`: all-MiniLM-L6-v2.
    MiniLm,
    /// `multilingual`: multilingual-e5-small.
    E5Small,
}

impl NamedModel {
    /// All of them.
    pub const ALL: [NamedModel; 2] = [NamedModel::MiniLm, NamedModel::E5Small];

    /// Its name in the settings.
    pub const fn name(self) -> &'static str {
        match self {
            NamedModel::MiniLm => "default",
            NamedModel::E5Small => "multilingual",
        }
    }

    /// The model with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// Its identity.
    pub fn identity(self) -> ModelIdentity {
        let (name, weights) = match self {
            NamedModel::MiniLm => ("all-MiniLM-L6-v2 (int8 weights)", MINILM_SHA256),
            NamedModel::E5Small => ("multilingual-e5-small (int8 weights)", E5_SMALL_SHA256),
        };
        ModelIdentity {
            name: name.to_owned(),
            weights_sha256: weights.to_owned(),
            pooling: MEAN_POOLING.to_owned(),
            dims: DIMS,
        }
    }
}

impl ModelIdentity {
    /// The identity of the default model.
    pub fn default_model() -> Self {
        NamedModel::MiniLm.identity()
    }
}
