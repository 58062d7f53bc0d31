//! The packed file: what is where.
//!
//! ```text
//! 0     magic            16 bytes
//! 16    version          u32
//! 20    CRC of 24..128   u32
//! 24    SHA-256 of the ONNX file that it was made from, 32 bytes
//! 56    CRC of the body  u32
//! 60    zeros to 128
//! 128   rows             the words, then the positions; each: 384 x i8, scale f32, CRC of these u32
//!       zeros to a multiple of 64
//!       body             the four matrices of each layer; then the numbers, all f32: of each layer, of the embeddings
//! ```
//!
//! All numbers are little-endian. A CRC is CRC-32 (IEEE). Rows have one each, checked when they are read: a text needs a
//! few of them, and checking all would read twelve megabytes. The body is checked when the file is opened: each text
//! needs all of it.
//!
//! A matrix of `[inputs, outputs]` is stored in panels of 32 outputs. A panel has, for each pair of inputs `k, k + 1`, the
//! weights `(k, o), (k + 1, o)` of its outputs one after the other: 64 bytes, that a kernel multiplies with the same pair
//! of activations. The numbers of a matrix are its scales and its biases, one per output each; those of a
//! normalisation its factors and its offsets.
//!
//! The four matrices are: queries, keys and values as one; the output of attention; the two of the feed-forward network.
//! The file is derived from the ONNX file: one of another version is packed again.

use std::ops::Range;

use crate::shape::{INNER, LAYERS, POSITIONS, VOCABULARY, WIDTH};

/// The first bytes.
pub const MAGIC: [u8; 16] = *b"memorist bert\r\n\x1a";
/// The version of this layout.
pub const VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER: usize = 128;
/// What the header's own CRC covers.
pub const HEADER_CHECKED: Range<usize> = 24..HEADER;
/// Where the SHA-256 of the source is.
pub const SOURCE: Range<usize> = 24..56;
/// Where the CRC of the body is.
pub const BODY_CRC: Range<usize> = 56..60;
/// Bytes of a row: values, scale, CRC.
pub const ROW: usize = WIDTH + 4 + 4;
/// Where the body begins.
pub const BODY: usize = (HEADER + (VOCABULARY + POSITIONS) * ROW).next_multiple_of(64);
/// Bytes of the file.
pub const LEN: usize = BODY + LAYERS * LAYER_MATRICES + 4 * NUMBERS;

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
/// Numbers in the file.
pub const NUMBERS: usize = LAYERS * LAYER_NUMBERS + EMBEDDING_NUMBERS;
/// Where the numbers are.
pub const NUMBERS_AT: usize = BODY + LAYERS * LAYER_MATRICES;

/// Where the matrices of all layers are, from the start of the file.
pub fn matrices(layer: usize) -> [Range<usize>; 4] {
    let mut at = BODY + layer * LAYER_MATRICES;
    MATRICES.map(|(inputs, outputs)| {
        let start = at;
        at += inputs * outputs;
        start..at
    })
}
