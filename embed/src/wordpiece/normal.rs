//! Normalization of a character: it is dropped, or becomes a space, punctuation, or letters without accents and case.
//!
//! A page of 256 characters is computed when the first of them is met.

use std::sync::OnceLock;

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

/// A part of a normalized character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharPart {
    /// The end of a word.
    Space,
    /// A word of its own.
    Punctuation(char),
    /// A part of a word.
    Letter(char),
    /// A combining mark, sorted among consecutive ones by its class.
    Mark(char),
    /// An empty part, but no mark behind it is sorted before it.
    Barrier,
}

/// Passes the parts of `char` to `take`.
pub fn parts(char: char, mut take: impl FnMut(CharPart)) {
    let code = u32::from(char) as usize;
    let Some(page) = PAGES.get(code >> 8) else { return };
    let page = page.get_or_init(|| CharPage::new(code as u32 & !0xFF));
    match page.entries[code & 0xFF] {
        CharEntry::Dropped => {}
        CharEntry::One(part) => take(part),
        CharEntry::Ideograph(char) => {
            take(CharPart::Space);
            take(CharPart::Letter(char));
            take(CharPart::Space);
        }
        CharEntry::Many(first, end) => {
            page.many[usize::from(first)..usize::from(end)].iter().for_each(|part| take(*part));
        }
    }
}

/// The class of a mark.
pub fn class(char: char) -> u8 {
    canonical_combining_class(char)
}

static PAGES: [OnceLock<CharPage>; 0x1100] = [const { OnceLock::new() }; 0x1100];

struct CharPage {
    entries: Box<[CharEntry; 256]>,
    many: Vec<CharPart>,
}

#[derive(Clone, Copy)]
enum CharEntry {
    Dropped,
    One(CharPart),
    Ideograph(char),
    /// The range of its parts in the page's list.
    Many(u16, u16),
}

impl CharPage {
    fn new(first: u32) -> Self {
        let mut page = CharPage { entries: Box::new([CharEntry::Dropped; 256]), many: Vec::new() };
        for (entry, code) in page.entries.iter_mut().zip(first..) {
            let all = char::from_u32(code).map(compute).unwrap_or_default();
            *entry = match all[..] {
                [] => CharEntry::Dropped,
                [part] => CharEntry::One(part),
                [CharPart::Space, CharPart::Letter(char), CharPart::Space] => CharEntry::Ideograph(char),
                _ => {
                    let start = page.many.len();
                    page.many.extend(all);
                    // At most four parts a character.
                    CharEntry::Many(start as u16, page.many.len() as u16)
                }
            };
        }
        page
    }
}

fn compute(char: char) -> Vec<CharPart> {
    let is_space = matches!(char, '\t' | '\n' | '\r');
    if matches!(char, '\0' | '\u{FFFD}') || (char.is_other() && !is_space) {
        return Vec::new();
    }
    if is_space || char.is_whitespace() {
        return vec![CharPart::Space];
    }
    let mut parts = Vec::new();
    let ideograph = is_ideograph(char);
    parts.extend(ideograph.then_some(CharPart::Space));
    decompose_canonical(char, |char| {
        if char.is_mark_nonspacing() {
            parts.extend((class(char) == 0).then_some(CharPart::Barrier));
            return;
        }
        parts.extend(char.to_lowercase().map(|lower| match lower {
            _ if class(char) != 0 => CharPart::Mark(lower),
            _ if lower.is_whitespace() => CharPart::Space,
            _ if lower.is_ascii_punctuation() || lower.is_punctuation() => CharPart::Punctuation(lower),
            _ => CharPart::Letter(lower),
        }));
    });
    parts.extend(ideograph.then_some(CharPart::Space));
    parts
}

/// Whether BERT puts spaces around a character; it does not for kana and hangul.
fn is_ideograph(char: char) -> bool {
    matches!(
        u32::from(char),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B73F
            | 0x2_B740..=0x2_B81F
            | 0x2_B920..=0x2_CEAF
            | 0xF900..=0xFAFF
            | 0x2_F800..=0x2_FA1F
    )
}
