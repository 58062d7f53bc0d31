//! An embedding in an export: the bytes that the store keeps, in base64. Formats up to 3 wrote an array of its numbers,
//! which is still read.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memorist_engine::types::{embedding_bytes, embedding_of};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The numbers of an embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(pub Vec<f32>);

impl Serialize for Embedding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(embedding_bytes(&self.0)))
    }
}

impl<'de> Deserialize<'de> for Embedding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumbers)
    }
}

struct TextOrNumbers;

impl<'de> Visitor<'de> for TextOrNumbers {
    type Value = Embedding;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an embedding: 16-bit floats in base64, or an array of numbers")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Embedding, E> {
        let bytes = STANDARD.decode(text).map_err(|error| E::custom(format!("embedding: not base64: {error}")))?;
        let numbers = embedding_of(&bytes, bytes.len() / 2);
        numbers.map(Embedding).ok_or_else(|| E::custom("embedding: an odd number of bytes; it has 16-bit floats"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Embedding, A::Error> {
        let mut embedding = Vec::new();
        while let Some(number) = numbers.next_element()? {
            embedding.push(number);
        }
        // As the store will have them.
        let rounded = embedding_of(&embedding_bytes(&embedding), embedding.len());
        Ok(Embedding(rounded.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<f32>, String> {
        serde_json::from_str(json).map(|Embedding(numbers)| numbers).map_err(|error| error.to_string())
    }

    #[test]
    fn embeddings_are_base64_and_old_arrays_are_still_read() {
        let json = serde_json::to_string(&Embedding(vec![1.0, -0.5])).unwrap();
        assert_eq!(json, r#""ADwAuA==""#);
        assert_eq!(read(&json).unwrap(), [1.0, -0.5]);
        assert_eq!(read("[0.1, -0.0, 1e-45]").unwrap(), [0.099_975_586, -0.0, 0.0]);
        for (bad, why) in [(r#""ADw*""#, "not base64"), (r#""ADwA""#, "odd number"), ("7", "an embedding: 16-bit")] {
            assert!(read(bad).unwrap_err().contains(why), "{bad}: {}", read(bad).unwrap_err());
        }
    }
}
