//! The fuzz targets for readers of stored bytes: any bytes are refused, or are written back as the same bytes.

use crate::keywords::{Payload, seal};
use crate::map::Map;
use crate::records::Change;
use crate::scale::CosineScale;
use crate::vectors::hnsw;

/// Bytes as an entry of the sync log: the operation, then its payload.
///
/// # Panics
/// If the round trip changes the bytes.
pub fn sync_log(bytes: &[u8]) {
    let Some((op, payload)) = bytes.split_first() else { return };
    let op = i64::from(*op);
    if let Some(change) = Change::decode(op, payload) {
        assert_eq!(change.encode(), (op, payload.to_vec()));
    }
}

/// Bytes as the payload of a commit of the keyword index. Returns whether they have the current format.
///
/// # Panics
/// If a round trip changes the value.
pub fn keyword_payload(bytes: &[u8]) -> bool {
    let Ok(payload) = Payload::parse(str::from_utf8(bytes).ok()) else { return false };
    assert_eq!(Payload::parse(Some(&payload.to_text())), Ok(payload));
    true
}

/// Bytes as the sealed list of segments of the keyword index.
///
/// # Panics
/// If a round trip changes the value.
pub fn keyword_seal(bytes: &[u8]) {
    if let Ok((text, files)) = seal::split(bytes) {
        let again = seal::join(text, files.clone()).expect("what was read can be written");
        assert_eq!(seal::split(&again), Ok((text, files)));
    }
    // A checksum cannot be guessed: any text is read after a correct one, too.
    let text = [bytes, b"\n"].concat();
    let sealed = seal::join(&text, seal::Files::default()).expect("an empty list can be written");
    assert_eq!(seal::split(&sealed), Ok((&text[..], seal::Files::default())));
}

/// Bytes as the payload of the vector index's manifest. Returns whether they have the current format.
///
/// # Panics
/// If the round trip changes the bytes.
pub fn vector_payload(bytes: &[u8]) -> bool {
    let Ok((applied, store, model)) = hnsw::parts(bytes) else { return false };
    assert_eq!(hnsw::payload(applied, store, model), bytes);
    assert_eq!(hnsw::parse(bytes, store, model).ok(), Some(applied));
    true
}

/// Bytes as the file of a cosine scale. Returns whether they are one.
///
/// # Panics
/// If a round trip changes the bytes.
pub fn scale_file(bytes: &[u8]) -> bool {
    is_kept(bytes, |bytes| CosineScale::from_bytes(bytes).map(|scale| scale.to_bytes()))
}

/// Bytes as the file of a map. Returns whether they are one.
///
/// # Panics
/// If a round trip changes the bytes.
pub fn map_file(bytes: &[u8]) -> bool {
    is_kept(bytes, |bytes| Map::from_bytes(bytes).ok().map(|map| map.to_bytes()))
}

/// Whether bytes that end with their checksum are read, and written as they were.
fn is_kept(bytes: &[u8], again: impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
    // A checksum cannot be guessed: any bytes are read before a right one, too.
    let with_checksum = [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat();
    let is_kept = |bytes: &[u8]| {
        let again = again(bytes);
        assert!(again.as_ref().is_none_or(|again| again == bytes));
        again.is_some()
    };
    let _ = is_kept(&with_checksum);
    is_kept(bytes)
}
