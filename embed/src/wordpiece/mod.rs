//! The tokenizer of BERT models without case: the ids that the crate `tokenizers` gives, in less than a tenth of the time.
//!
//! | file | job |
//! |---|---|
//! | `model` | the vocabulary and the rules of a tokenizer |
//! | `json` | reads a `tokenizer.json` of this kind |
//! | `normal` | normalization of characters |
//! | `trie` | the vocabulary: the longest token at a place in a word |
//! | `scan` | a text cut into words, and these into tokens |
//! | `tests` | compared with `tokenizers` |

mod json;
mod model;
mod normal;
mod scan;
#[cfg(all(test, feature = "onnx", feature = "provision"))]
mod tests;
mod trie;

use model::Model;

/// A WordPiece tokenizer as BERT has it.
#[derive(Debug, Clone)]
pub struct WordPiece(Model);

impl WordPiece {
    /// Reads a `tokenizer.json`. `None` if it is damaged, or of another kind.
    pub fn from_tokenizer_json(json: &str) -> Option<Self> {
        json::read(json).map(WordPiece)
    }

    /// The tokens of `text`, without the marks of its beginning and its end.
    pub fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::with_capacity(text.len() / 4);
        self.push_ids(text, &mut ids);
        ids
    }

    /// Appends what [`WordPiece::ids`] gives.
    pub(crate) fn push_ids(&self, text: &str, ids: &mut Vec<u32>) {
        scan::scan(&self.0, text, ids);
    }

    /// How many tokens [`WordPiece::ids`] gives.
    pub fn count(&self, text: &str) -> usize {
        let mut count = scan::Count::default();
        scan::scan(&self.0, text, &mut count);
        count.0
    }

    /// The share of the characters of `text` that are in words which no tokens make up, from 0 to 1: characters as they are after
    /// normalization, which drops some. A text of which nothing is left, though it was not empty, is unknown.
    pub fn unknown_share(&self, text: &str) -> f64 {
        let mut characters = scan::Characters::default();
        scan::scan(&self.0, text, &mut characters);
        match characters.known + characters.unknown {
            0 if text.chars().all(char::is_whitespace) => 0.0,
            0 => 1.0,
            all => characters.unknown as f64 / all as f64,
        }
    }

    /// Whether the vocabulary has a word whole.
    pub fn has_word(&self, word: &str) -> bool {
        matches!(self.ids(word)[..], [id] if id != self.0.unknown)
    }
}
