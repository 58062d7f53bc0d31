//! The sizes of the models: layers of BERT, 384 wide.

/// Numbers per token, and per vector of a text.
pub const WIDTH: usize = 384;
/// Heads of attention in a layer.
pub const HEADS: usize = 12;
/// Numbers per head.
pub const HEAD: usize = WIDTH / HEADS;
/// Numbers per token between the two products of a feed-forward network.
pub const INNER: usize = 4 * WIDTH;
/// The most tokens of a text that a model can read.
pub const POSITIONS: usize = 512;
/// Added to a variance before its root is taken, so that nothing is divided by zero.
pub const EPSILON: f32 = 1e-12;

/// Sizes and parts in which the models differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub(crate) layers: usize,
    /// Tokens that the model knows.
    pub(crate) vocabulary: usize,
    /// How the vectors of its tokens are kept.
    pub(crate) words: Words,
    /// Its output for a text.
    pub(crate) head: Head,
}

/// The output of a model, from the tokens that its last layer gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// Their mean: the vector of a text.
    Mean,
    /// One number, from the first of them: how well the second text of a pair answers the first one.
    Logit,
}

/// How the vectors of tokens are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// In 8 bits, with one scale each.
    Bytes,
    /// In 4 bits, with a scale for each [`BLOCK`].
    Nibbles,
}

/// Numbers that share a scale, where there are 4 bits for each.
pub const BLOCK: usize = 32;
/// Bytes of a block: the scale in 16 bits, and half a byte for each number.
pub const BLOCK_BYTES: usize = 2 + BLOCK / 2;

impl Shape {
    /// all-MiniLM-L6-v2.
    pub const MINILM: Shape = Shape { layers: 6, vocabulary: 30_522, words: Words::Bytes, head: Head::Mean };
    /// multilingual-e5-small.
    pub const E5_SMALL: Shape = Shape { layers: 12, vocabulary: 250_037, words: Words::Nibbles, head: Head::Mean };
    /// ms-marco-MiniLM-L-12-v2.
    pub const MS_MARCO: Shape = Shape { layers: 12, vocabulary: 30_522, words: Words::Bytes, head: Head::Logit };
}
