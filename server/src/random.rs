//! Texts that nobody can guess.

use std::hint::black_box;
use std::io;
use std::path::Path;

use memorist_engine::text::to_hex;

use crate::exit::Failure;

/// 256 random bits, as hex digits.
pub fn token() -> Result<String, Failure> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::file(Path::new("the system's randomness"), &io::Error::other(error)))?;
    Ok(to_hex(&bytes))
}

/// Compares in constant time for a given length, so that a secret cannot be guessed byte by byte.
pub fn is_same(secret: &[u8], given: &[u8]) -> bool {
    let differences = given.iter().zip(secret).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    given.len() == secret.len() && differences == 0
}
