//! How much of a text a model reads.

/// Tokens of a text that the model reads, including the two end marks; the rest is cut off.
pub const MAX_TOKENS: usize = 256;
/// Bytes of a text that the tokenizer reads: more than 256 tokens of ordinary text, so that a megabyte does not cost a
/// second.
const MAX_BYTES: usize = 16 << 10;

/// The part of a text that the tokenizer reads.
pub fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
