//! A span of time.

use super::units::Millis;
use crate::error::{Error, Result};

/// From one moment to another, each optional. Times before 1970 are negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Its beginning.
    pub from: Option<Millis>,
    /// Its end.
    pub to: Option<Millis>,
}

impl Span {
    /// Whether neither end is given.
    pub fn is_empty(self) -> bool {
        self == Span::default()
    }

    /// Checks that it does not end before it begins.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn validate(self) -> Result<()> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if to < from => Err(Error::invalid("valid_to", "is before its beginning")),
            _ => Ok(()),
        }
    }
}
