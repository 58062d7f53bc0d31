//! The packed file: what is where.
//!
//! ```text
//! 0     magic            16 bytes
//! 16    version          u32
//! 20    CRC of 24..128   u32
//! 24    SHA-256 of the file that it was made from, 32 bytes
//! 56    CRC of the body  u32
//! 60    CRC of the rest  u32
//! 64    zeros to 128
//! 128   words            a row each, as below
//!       positions        a row each: 384 x i8, scale f32, CRC of these u32
//!       zeros to a multiple of 64
//!       body             the four matrices of each layer, and that of the head; then the numbers, all f32: of each
//!                        layer, of the embeddings, of the head
//!       the rest         what the caller keeps with the model: its vocabulary
//! ```
//!
//! The row of a word is that of a position, or, where the model has 4 bits for a number, 12 blocks and their CRC. A block is
//! a scale, f16, and 16 bytes: number `j` of it is the low half of byte `j` less 8, and number `16 + j` the high half.
//!
//! All numbers are little-endian. A CRC is CRC-32 (IEEE). Rows have one each, checked when they are read: a text needs a
//! few of them, and checking all would read the largest part of the file. The body and the rest are checked when the file is
//! opened: each text needs all of the body.
//!
//! A matrix of `[inputs, outputs]` is stored in panels of 32 outputs. A panel has, for each pair of inputs `k, k + 1`, the
//! weights `(k, o), (k + 1, o)` of its outputs one after the other: 64 bytes, that a kernel multiplies with the same pair
//! of activations. The numbers of a matrix are its scales and its biases, one per output each; those of a
//! normalisation its factors and its offsets. Only a model that judges pairs has a head: a matrix `[384, 384]`, its scales and
//! biases, the vector of the second kind of token, and the 384 weights and the bias of the result.
//!
//! The four matrices are: queries, keys and values as one; the output of attention; the two of the feed-forward network.
//! The file is derived from another: one of another version is packed again. Which model it is, the SHA-256 says; the shape
//! is known of that.

use std::ops::Range;

use crate::shape::{BLOCK, BLOCK_BYTES, Head, INNER, POSITIONS, Shape, WIDTH, Words};

/// The first bytes.
pub const MAGIC: [u8; 16] = *b"memorist bert\r\n\x1a";
/// The version of this layout.
pub const VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER: usize = 128;
/// The bytes that the header's own CRC covers.
pub const HEADER_CHECKED: Range<usize> = 24..HEADER;
/// Where the SHA-256 of the source is.
pub const SOURCE: Range<usize> = 24..56;
/// Where the CRC of the body is.
pub const BODY_CRC: Range<usize> = 56..60;
/// Where the CRC of the rest is.
pub const REST_CRC: Range<usize> = 60..64;
/// Bytes of the CRC of a row.
pub const ROW_CRC: usize = 4;
/// Bytes of the row of a position: values, scale, CRC.
pub const POSITION_ROW: usize = WIDTH + 4 + ROW_CRC;

/// Outputs per panel.
pub const PANEL: usize = 32;

/// Inputs and outputs of a layer's matrices.
pub const MATRICES: [(usize, usize); 4] = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, INNER), (INNER, WIDTH)];
/// Bytes of a layer's matrices.
const LAYER_MATRICES: usize = 3 * WIDTH * WIDTH + WIDTH * WIDTH + 2 * WIDTH * INNER;
/// Numbers of a layer: scales and biases of its matrices, factors and offsets of its two normalisations.
pub const LAYER_NUMBERS: usize = 2 * (3 * WIDTH + WIDTH + INNER + WIDTH) + 4 * WIDTH;
/// Numbers of the embeddings: the vector of the first kind of token, factors and offsets.
pub const EMBEDDING_NUMBERS: usize = 3 * WIDTH;
/// Numbers of the head: scales and biases of its matrix, the vector of the second kind of token, the weights and the bias of
/// the result.
const HEAD_NUMBERS: usize = 2 * WIDTH + WIDTH + WIDTH + 1;

impl Shape {
    /// Bytes of the row of a word.
    pub(crate) const fn word_row(&self) -> usize {
        match self.words {
            Words::Bytes => POSITION_ROW,
            Words::Nibbles => WIDTH / BLOCK * BLOCK_BYTES + ROW_CRC,
        }
    }

    /// Where the positions begin.
    pub(crate) const fn positions(&self) -> usize {
        HEADER + self.vocabulary * self.word_row()
    }

    /// Where the body begins.
    pub(crate) const fn body(&self) -> usize {
        (self.positions() + POSITIONS * POSITION_ROW).next_multiple_of(64)
    }

    /// Where the numbers begin.
    pub(crate) const fn numbers(&self) -> usize {
        let head = match self.head {
            Head::Mean => 0,
            Head::Logit => WIDTH * WIDTH,
        };
        self.head_matrix() + head
    }

    /// Where the matrix of the head begins.
    pub(crate) const fn head_matrix(&self) -> usize {
        self.body() + self.layers * LAYER_MATRICES
    }

    /// Where the body ends.
    pub(crate) const fn rest(&self) -> usize {
        let head = match self.head {
            Head::Mean => 0,
            Head::Logit => HEAD_NUMBERS,
        };
        self.numbers() + 4 * (self.layers * LAYER_NUMBERS + EMBEDDING_NUMBERS + head)
    }

    /// Where the matrices of a layer are.
    pub(crate) fn matrices(&self, layer: usize) -> [Range<usize>; 4] {
        let mut at = self.body() + layer * LAYER_MATRICES;
        MATRICES.map(|(inputs, outputs)| {
            let start = at;
            at += inputs * outputs;
            start..at
        })
    }
}
