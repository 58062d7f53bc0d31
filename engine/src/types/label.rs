//! The names of projects, agents and tags: one name is one, however it is typed.
//!
//! Unicode has two ways to write `é`, and systems choose differently: macOS names folders in the decomposed one. So a name is
//! composed (NFC) and trimmed when it is saved, and names are compared as if they were, because stores of earlier versions have
//! names as they were given.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The name as it is saved: composed, without white space around it.
pub fn label(name: &str) -> Cow<'_, str> {
    let name = name.trim();
    if name.is_ascii() || is_nfc(name) { Cow::Borrowed(name) } else { Cow::Owned(name.nfc().collect()) }
}

/// Whether two names are the same.
pub(crate) fn is_same_label(one: &str, other: &str) -> bool {
    one == other || label(one) == label(other)
}

/// Whether two tags are the same, which is also so in upper and lower case (ASCII).
pub(crate) fn is_same_tag(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || label(one).eq_ignore_ascii_case(&label(other))
}

/// The name as a store may have it, trimmed: composed, and decomposed where that is something else.
pub(crate) fn spellings(name: &str) -> Vec<String> {
    let composed = label(name).into_owned();
    let decomposed: String = composed.nfd().collect();
    if composed == decomposed { vec![composed] } else { vec![composed, decomposed] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_however_it_is_typed() {
        for name in ["Caf\u{e9}", "Cafe\u{301}", " Caf\u{e9}\t"] {
            assert_eq!(label(name), "Caf\u{e9}");
            assert_eq!(spellings(name), ["Caf\u{e9}", "Cafe\u{301}"]);
            assert!(is_same_label(name, "Cafe\u{301}") && is_same_tag(name, "cAfe\u{301} "));
            assert!(!is_same_label(name, "Cafe") && !is_same_label(name, "caf\u{e9}") && !is_same_tag(name, "Cafe"));
        }
        assert_eq!(spellings(" plain "), ["plain"]);
    }
}
