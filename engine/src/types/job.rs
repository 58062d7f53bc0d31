//! Texts that a provider embeds in its own time.

use serde::{Deserialize, Serialize};

use super::{Millis, ModelId};

/// A batch job that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchJob {
    /// Identifies it, here and at the provider.
    pub key: String,
    /// The model whose vectors it makes.
    pub model: ModelId,
    /// Its details, for people and for continuing it.
    pub about: AboutJob,
}

/// The details of a batch job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AboutJob {
    /// Who embeds.
    pub provider: String,
    /// When its submission began.
    pub began: Millis,
    /// Its texts.
    pub texts: u64,
    /// Its name at the provider; `None` until that is known.
    pub name: Option<String>,
    /// Its state, as the provider calls it.
    pub state: String,
    /// Since when the provider's list lacks it, while its name is not known.
    pub missed: Option<Millis>,
    /// When it was cancelled.
    pub cancelled: Option<Millis>,
    /// Whether that was wanted; if not, it took too long.
    pub is_unwanted: bool,
    /// Whether its vectors are stored, and the provider's files alone are left.
    pub is_stored: bool,
}

impl BatchJob {
    /// A job that is about to be submitted.
    pub fn new(key: String, model: ModelId, provider: String, began: Millis, texts: u64) -> Self {
        let about = AboutJob {
            provider,
            began,
            texts,
            name: None,
            state: "being submitted".to_owned(),
            missed: None,
            cancelled: None,
            is_unwanted: false,
            is_stored: false,
        };
        BatchJob { key, model, about }
    }
}

/// How a batch job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It made vectors.
    Done,
    /// It made none, or not in time.
    Failed,
    /// Nobody wanted it any more.
    Dropped,
}
