//! Text to token numbers, and which texts share a batch.

use tokenizers::{Tokenizer, TruncationParams};

use crate::error::{Error, Result};
use crate::provision::SourceFile;
use crate::window::{MAX_TOKENS, beginning};

/// Texts per batch; more is not faster.
const MAX_ROWS: usize = 32;
/// Tokens per batch, padding included. Keeps the memory of a batch of long texts near that of a batch of short ones.
const MAX_BATCH_TOKENS: usize = 1024;

/// A `tokenizer.json`.
pub struct TextTokenizer {
    tokenizer: Tokenizer,
    padding: i64,
    /// The token of what no other token stands for, if it has one.
    unknown: Option<u32>,
}

impl TextTokenizer {
    /// Reads the file. Its own padding and truncation are ignored: texts are cut at [`MAX_TOKENS`] and padded to the
    /// longest of their batch. A fixed padding would make every query as slow as the longest text.
    pub fn load(file: &SourceFile) -> Result<Self> {
        let unusable = |why: &dyn std::fmt::Display| {
            Error::Failed(format!("{} cannot be used as a tokenizer: {why}", file.path().display()))
        };
        let mut tokenizer = Tokenizer::from_bytes(file.read()?).map_err(|error| unusable(&error))?;
        let id = |names: [&str; 2]| names.into_iter().find_map(|name| tokenizer.token_to_id(name));
        let (named, unknown) = (id(["[PAD]", "<pad>"]), id(["[UNK]", "<unk>"]));
        let padding = tokenizer.get_padding().map(|padding| padding.pad_id).or(named).unwrap_or(0);
        tokenizer.with_padding(None);
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| unusable(&error))?;
        Ok(TextTokenizer { tokenizer, padding: i64::from(padding), unknown })
    }

    /// The token numbers of `text`: at least one, at most [`MAX_TOKENS`].
    pub fn encode(&self, text: &str) -> Result<Vec<i64>> {
        let start = beginning(text);
        let encoding = self
            .tokenizer
            .encode_fast(start, true)
            .map_err(|error| Error::Failed(format!("a text cannot be split into tokens: {error}")))?;
        let mut tokens: Vec<i64> = encoding.get_ids().iter().map(|token| i64::from(*token)).collect();
        if tokens.is_empty() {
            tokens.push(self.padding);
        }
        Ok(tokens)
    }

    /// The share of the characters of `text` that unknown tokens stand for; `None` without such a token.
    pub fn unknown_share(&self, text: &str) -> Option<f64> {
        let unknown = self.unknown?;
        let start = beginning(text);
        let encoding = self.tokenizer.encode(start, false).ok()?;
        let read = encoding.get_offsets().last().map_or(0, |(_, end)| *end);
        let characters = |from: usize, to: usize| {
            start.get(from..to).map_or(0, |part| part.chars().filter(|char| !char.is_whitespace()).count())
        };
        let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
        let of_unknown: usize =
            tokens.filter(|(id, _)| **id == unknown).map(|(_, (from, to))| characters(*from, *to)).sum();
        Some(match characters(0, read) {
            0 if start.chars().all(char::is_whitespace) => 0.0,
            0 => 1.0,
            all => of_unknown as f64 / all as f64,
        })
    }

    /// The token that pads shorter rows of a batch.
    pub fn padding(&self) -> i64 {
        self.padding
    }
}

/// Rows of tokens of one length, ready for the model.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenBatch {
    /// Texts.
    pub rows: usize,
    /// Tokens per text, padding included.
    pub tokens: usize,
    /// Token numbers, `[rows, tokens]`.
    pub ids: Vec<i64>,
    /// 1 for a token, 0 for padding, `[rows, tokens]`.
    pub mask: Vec<i64>,
}

impl TokenBatch {
    /// Pads `rows` to the longest of them.
    pub fn new(rows: &[&[i64]], padding: i64) -> Self {
        let tokens = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let mut ids = vec![padding; rows.len() * tokens];
        let mut mask = vec![0; rows.len() * tokens];
        for (index, row) in rows.iter().enumerate() {
            let at = index * tokens;
            ids[at..at + row.len()].copy_from_slice(row);
            mask[at..at + row.len()].fill(1);
        }
        TokenBatch { rows: rows.len(), tokens, ids, mask }
    }
}

/// Groups texts into batches by their lengths in tokens: texts of similar length, so that there is little padding,
/// longest first. Every index occurs once.
pub fn plan_batches(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(lengths[*index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for index in order {
        match batches.last_mut() {
            Some(batch) if batch.len() < room => batch.push(index),
            _ => {
                // The first of a batch is its longest, so it decides how many fit.
                room = (MAX_BATCH_TOKENS / lengths[index].max(1)).clamp(1, MAX_ROWS);
                batches.push(vec![index]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_padded_to_the_longest_of_the_batch() {
        let batch = TokenBatch::new(&[&[5, 6, 7], &[8]], 9);
        assert_eq!(batch, TokenBatch { rows: 2, tokens: 3, ids: vec![5, 6, 7, 8, 9, 9], mask: vec![1, 1, 1, 1, 0, 0] });
    }

    #[test]
    fn batches_contain_similar_lengths_and_every_text_once() {
        let lengths: Vec<usize> = (0..500).map(|i| 1 + (i * 7919) % 256).collect();
        let batches = plan_batches(&lengths);
        let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
        assert!(seen.windows(2).all(|pair| lengths[pair[0]] >= lengths[pair[1]]), "longest first");
        seen.sort_unstable();
        assert_eq!(seen, (0..500).collect::<Vec<_>>());
        for batch in &batches {
            let longest = batch.iter().map(|index| lengths[*index]).max().unwrap();
            assert!(
                batch.len() <= MAX_ROWS && batch.len() * longest <= MAX_BATCH_TOKENS,
                "{} x {longest}",
                batch.len()
            );
        }
        assert!(batches.iter().any(|batch| batch.len() == MAX_ROWS));
        assert_eq!(plan_batches(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(plan_batches(&[0]), [[0]]);
    }

    #[test]
    fn a_file_that_is_not_a_tokenizer_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, "{}").unwrap();
        let error = TextTokenizer::load(&SourceFile::own(path)).err().unwrap().to_string();
        assert!(error.contains("tokenizer.json"), "{error}");
    }
}
