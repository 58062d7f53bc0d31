//! What fuzzing asks of the readers of stored bytes: any bytes are refused, or mean what is written as the same bytes.

pub use crate::embed::fuzzing::wheel;
use crate::keywords::{Payload, seal};
use crate::records::Change;
use crate::vectors::hnsw;

/// Bytes as an entry of the sync log: the operation, then its payload.
///
/// # Panics
/// When what is read is written otherwise.
pub fn sync_log(bytes: &[u8]) {
    let Some((op, payload)) = bytes.split_first() else { return };
    let op = i64::from(*op);
    if let Some(change) = Change::decode(op, payload) {
        assert_eq!(change.encode(), (op, payload.to_vec()));
    }
}

/// Bytes as the payload of a commit of the keyword index. Returns whether they are one of the present format.
///
/// # Panics
/// When what is read is written and then read otherwise.
pub fn keyword_payload(bytes: &[u8]) -> bool {
    let Ok(payload) = Payload::parse(str::from_utf8(bytes).ok()) else { return false };
    assert_eq!(Payload::parse(Some(&payload.to_text())), Ok(payload));
    true
}

/// Bytes as the sealed list of segments of the keyword index.
///
/// # Panics
/// When what is read is written and then read otherwise.
pub fn keyword_seal(bytes: &[u8]) {
    if let Ok((text, files)) = seal::split(bytes) {
        let again = seal::join(text, files.clone()).expect("what was read can be written");
        assert_eq!(seal::split(&again), Ok((text, files)));
    }
    // A checksum is not guessed: any text is read from behind a right one too.
    let text = [bytes, b"\n"].concat();
    let sealed = seal::join(&text, seal::Files::default()).expect("an empty list can be written");
    assert_eq!(seal::split(&sealed), Ok((&text[..], seal::Files::default())));
}

/// Bytes as the payload of the vector index's manifest. Returns whether they are one of the present layout.
///
/// # Panics
/// When what is read is written otherwise.
pub fn vector_payload(bytes: &[u8]) -> bool {
    let Ok((applied, store, model)) = hnsw::parts(bytes) else { return false };
    assert_eq!(hnsw::payload(applied, store, model), bytes);
    assert_eq!(hnsw::parse(bytes, store, model).ok(), Some(applied));
    true
}
