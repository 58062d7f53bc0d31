//! Vectors without a model, for tests and benches.

use crate::embedder::Embedder;
use crate::error::Result;
use crate::identity::ModelIdentity;
use crate::normalise::normalise;

/// Turns text into vectors by hashing its words: texts that share words are near each other, others are not.
///
/// For tests and benches that need vectors without meaning. It is not offered to users and replaces no model: without a
/// model a store is searched by keywords, which works better.
#[derive(Debug, Clone)]
pub struct HashEmbedder {
    identity: ModelIdentity,
}

/// Dimensions that one word touches: enough that two words rarely look alike.
const DIMS_PER_WORD: usize = 8;

impl HashEmbedder {
    /// Vectors of `dims` numbers (at least 1).
    pub fn new(dims: usize) -> Self {
        let identity = ModelIdentity {
            name: "hashed words (tests only)".to_owned(),
            weights_sha256: format!("{:064x}", 0),
            pooling: "hashed words".to_owned(),
            dims: dims.max(1),
        };
        HashEmbedder { identity }
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let dims = self.identity.dims;
        let mut vector = vec![0.0f32; dims];
        // A text without words gets a direction of its own.
        let mut touch = |word: &str| {
            let mut random = word_hash(word);
            for _ in 0..DIMS_PER_WORD {
                random = next_random(random);
                let sign = if random >> 63 == 0 { 1.0 } else { -1.0 };
                vector[(random % dims as u64) as usize] += sign;
            }
        };
        let lower = text.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        match words.peek() {
            None => touch(""),
            Some(_) => words.for_each(touch),
        }
        // Signs may cancel out, especially in few dimensions.
        if vector.iter().all(|value| *value == 0.0) {
            vector[0] = 1.0;
        }
        normalise(vector)
    }
}

impl Embedder for HashEmbedder {
    /// Its cosines are those of words, in every language.
    fn is_measurable(&self) -> bool {
        false
    }

    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.embed(text)
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.embed(text)).collect()
    }
}

/// FNV-1a, 64 bits.
fn word_hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The next number after `state`: SplitMix64.
pub fn next_random(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn shared_words_bring_texts_together() {
        let embedder = HashEmbedder::new(256);
        let [query, near, far] =
            ["dark theme", "a dark, dark theme", "login security"].map(|t| embedder.embed(t).unwrap());
        assert!(cosine(&query, &near) > 0.6);
        assert!(cosine(&query, &far).abs() < 0.3);
        assert!((cosine(&query, &query) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn every_text_has_a_vector_of_length_one() {
        for dims in [1, 2, 3, 64] {
            let embedder = HashEmbedder::new(dims);
            for text in ["", "  ", "!?", "a", "\u{65e5}\u{672c}", "one two three"] {
                let vector = embedder.embed_query(text).unwrap();
                assert_eq!(vector.len(), dims);
                assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5, "{text:?} in {dims}");
            }
        }
    }
}
