//! The weights of a packed file.

use std::fmt;

use crate::error::{Error, Result};
use crate::format::{
    self, BODY, BODY_CRC, EMBEDDING_NUMBERS, HEADER, HEADER_CHECKED, LAYER_NUMBERS, LEN, MAGIC, MATRICES, NUMBERS_AT,
    ROW, SOURCE, VERSION,
};
use crate::shape::{LAYERS, VOCABULARY, WIDTH};

/// A packed model, in memory or mapped.
pub struct Weights {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    /// All numbers of the file: they are not aligned for every processor, and few.
    numbers: Vec<f32>,
}

/// A matrix in panels, as [`format`] says.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// Numbers of a token that go in.
    pub inputs: usize,
    /// The weights.
    pub panels: &'a [i8],
    /// What a whole weight is worth, per output.
    pub scales: &'a [f32],
    /// What is added, per output.
    pub biases: &'a [f32],
}

/// What comes after a token's numbers were brought to a mean of 0 and a variance of 1.
#[derive(Clone, Copy)]
pub struct Normalisation<'a> {
    /// What they are multiplied with.
    pub factors: &'a [f32; WIDTH],
    /// What is added then.
    pub offsets: &'a [f32; WIDTH],
}

/// One layer.
pub struct Layer<'a> {
    /// Queries, keys and values.
    pub attend: Matrix<'a>,
    /// From the heads back to the token.
    pub gather: Matrix<'a>,
    /// Of the token after attention.
    pub after_attention: Normalisation<'a>,
    /// The first product of the feed-forward network.
    pub inner: Matrix<'a>,
    /// The second one.
    pub outer: Matrix<'a>,
    /// Of the token after the network.
    pub after_network: Normalisation<'a>,
}

impl Weights {
    /// Reads what the bytes of a packed file say. They must be made from the ONNX file with this SHA-256.
    ///
    /// # Errors
    /// [`Error::Unusable`] if they are damaged, of another version, or made from another file.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static, source: &[u8; 32]) -> Result<Self> {
        let unusable = |why: &str| Err(Error::Unusable(format!("the packed model {why}")));
        let all = bytes.as_ref();
        if all.len() != LEN || all[..16] != MAGIC {
            return unusable("is cut, or of another kind");
        }
        let version = number(&all[16..20]);
        if version != VERSION {
            return unusable(&format!("has the version {version}, not {VERSION}"));
        }
        if number(&all[20..24]) != crc32fast::hash(&all[HEADER_CHECKED]) || all[SOURCE] != source[..] {
            return unusable("is damaged, or made from another file");
        }
        if number(&all[BODY_CRC]) != crc32fast::hash(&all[BODY..]) {
            return unusable("is damaged");
        }
        let numbers = all[NUMBERS_AT..].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Weights { bytes: Box::new(bytes), numbers })
    }

    /// Adds up the vectors of the word `token` at the place `position`, into `sum`.
    ///
    /// # Errors
    /// [`Error::Tokens`] for a token beyond the vocabulary, [`Error::Unusable`] for a damaged row.
    pub fn embed(&self, token: u32, position: usize, sum: &mut [f32]) -> Result<()> {
        let token = token as usize;
        if token >= VOCABULARY {
            return Err(Error::Tokens(format!("the model has no token {token}")));
        }
        let kind = &self.numbers[LAYERS * LAYER_NUMBERS..][..WIDTH];
        let (word, word_scale) = self.row(token)?;
        let (place, place_scale) = self.row(VOCABULARY + position)?;
        for ((sum, kind), (word, place)) in sum.iter_mut().zip(kind).zip(word.iter().zip(place)) {
            *sum = f32::from(*word) * word_scale + kind + f32::from(*place) * place_scale;
        }
        Ok(())
    }

    /// Of the embeddings.
    pub fn after_embedding(&self) -> Normalisation<'_> {
        Numbers(&self.numbers[LAYERS * LAYER_NUMBERS + WIDTH..][..EMBEDDING_NUMBERS - WIDTH]).normalisation()
    }

    /// A layer, from 0.
    pub fn layer(&self, layer: usize) -> Layer<'_> {
        let mut numbers = Numbers(&self.numbers[layer * LAYER_NUMBERS..][..LAYER_NUMBERS]);
        let ranges = format::matrices(layer);
        let mut matrix = |which: usize| {
            let (inputs, outputs) = MATRICES[which];
            let panels = bytemuck::cast_slice(&self.all()[ranges[which].clone()]);
            Matrix { inputs, panels, scales: numbers.take(outputs), biases: numbers.take(outputs) }
        };
        let [attend, gather, inner, outer] = [matrix(0), matrix(1), matrix(2), matrix(3)];
        let (after_attention, after_network) = (numbers.normalisation(), numbers.normalisation());
        Layer { attend, gather, after_attention, inner, outer, after_network }
    }

    fn all(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// A row's values and scale.
    fn row(&self, row: usize) -> Result<(&[i8], f32)> {
        let bytes = &self.all()[HEADER + row * ROW..][..ROW];
        if number(&bytes[WIDTH + 4..]) != crc32fast::hash(&bytes[..WIDTH + 4]) {
            return Err(Error::Unusable(format!("row {row} of the packed model is damaged")));
        }
        Ok((bytemuck::cast_slice(&bytes[..WIDTH]), f32::from_bits(number(&bytes[WIDTH..]))))
    }
}

impl fmt::Debug for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weights").finish_non_exhaustive()
    }
}

/// Numbers that are not taken yet.
struct Numbers<'a>(&'a [f32]);

impl<'a> Numbers<'a> {
    fn take(&mut self, len: usize) -> &'a [f32] {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken
    }

    fn normalisation(&mut self) -> Normalisation<'a> {
        let two = self.take(2 * WIDTH).as_chunks::<WIDTH>().0;
        Normalisation { factors: &two[0], offsets: &two[1] }
    }
}

/// The first four bytes as a number.
fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
