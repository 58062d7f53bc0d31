//! The tokenizer of multilingual-e5-small: SentencePiece's, which cuts a text where the sum of the pieces' scores is largest.
//!
//! | file | job |
//! |---|---|
//! | `packed` | the vocabulary as bytes that can be mapped |
//! | `normal` | normalization of a text before it is cut |
//! | `best` | the best places to cut it |
//! | `tests` | compared with the reference's tokens |

mod best;
mod normal;
mod packed;
#[cfg(all(test, feature = "onnx", feature = "provision"))]
mod tests;

use best::Cut;
pub use packed::{Shared, make};
use packed::{UNKNOWN, Vocabulary};

/// A unigram tokenizer of SentencePiece.
pub struct Unigram(Vocabulary);

impl Unigram {
    /// Reads the bytes that [`make`] has made. `None` if they are of another version, or not such bytes at all.
    pub fn new(packed: Shared) -> Option<Self> {
        Vocabulary::read(packed).map(Unigram)
    }

    /// Appends the tokens of `text`, without the marks of its beginning and its end.
    pub fn push_ids(&self, text: &str, ids: &mut Vec<u32>) {
        // What several characters in a row are, if unknown, is one token.
        let mut known = true;
        self.cut(text, |piece| {
            if known || piece.id != UNKNOWN {
                ids.push(piece.id);
            }
            known = piece.id != UNKNOWN;
        });
    }

    /// How many tokens a text has.
    pub fn count(&self, text: &str) -> usize {
        let mut ids = Vec::new();
        self.push_ids(text, &mut ids);
        ids.len()
    }

    /// Whether the vocabulary has a word whole, as it is or in small letters.
    pub fn has_word(&self, word: &str) -> bool {
        let is_whole = |word: &str| {
            let mut ids = Vec::new();
            self.push_ids(word, &mut ids);
            matches!(ids[..], [id] if id != UNKNOWN)
        };
        is_whole(word) || is_whole(&word.to_lowercase())
    }

    /// The share of the characters of `text` that are unknown, from 0 to 1. If nothing is left of a text that was not empty, it
    /// is unknown.
    pub fn unknown_share(&self, text: &str) -> f64 {
        let (mut known, mut unknown) = (0, 0);
        self.cut(text, |piece| {
            let characters = piece.text.chars().filter(|char| *char != normal::SPACE).count();
            *(if piece.id == UNKNOWN { &mut unknown } else { &mut known }) += characters;
        });
        match known + unknown {
            0 if text.chars().all(char::is_whitespace) => 0.0,
            0 => 1.0,
            all => f64::from(unknown as u32) / f64::from(all as u32),
        }
    }

    fn cut(&self, text: &str, take: impl FnMut(Cut<'_>)) {
        let normal = normal::normal(text, |char| self.0.replaced(char));
        best::cut(&self.0, &normal, take);
    }
}
