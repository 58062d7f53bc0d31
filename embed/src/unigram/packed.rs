//! The vocabulary as bytes that can be mapped: neither read nor copied when a model is loaded, but for the few characters that
//! are replaced.
//!
//! ```text
//! 0     version        u32
//! 4     pieces         u32
//! 8     replaced       u32: characters that are replaced
//! 12    bytes of these u32
//! 16    scores         f32 each
//!       replaced       each: the character u32, how many replace it u32, these u32 each
//!       trie           the double array of `yada`: the pieces by their bytes
//! ```
//!
//! All numbers are little-endian. What keeps the bytes also keeps a CRC of them.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memorist_bert::E5File;
use yada::DoubleArray;
use yada::builder::DoubleArrayBuilder;

use crate::error::{Error, Result};

/// The version of this layout.
const VERSION: u32 = 1;
/// The token of characters that no piece stands for.
pub const UNKNOWN: u32 = 3;
/// Where the scores begin.
const SCORES: usize = 16;
/// Difference between the lowest score of the pieces and the score of unknown characters.
const UNKNOWN_PENALTY: f32 = 10.0;
/// Pieces that stand for no text: the marks of a text's beginning and end, and others.
const MARKS: [&[u8]; 5] = [b"<s>", b"<pad>", b"</s>", b"<unk>", b"<mask>"];

/// Bytes that are shared.
pub type Shared = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The bytes of the vocabulary of `file`.
///
/// # Errors
/// If its pieces make no vocabulary.
pub fn make(file: &E5File<'_>) -> Result<Vec<u8>> {
    let failed = |why: &dyn std::fmt::Display| Error::Failed(format!("the vocabulary cannot be packed: {why}"));
    let mut keys: Vec<(&[u8], u32)> = file.pieces().iter().map(|(piece, _)| *piece).zip(0..).collect();
    keys.retain(|(piece, _)| !MARKS.contains(piece) && !piece.is_empty() && !piece.contains(&0));
    keys.sort_unstable();
    let trie = DoubleArrayBuilder::build(&keys).map_err(|error| failed(&error))?;
    let replaced: Vec<u32> = (file.replaced().iter())
        .flat_map(|(char, by)| [*char, by.len() as u32].into_iter().chain(by.iter().copied()))
        .collect();
    let counts = [VERSION, file.pieces().len() as u32, file.replaced().len() as u32, 4 * replaced.len() as u32];
    let mut bytes: Vec<u8> = counts.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(file.pieces().iter().flat_map(|(_, score)| score.to_le_bytes()));
    bytes.extend(replaced.into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(trie);
    Ok(bytes)
}

/// A vocabulary.
pub struct Vocabulary {
    bytes: Shared,
    scores: Range<usize>,
    unknown_score: f32,
    replaced: HashMap<char, Box<[char]>>,
    trie: DoubleArray<SharedSlice>,
}

impl Vocabulary {
    /// Reads bytes of [`make`]; `None` if they are others.
    pub fn read(bytes: Shared) -> Option<Self> {
        let all = (*bytes).as_ref();
        let [version, pieces, replaced, len] = [0, 1, 2, 3].map(|at| all.get(4 * at..4 * at + 4).map(number));
        if version? != VERSION {
            return None;
        }
        let scores = SCORES..SCORES.checked_add(pieces? as usize * 4)?;
        let trie = scores.end.checked_add(len? as usize)?..all.len();
        let least = all.get(scores.clone())?.as_chunks::<4>().0.iter().map(|score| f32::from_le_bytes(*score));
        let unknown_score = least.fold(0.0, f32::min) - UNKNOWN_PENALTY;
        let mut words = all.get(scores.end..trie.start)?.as_chunks::<4>().0.iter().map(|word| number(word));
        let mut entry = || {
            let char = char::from_u32(words.next()?)?;
            let count = words.next()?;
            let by = (0..count).map(|_| char::from_u32(words.next()?)).collect::<Option<_>>()?;
            Some((char, by))
        };
        let replaced = (0..replaced?).map(|_| entry()).collect::<Option<_>>()?;
        let trie = DoubleArray::new(SharedSlice { all: bytes.clone(), range: trie }).ok()?;
        Some(Vocabulary { bytes, scores, unknown_score, replaced, trie })
    }

    /// Returns the replacement of a character, if it has one.
    pub fn replaced(&self, char: char) -> Option<&[char]> {
        // None of these is, and most text is of them.
        if (' '..='~').contains(&char) {
            return None;
        }
        self.replaced.get(&char).map(|by| &**by)
    }

    /// The pieces that `text` begins with, and their lengths.
    pub fn beginning<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (u32, usize)> + 'a {
        self.trie.common_prefix_search(text)
    }

    /// The score of a piece.
    pub fn score(&self, id: u32) -> f32 {
        let scores = (*self.bytes).as_ref().get(self.scores.clone()).unwrap_or_default().as_chunks::<4>().0;
        scores.get(id as usize).map_or(self.unknown_score, |score| f32::from_le_bytes(*score))
    }

    /// The score of a character that no piece stands for.
    pub fn unknown_score(&self) -> f32 {
        self.unknown_score
    }
}

/// A part of shared bytes.
struct SharedSlice {
    all: Shared,
    range: Range<usize>,
}

impl Deref for SharedSlice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.all).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

/// The first four bytes as a number.
fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
