//! The sizes of the model: six layers of BERT, 384 wide.

/// Numbers per token, and per vector of a text.
pub const WIDTH: usize = 384;
/// Layers.
pub const LAYERS: usize = 6;
/// Heads of attention in a layer.
pub const HEADS: usize = 12;
/// Numbers per head.
pub const HEAD: usize = WIDTH / HEADS;
/// Numbers per token between the two products of a feed-forward network.
pub const INNER: usize = 4 * WIDTH;
/// Tokens that the model knows.
pub const VOCABULARY: usize = 30_522;
/// The most tokens of a text that the model can read.
pub const POSITIONS: usize = 512;
/// Added to a variance before its root is taken, so that nothing is divided by zero.
pub const EPSILON: f32 = 1e-12;
