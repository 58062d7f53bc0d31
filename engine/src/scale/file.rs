//! The file that keeps the scale.
//!
//! # The file on one page
//!
//! `scale` is derived: it may be deleted at any time, and is measured again. It is replaced atomically. Numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `MMSC` |
//! | u32 | the version of this format and of the sentences: 2 |
//! | f64 × 3 | mean, spread and level of the known languages |
//! | u32 | dimensions of the model |
//! | u32 | bytes of the next field |
//! | UTF-8 | the identity of the model, as in the vector index |
//! | (f64, u8) × groups | the bias of each group, and 1 if the model does not know it, else 0 |
//! | f16 × dimensions × statements | the vectors of the statements, in the order of `sentences.tsv` |
//! | u32 | CRC-32 of all before |

use super::model::{CosineScale, Trait};
use super::query::CosineStats;
use super::statements::{Statements, groups};
use crate::types::embedding::{embedding_bytes, embedding_of};

const MAGIC: [u8; 4] = *b"MMSC";
const VERSION: u32 = 2;

impl CosineScale {
    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let CosineStats { mean, spread, level } = self.known;
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([mean, spread, level].into_iter().flat_map(f64::to_le_bytes));
        bytes.extend([self.statements.dims() as u32, self.model.len() as u32].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.model.bytes());
        for Trait { bias, is_foreign } in &self.traits {
            bytes.extend(bias.to_le_bytes());
            bytes.push(u8::from(*is_foreign));
        }
        bytes.extend(embedding_bytes(self.statements.numbers()));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The scale that these bytes are; `None` if they are damaged or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (body, checksum) = bytes.split_last_chunk::<4>()?;
        let (magic, rest) = body.split_first_chunk::<4>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let is_ours = *magic == MAGIC && u32::from_le_bytes(*version) == VERSION;
        if !is_ours || crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let (mean, rest) = rest.split_first_chunk::<8>()?;
        let (spread, rest) = rest.split_first_chunk::<8>()?;
        let (level, rest) = rest.split_first_chunk::<8>()?;
        let (dims, rest) = rest.split_first_chunk::<4>()?;
        let (name_bytes, rest) = rest.split_first_chunk::<4>()?;
        let (model, mut rest) = rest.split_at_checked(u32::from_le_bytes(*name_bytes) as usize)?;
        let mut traits = Vec::new();
        for _ in 0..groups().len() {
            let (bias, others) = rest.split_first_chunk::<8>()?;
            let (is_foreign, vectors) = others.split_first()?;
            let is_foreign = match is_foreign {
                0 => false,
                1 => true,
                _ => return None,
            };
            traits.push(Trait { bias: f64::from_le_bytes(*bias), is_foreign });
            rest = vectors;
        }
        let are_sound = traits.iter().all(|one| one.bias.is_finite());
        let [mean, spread, level] = [mean, spread, level].map(|bytes| f64::from_le_bytes(*bytes));
        let is_sound = [mean, spread, level].iter().all(|number| number.is_finite()) && spread > 0.0;
        let dims = u32::from_le_bytes(*dims) as usize;
        let count = Statements::count();
        let halves = dims.checked_mul(count).filter(|halves| halves.checked_mul(2) == Some(rest.len()))?;
        let numbers = embedding_of(rest, halves).filter(|numbers| numbers.iter().all(|number| number.is_finite()))?;
        (is_sound && are_sound).then_some(CosineScale {
            model: std::str::from_utf8(model).ok()?.to_owned(),
            known: CosineStats { mean, spread, level },
            traits,
            statements: Statements::new(dims, numbers),
        })
    }
}

#[cfg(test)]
mod tests {
    use memorist_embed::{Embedder, HashEmbedder};

    use super::*;
    use crate::progress::NoProgress;

    fn measured() -> CosineScale {
        CosineScale::measure(&HashEmbedder::new(32), "a model".to_owned(), &NoProgress).unwrap()
    }

    #[test]
    fn a_scale_is_read_as_it_was_written() {
        let scale = measured();
        let again = CosineScale::from_bytes(&scale.to_bytes()).unwrap();
        assert_eq!((again.model(), again.known), ("a model", scale.known));
        let query = HashEmbedder::new(32).embed_query("harbour").unwrap();
        assert!((again.of_query(&query).similarity(0.5) - scale.of_query(&query).similarity(0.5)).abs() < 1e-2);
        assert!(!scale.of_query(&[1.0]).is_foreign(), "of another model");
    }

    #[test]
    fn damaged_bytes_are_no_scale() {
        let bytes = measured().to_bytes();
        for at in (0..bytes.len()).step_by(97).chain(0..60) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert_eq!(CosineScale::from_bytes(&damaged), None, "byte {at}");
            assert_eq!(CosineScale::from_bytes(&bytes[..at]), None, "cut at {at}");
        }
        let mut resigned = bytes[..bytes.len() - 4].to_vec();
        resigned[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
        resigned.extend(crc32fast::hash(&resigned).to_le_bytes());
        assert_eq!(CosineScale::from_bytes(&resigned), None, "dimensions that it has not");
    }
}
