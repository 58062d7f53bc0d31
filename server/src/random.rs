//! Texts that nobody can guess.

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
