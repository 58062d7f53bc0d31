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

    /// Its first and its last moment; a beginning without an end, and an end without a beginning, are both.
    pub fn ends(self) -> Option<(Millis, Millis)> {
        Some((self.from.or(self.to)?, self.to.or(self.from)?))
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
