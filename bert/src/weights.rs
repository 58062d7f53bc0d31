//! The weights of a packed file.

use std::fmt;

use crate::blocks::numbers_of;
use crate::error::{Error, Result};
use crate::format::{
    BODY_CRC, EMBEDDING_NUMBERS, HEADER, HEADER_CHECKED, LAYER_NUMBERS, MAGIC, MATRICES, POSITION_ROW, REST_CRC,
    ROW_CRC, SOURCE, VERSION,
};
use crate::shape::{BLOCK, Shape, WIDTH, Words};

/// A packed model, in memory or mapped.
pub struct Weights {
    shape: Shape,
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    /// All numbers of the file: they are not aligned for every processor, and few.
    numbers: Vec<f32>,
}

/// A matrix in panels, as [`format`](crate::format) says.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// Numbers of a token that go in.
    pub inputs: usize,
    pub panels: &'a [i8],
    /// The value of a weight of 1, per output.
    pub scales: &'a [f32],
    /// Numbers that are added, per output.
    pub biases: &'a [f32],
}

/// Factors and offsets for a token's numbers, after these were brought to a mean of 0 and a variance of 1.
#[derive(Clone, Copy)]
pub struct Normalisation<'a> {
    pub factors: &'a [f32; WIDTH],
    /// Numbers that are added then.
    pub offsets: &'a [f32; WIDTH],
}

pub struct Layer<'a> {
    /// Queries, keys and values.
    pub attend: Matrix<'a>,
    /// Matrix from the heads back to the token.
    pub gather: Matrix<'a>,
    /// Normalization of the token after attention.
    pub after_attention: Normalisation<'a>,
    /// The first product of the feed-forward network.
    pub inner: Matrix<'a>,
    /// The second one.
    pub outer: Matrix<'a>,
    /// Normalization of the token after the network.
    pub after_network: Normalisation<'a>,
}

/// Weights that make one number of the first token of a pair.
pub struct LogitHead<'a> {
    /// Matrix from the token to the numbers that are weighed.
    pub pool: Matrix<'a>,
    /// The weight of each of them.
    pub weights: &'a [f32],
    /// The number that is added to the sum.
    pub bias: f32,
}

/// Which text of a pair a token is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The first one, or the only one.
    First,
    /// The second one.
    Second,
}

