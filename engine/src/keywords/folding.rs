//! One spelling for what readers take for the same: of a text and of what is searched for in it.
//!
//! | of | what is folded |
//! |---|---|
//! | every script | case, width, composed and decomposed forms (NFKC); decimal digits become those of ASCII |
//! | Latin, Greek | accents; ß, æ, ø, đ and their like become plain letters |
//! | Cyrillic | ё is е; marks of stress are left out. й is a letter of its own |
//! | Arabic | vowel marks and tatweel are left out; alef, waw and yeh with hamza are plain; ى is ي, ة is ه; so are the forms of Persian and Urdu |
//! | Hebrew | points and cantillation are left out |
//! | Devanagari | the nukta is left out |
//! | emoji | characters that choose a color of skin or a way to draw it are left out |
//!
//! Marks that make another letter in their script (Japanese voicing, Indic vowel signs) stay.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::scripts::{JOINER, is_skin, is_symbol};

/// Suppresses a joined form. In Persian it is a gap.
const NON_JOINER: char = '\u{200c}';
/// The digits 0 of scripts: each is followed by its other nine.
const ZEROS: [char; 22] = [
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}', '\u{c66}',
    '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}',
    '\u{a9d0}', '\u{1b50}',
];

/// A text as it is compared: `Caf\u{e9}`, `cafe\u{301}` and full-width `ＣＡＦＥ` all become `cafe`.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    let mut folded = String::with_capacity(text.len());
    // NFKC would write ™ and ℠ out as letters and glue them to the word before them.
    let shown = text.chars().filter(|c| !is_invisible(*c));
    let composed = shown.map(|c| if matches!(c, '\u{2122}' | '\u{2120}') { ' ' } else { c }).nfkc();
    for c in composed.flat_map(char::to_lowercase) {
        push_folded(&mut folded, c);
    }
    Cow::Owned(folded)
}

/// A soft hyphen, what chooses how a character is drawn, and the frame of a keycap.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{fe00}'..='\u{fe0f}' | '\u{20e3}' | '\u{e0100}'..='\u{e01ef}')
}

fn push_folded(text: &mut String, c: char) {
    if c.is_ascii() {
        return text.push(c);
    }
    let last = text.chars().next_back();
    let is_left_out = match c {
        '\u{640}' | '\u{93c}' => true,
        JOINER => !last.is_some_and(is_symbol),
        NON_JOINER => last.is_some_and(is_combining_mark),
        '\u{300}' | '\u{301}' if last.is_some_and(is_cyrillic) => true,
        _ if is_skin(c) => last.is_some_and(is_symbol),
        _ if is_combining_mark(c) => is_arabic_or_hebrew(c) || last.is_some_and(is_latin_or_greek),
        _ => false,
    };
    if is_left_out {
        return;
    }
    match folded(c) {
        Some(plain) => text.push_str(plain),
        None => text.push(digit(c).unwrap_or_else(|| without_accent(c))),
    }
}

/// The letters that stand for `c`, where they are no part of it.
#[rustfmt::skip]
fn folded(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        'þ' => "th",
        'ς' => "σ",
        'ё' | 'ѐ' => "е",
        'ѝ' => "и",
        // Alef with hamza, madda or wasla; waw and yeh with hamza; alef maqsura and the Persian yeh; teh marbuta and the Urdu
        // forms of heh; the Persian kaf.
        '\u{622}' | '\u{623}' | '\u{625}' | '\u{671}'..='\u{673}' => "\u{627}",
        '\u{624}' => "\u{648}",
        '\u{626}' | '\u{649}' | '\u{6cc}' => "\u{64a}",
        '\u{629}' | '\u{6c0}'..='\u{6c3}' => "\u{647}",
        '\u{6a9}' => "\u{643}",
        // Devanagari letters that are composed with a nukta.
        '\u{929}' => "\u{928}",
        '\u{931}' => "\u{930}",
        '\u{934}' => "\u{933}",
        _ => return None,
    })
}

/// The digit of ASCII that a decimal digit of another script is.
fn digit(c: char) -> Option<char> {
    let value = |zero: &char| u32::from(c).checked_sub(u32::from(*zero)).filter(|value| *value < 10);
    ZEROS.iter().find_map(value).and_then(|value| char::from_digit(value, 10))
}

/// A Latin or Greek letter without its accents; any other character as it is.
fn without_accent(c: char) -> char {
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    base.filter(|base| is_latin_or_greek(*base)).unwrap_or(c)
}

fn is_latin_or_greek(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{370}'..='\u{3ff}')
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

fn is_arabic_or_hebrew(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}')
}
