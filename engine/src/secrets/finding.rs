//! What is found, and what takes its place.

use std::ops::Range;

/// Something sensitive in a text. It says what and where, and never holds the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, to follow "a" or "an": `AWS access key`, `password`, `card number`, ...
    pub what: &'static str,
    /// Where its value is, in bytes.
    pub range: Range<usize>,
}

/// How what takes a value's place begins.
pub(super) const REDACTED: &str = "[redacted";

/// Why no pattern fails to compile.
pub(super) const VALID: &str = "the patterns are constants, and each has a test";