impl Weights {
    /// Reads what the bytes of a packed file say. They must be made from the file with this SHA-256.
    ///
    /// # Errors
    /// [`Error::Unusable`] if they are damaged, of another version, or made from another file.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static, shape: Shape, source: &[u8; 32]) -> Result<Self> {
        let unusable = |why: &str| Err(Error::Unusable(format!("the packed model {why}")));
        let all = bytes.as_ref();
        if all.len() < shape.rest() || all[..16] != MAGIC {
            return unusable("is cut, or of another kind");
        }
        let version = number(&all[16..20]);
        if version != VERSION {
            return unusable(&format!("has the version {version}, not {VERSION}"));
        }
        if number(&all[20..24]) != crc32fast::hash(&all[HEADER_CHECKED]) || all[SOURCE] != source[..] {
            return unusable("is damaged, or made from another file");
        }
        let (body, rest) = (&all[shape.body()..shape.rest()], &all[shape.rest()..]);
        if number(&all[BODY_CRC]) != crc32fast::hash(body) || number(&all[REST_CRC]) != crc32fast::hash(rest) {
            return unusable("is damaged");
        }
        let numbers = all[shape.numbers()..shape.rest()]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        Ok(Weights { shape, bytes: Box::new(bytes), numbers })
    }

    /// The sizes of the model.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The bytes that the caller has kept with the model.
    pub fn rest(&self) -> &[u8] {
        &self.all()[self.shape.rest()..]
    }

    /// Adds up the vectors of the word `token` at the place `position`, into `sum`. Only a model of pairs has a second kind.
    ///
    /// # Errors
    /// [`Error::Tokens`] for a token beyond the vocabulary, [`Error::Unusable`] for a damaged row.
    pub fn embed(&self, token: u32, kind: Kind, position: usize, sum: &mut [f32]) -> Result<()> {
        let token = token as usize;
        if token >= self.shape.vocabulary {
            return Err(Error::Tokens(format!("the model has no token {token}")));
        }
        let kind = match kind {
            Kind::First => &self.numbers[self.shape.layers * LAYER_NUMBERS..][..WIDTH],
            Kind::Second => &self.head_numbers()[2 * WIDTH..][..WIDTH],
        };
        let row = self.row(HEADER, self.shape.word_row(), token)?;
        match self.shape.words {
            Words::Bytes => {
                let (word, scale) = values_of(row);
                for (sum, word) in sum.iter_mut().zip(word) {
                    *sum = f32::from(*word) * scale;
                }
            }
            Words::Nibbles => {
                for (sum, block) in sum.as_chunks_mut::<BLOCK>().0.iter_mut().zip(row.as_chunks().0) {
                    *sum = numbers_of(block);
                }
            }
        }
        let (place, scale) = values_of(self.row(self.shape.positions(), POSITION_ROW, position)?);
        for ((sum, kind), place) in sum.iter_mut().zip(kind).zip(place) {
            *sum = *sum + kind + f32::from(*place) * scale;
        }
        Ok(())
    }

    /// Normalization of the embeddings.
    pub fn after_embedding(&self) -> Normalisation<'_> {
        Numbers(&self.numbers[self.shape.layers * LAYER_NUMBERS + WIDTH..][..EMBEDDING_NUMBERS - WIDTH]).normalisation()
    }

    /// A layer, from 0.
    pub fn layer(&self, layer: usize) -> Layer<'_> {
        let mut numbers = Numbers(&self.numbers[layer * LAYER_NUMBERS..][..LAYER_NUMBERS]);
        let ranges = self.shape.matrices(layer);
        let mut matrix = |which: usize| {
            let (inputs, outputs) = MATRICES[which];
            let panels = bytemuck::cast_slice(&self.all()[ranges[which].clone()]);
            Matrix { inputs, panels, scales: numbers.take(outputs), biases: numbers.take(outputs) }
        };
        let [attend, gather, inner, outer] = [matrix(0), matrix(1), matrix(2), matrix(3)];
        let (after_attention, after_network) = (numbers.normalisation(), numbers.normalisation());
        Layer { attend, gather, after_attention, inner, outer, after_network }
    }

    /// The head of a model of pairs.
    pub fn logit_head(&self) -> LogitHead<'_> {
        let mut numbers = Numbers(self.head_numbers());
        let panels = bytemuck::cast_slice(&self.all()[self.shape.head_matrix()..self.shape.numbers()]);
        let pool = Matrix { inputs: WIDTH, panels, scales: numbers.take(WIDTH), biases: numbers.take(WIDTH) };
        let _second_kind = numbers.take(WIDTH);
        LogitHead { pool, weights: numbers.take(WIDTH), bias: numbers.0[0] }
    }

    /// The numbers of the head; none, if the model has none.
    fn head_numbers(&self) -> &[f32] {
        &self.numbers[self.shape.layers * LAYER_NUMBERS + EMBEDDING_NUMBERS..]
    }

    fn all(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// A row of a table, without its CRC.
    fn row(&self, table: usize, len: usize, row: usize) -> Result<&[u8]> {
        let (bytes, crc) = self.all()[table + row * len..][..len].split_at(len - ROW_CRC);
        if number(crc) != crc32fast::hash(bytes) {
            return Err(Error::Unusable(format!("row {row} of the packed model is damaged")));
        }
        Ok(bytes)
    }
}

/// Values and scale of a row in 8 bits.
fn values_of(row: &[u8]) -> (&[i8], f32) {
    let (values, scale) = row.split_at(WIDTH);
    (bytemuck::cast_slice(values), f32::from_bits(number(scale)))
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
