//! Styles of questions.

use serde::{Deserialize, Serialize};

/// The search that a question is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Paraphrases the memory with few or none of its words.
    Meaning,
    /// Consists of words (an identifier, an error code, a name) that, after stemming, occur together in the answers only.
    Word,
    /// Has words of the memory and one that only the answer has.
    Both,
}
