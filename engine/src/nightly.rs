//! How much of the long tests is run.

/// Step between the cases that are tried: a fifth of them, or all for `.ci/nightly`.
pub fn step() -> usize {
    if std::env::var_os("MEMORIST_NIGHTLY").is_some() { 1 } else { 5 }
}
