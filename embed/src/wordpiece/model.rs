//! The vocabulary and the rules of a tokenizer.

use aho_corasick::AhoCorasick;

use super::trie::Trie;

/// A vocabulary, and how words are made of it.
#[derive(Debug, Clone)]
pub struct Model {
    /// The tokens.
    pub vocabulary: Trie,
    /// The id of a word that no tokens make up.
    pub unknown: u32,
    /// The ids of words of one byte, which all punctuation is.
    pub punctuation: [u32; 128],
    /// A longer word is unknown.
    pub max_chars: usize,
    /// Tokens that are found in a text as they are, before anything else, such as `[SEP]`.
    pub added: Option<Added>,
}

/// Texts and their ids.
#[derive(Debug, Clone)]
pub struct Added {
    /// The texts, to be searched for.
    pub texts: AhoCorasick,
    /// The ids, in the same order.
    pub ids: Vec<u32>,
}
