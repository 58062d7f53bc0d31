//! The names of the files: no other file knows them.

use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest";
/// A manifest that is being written.
const TEMPORARY: &str = "manifest.tmp";
/// Some earlier versions gave it a name of this, [`RANDOM`] letters and digits, and [`OLD_SUFFIX`].
const OLD_PREFIX: &str = ".memorist-";
const RANDOM: usize = 16;
const OLD_SUFFIX: &str = ".tmp";
const SEGMENT: &str = "segment-";
const LOCK: &str = "writer.lock";

pub(crate) fn manifest(folder: &Path) -> PathBuf {
    folder.join(MANIFEST)
}

pub(crate) fn temporary(folder: &Path) -> PathBuf {
    folder.join(TEMPORARY)
}

pub(crate) fn lock(folder: &Path) -> PathBuf {
    folder.join(LOCK)
}

pub(crate) fn segment(folder: &Path, number: u64) -> PathBuf {
    folder.join(segment_name(number))
}

pub(crate) fn manifest_name() -> String {
    MANIFEST.to_owned()
}

pub(crate) fn segment_name(number: u64) -> String {
    format!("{SEGMENT}{number:016x}")
}

/// The kind of a file in an index folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Segment(u64),
    Temporary,
    Other,
}

pub(crate) fn kind(name: &str) -> Kind {
    let random = name.strip_prefix(OLD_PREFIX).and_then(|rest| rest.strip_suffix(OLD_SUFFIX));
    let is_old = |random: &str| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if name == TEMPORARY || random.is_some_and(is_old) {
        return Kind::Temporary;
    }
    let number = name.strip_prefix(SEGMENT).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match number {
        Some(number) if segment_name(number) == name => Kind::Segment(number),
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_left_alone() {
        assert_eq!(kind(&segment_name(0xa7)), Kind::Segment(0xa7));
        assert_eq!(kind(&segment_name(u64::MAX)), Kind::Segment(u64::MAX));
        for temporary in [TEMPORARY, ".memorist-0123456789abcdef.tmp"] {
            assert_eq!(kind(temporary), Kind::Temporary);
        }
        for other in ["manifest", LOCK, "segment-", "segment-a7", "segment-+0000000000000a7", "notes.txt"] {
            assert_eq!(kind(other), Kind::Other, "{other}");
        }
        for other in [".memorist-0123.tmp", ".memorist-0123456789abcd_F.tmp", ".memorist-0123456789abcdef.tmp.txt"] {
            assert_eq!(kind(other), Kind::Other, "{other}");
        }
    }
}
