//! A hash that stays the same over versions and machines.

use sha2::{Digest, Sha256};

/// The first 8 bytes of SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    Sha256::digest(bytes).iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}
