//! A finding, and its replacement.

use std::ops::Range;

/// A secret in a text: its type and place, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its type, to follow "a" or "an": `AWS access key`, `password`, `card number`, ...
    pub what: &'static str,
    /// Where its value is, in bytes.
    pub range: Range<usize>,
}

/// The start of the replacement of a value.
pub(super) const REDACTED: &str = "[redacted";

/// Why no pattern fails to compile.
pub(super) const VALID: &str = "the patterns are constants, and each has a test";
