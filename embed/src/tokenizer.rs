//! The tokenizer of a model that this program can run, or at least count the tokens of.

use crate::unigram::Unigram;
use crate::wordpiece::WordPiece;

/// A tokenizer.
pub enum Tokenizer {
    /// The tokenizer of BERT.
    WordPiece(Box<WordPiece>),
    /// The tokenizer of SentencePiece.
    Unigram(Unigram),
}

impl Tokenizer {
    /// Appends the tokens of `text`, without the marks of its beginning and its end.
    pub(crate) fn push_ids(&self, text: &str, ids: &mut Vec<u32>) {
        match self {
            Tokenizer::WordPiece(words) => words.push_ids(text, ids),
            Tokenizer::Unigram(unigram) => unigram.push_ids(text, ids),
        }
    }

    /// How many tokens a text has.
    pub fn count(&self, text: &str) -> usize {
        match self {
            Tokenizer::WordPiece(words) => words.count(text),
            Tokenizer::Unigram(unigram) => unigram.count(text),
        }
    }

    /// Whether the vocabulary has a word whole.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        match self {
            Tokenizer::WordPiece(words) => words.has_word(word),
            Tokenizer::Unigram(unigram) => unigram.has_word(word),
        }
    }

    /// The share of the characters of `text` that are unknown.
    pub(crate) fn unknown_share(&self, text: &str) -> f64 {
        match self {
            Tokenizer::WordPiece(words) => words.unknown_share(text),
            Tokenizer::Unigram(unigram) => unigram.unknown_share(text),
        }
    }
}
