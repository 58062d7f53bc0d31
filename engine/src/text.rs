//! Texts and their hashes: what makes two memories duplicates, and what is embedded.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// A SHA-256.
pub type Hash = [u8; 32];

/// The first bytes of a key of a token that all its rows share.
pub(crate) const TOKEN_SHARED: usize = 31;

/// SHA-256 of the NFC-normalised text, as 64 lower-case hex digits: equal for texts that look the same to a reader.
///
/// ```
/// let hash = memorist_engine::text::content_hash("hello world");
/// assert_eq!(hash, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
/// ```
pub fn content_hash(text: &str) -> String {
    to_hex(&nfc_hash(text))
}

/// Bytes of a context that are embedded. The model reads some 256 tokens, of about four bytes each in English; a longer
/// context must not displace the content.
const EMBEDDED_CONTEXT: usize = 400;

/// The text that is embedded for a record: the beginning of the context, if there is one, then the content.
pub fn embedding_text(context: Option<&str>, content: &str) -> String {
    match embedded_context(context) {
        "" => content.to_owned(),
        context => format!("{context}\n{content}"),
    }
}

/// The beginning of a context that is embedded.
pub(crate) fn embedded_context(context: Option<&str>) -> &str {
    let context = context.unwrap_or_default().trim();
    &context[..context.floor_char_boundary(EMBEDDED_CONTEXT)]
}

/// The key of an embedding: the hash of the NFC-normalised [`embedding_text`].
pub(crate) fn embedding_hash(context: Option<&str>, content: &str) -> Hash {
    nfc_hash(&embedding_text(context, content))
}

/// The beginning of a text in one line, with one space for all white space and control characters between words.
pub fn one_line(text: &str, chars: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words.take(chars) {
        line.extend((!line.is_empty()).then_some(' '));
        line.push_str(word);
    }
    line.chars().take(chars).collect()
}

/// SHA-256 of a token that clients send, which is all that is stored of it.
pub(crate) fn token_hash(token: &str) -> Hash {
    Sha256::digest(token).into()
}

/// The key of a row of a token, which has one for each project: its hash, with the last byte raised by the number of the row. The
/// first row has the hash itself, so that who looks for that alone finds the first project.
#[cfg(any(test, feature = "postgres"))]
pub(crate) fn token_key(hash: &Hash, number: u8) -> Hash {
    let mut key = *hash;
    key[TOKEN_SHARED] = key[TOKEN_SHARED].wrapping_add(number);
    key
}

/// Lower-case hex digits.
pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from(b"0123456789abcdef"[usize::from(four)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes that hex digits stand for, in upper or lower case; `None` where they are not `N`.
pub(crate) fn from_hex<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let (digits, rest) = hex.as_bytes().as_chunks::<2>();
    if digits.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits) {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        *byte = u8::try_from(high? * 16 + low?).ok()?;
    }
    Some(bytes)
}

/// The bytes that hex digits stand for, however many.
#[cfg(feature = "postgres")]
pub(crate) fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let (digits, rest) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| from_hex::<1>(str::from_utf8(pair).ok()?).map(|[byte]| byte);
    if rest.is_empty() { digits.iter().map(byte).collect() } else { None }
}

pub(crate) fn nfc_hash(text: &str) -> Hash {
    let mut hasher = Sha256::new();
    if unicode_normalization::is_nfc(text) {
        hasher.update(text.as_bytes());
    } else {
        hasher.update(text.nfc().collect::<String>().as_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D6, Z18: the document prints another value for this text, which is not its SHA-256.
    #[test]
    fn the_hash_of_a_text_is_its_sha_256() {
        let hash = content_hash("hello world");
        assert_eq!(hash, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
    }

    #[test]
    fn composed_and_decomposed_texts_are_the_same() {
        assert_eq!(content_hash("caf\u{e9}"), content_hash("cafe\u{301}"));
        assert_ne!(content_hash("cafe"), content_hash("caf\u{e9}"));
    }

    #[test]
    fn the_context_is_embedded_before_the_content() {
        assert_eq!(embedding_text(Some("asked about themes"), "dark"), "asked about themes\ndark");
        assert_eq!(embedding_text(Some("  "), "dark"), "dark");
        assert_eq!(embedding_hash(None, "dark"), embedding_hash(Some(""), "dark"));
    }
}
