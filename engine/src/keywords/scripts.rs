//! The elements of a text: words between gaps, runs of a script that is written without spaces, symbols.
//!
//! A run without spaces is a row of clusters, each of which a reader takes for one: an ideograph, a kana, a consonant with its
//! vowel signs and what stacks below it, a Thai or Lao consonant with the vowels before and after it, a Tibetan syllable. Its
//! terms are the clusters and the overlapping pairs of them: no mark is a term of its own.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// Joins emoji to one.
pub(super) const JOINER: char = '\u{200d}';

/// The element of a text that a character begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing: white space, punctuation.
    Gap,
    /// A word: letters, digits, and their marks.
    Word,
    /// A run of a script that is written without spaces.
    Unspaced,
    /// Symbols.
    Symbol,
}

impl Class {
    pub(super) fn of(c: char) -> Class {
        match c {
            _ if c.is_ascii() => {
                if c.is_ascii_alphanumeric() {
                    Class::Word
                } else {
                    Class::Gap
                }
            }
            _ if is_unspaced(c) => Class::Unspaced,
            _ if c.is_alphanumeric() => Class::Word,
            _ if is_symbol(c) => Class::Symbol,
            _ => Class::Gap,
        }
    }

    /// Whether a run of this class continues with `c`. A combining mark belongs to what is before it.
    pub(super) fn takes(self, c: char) -> bool {
        match self {
            Class::Gap => Class::of(c) == Class::Gap,
            Class::Word => Class::of(c) == Class::Word || is_combining_mark(c) && !is_unspaced(c),
            Class::Unspaced => is_unspaced(c) || is_combining_mark(c) || is_tsheg(c),
            Class::Symbol => is_symbol(c) || c == JOINER || is_tag(c) || is_combining_mark(c),
        }
    }
}

/// Whether `c` belongs to a script that is written without spaces between words: the ideographs, kana and bopomofo, Hangul
/// (whose spaces do not separate what a reader searches for), and those that Unicode's line breaking (UAX 14) gives the classes
/// SA, AK, AP and AS: Thai, Lao, Khmer, Burmese, Javanese and their kin; Tibetan, which separates syllables alone.
pub(super) fn is_unspaced(c: char) -> bool {
    is_ideographic(c) || is_in_blocks_without_spaces(c) && (c.is_alphabetic() || is_combining_mark(c))
}

fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3005}' | '\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}' | '\u{3131}'..='\u{318e}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

#[rustfmt::skip]
fn is_in_blocks_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{109f}'       // Thai, Lao, Tibetan, Burmese
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{1950}'..='\u{19df}'    // Tai Le, New Tai Lue
        | '\u{1a00}'..='\u{1aaf}'    // Buginese, Tai Tham
        | '\u{1b00}'..='\u{1bff}'    // Balinese, Sundanese, Batak
        | '\u{a000}'..='\u{a4cf}'    // Yi
        | '\u{a930}'..='\u{a95f}'    // Rejang
        | '\u{a980}'..='\u{a9ff}'    // Javanese, Burmese
        | '\u{aa00}'..='\u{aadf}'    // Cham, Burmese, Tai Viet
        | '\u{11000}'..='\u{1107f}'  // Brahmi
        | '\u{11300}'..='\u{1137f}'  // Grantha
        | '\u{11700}'..='\u{1174f}'  // Ahom
        | '\u{11ee0}'..='\u{11eff}'  // Makasar
        | '\u{11f00}'..='\u{11f5f}'  // Kawi
        | '\u{12000}'..='\u{1467f}'  // cuneiform, Egyptian and Anatolian hieroglyphs
        | '\u{16fe0}'..='\u{18d8f}'  // Tangut, Khitan
        | '\u{1b170}'..='\u{1b2ff}') // Nüshu
}

/// The separator of Tibetan syllables.
fn is_tsheg(c: char) -> bool {
    c == '\u{f0b}'
}

fn is_tibetan(c: char) -> bool {
    matches!(c, '\u{f00}'..='\u{fff}')
}

/// A vowel of Thai or Lao that is written before its consonant.
fn is_leading_vowel(c: char) -> bool {
    matches!(c, '\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}')
}

/// A vowel of Thai or Lao that is written after its consonant.
fn is_trailing_vowel(c: char) -> bool {
    matches!(c, '\u{e30}' | '\u{e32}' | '\u{e45}' | '\u{eb0}' | '\u{eb2}')
}

/// A mark that puts the next consonant below the one before it.
fn is_stacker(c: char) -> bool {
    matches!(
        c,
        '\u{1039}'
            | '\u{17d2}'
            | '\u{1a60}'
            | '\u{1b44}'
            | '\u{1bab}'
            | '\u{a9c0}'
            | '\u{11046}'
            | '\u{1134d}'
            | '\u{11f42}'
    )
}

/// The clusters of a run without spaces, in bytes.
pub(super) fn clusters(run: &str) -> Vec<Range<usize>> {
    let mut clusters: Vec<Range<usize>> = Vec::with_capacity(run.len() / 3);
    let mut before = None;
    for (at, c) in run.char_indices() {
        let joins = before.is_some_and(|before| match c {
            _ if is_tsheg(before) => false,
            _ => {
                is_combining_mark(c)
                    || is_trailing_vowel(c)
                    || is_stacker(before)
                    || is_leading_vowel(before)
                    || is_tibetan(before) && is_tibetan(c)
            }
        });
        let end = at + c.len_utf8();
        match clusters.last_mut() {
            _ if is_tsheg(c) => {}
            Some(last) if joins => last.end = end,
            _ => clusters.push(at..end),
        }
        before = Some(c);
    }
    clusters
}

/// Whether `c` is a symbol that says something by itself: an emoji, a sign of a currency, of mathematics, of music, an arrow.
/// ASCII symbols are punctuation, and characters that draw boxes and bars say nothing.
pub(super) fn is_symbol(c: char) -> bool {
    matches!(c,
        '\u{a2}' | '\u{a3}' | '\u{a5}' | '\u{a7}' | '\u{a9}' | '\u{ac}' | '\u{ae}' | '\u{b1}' | '\u{d7}' | '\u{f7}'
        | '\u{20a0}'..='\u{20cf}' | '\u{2100}'..='\u{214f}' | '\u{2190}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{4dc0}'..='\u{4dff}' | '\u{1d100}'..='\u{1d1ff}'
        | '\u{1f000}'..='\u{1faff}')
        && !c.is_alphanumeric()
        || matches!(c, '\u{e3f}' | '\u{17db}')
}

/// The colour of a skin.
pub(super) fn is_skin(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// A character that names the region of a flag.
fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

/// A letter of a flag.
fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// The symbols of a run of them, in bytes: an emoji with all that is joined to it is one, and two letters of a flag are.
pub(super) fn symbols(run: &str) -> Vec<Range<usize>> {
    let mut symbols: Vec<Range<usize>> = Vec::new();
    let (mut before, mut is_half_a_flag) = (None, false);
    for (at, c) in run.char_indices() {
        let completes = is_half_a_flag && is_regional(c);
        let joins = completes || before == Some(JOINER) || c == JOINER || is_tag(c) || is_combining_mark(c);
        is_half_a_flag = is_regional(c) && !completes;
        match symbols.last_mut() {
            Some(last) if joins => last.end = at + c.len_utf8(),
            _ => symbols.push(at..at + c.len_utf8()),
        }
        before = Some(c);
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, parts: fn(&str) -> Vec<Range<usize>>) -> Vec<&str> {
        parts(text).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn a_cluster_is_what_a_reader_takes_for_one() {
        for (run, expected) in [
            ("กรุงเทพ", "ก รุ ง เท พ"),
            ("ปลาน้\u{e4d}า", "ป ลา น้\u{e4d}า"),
            ("ວຽງຈັນ", "ວ ຽ ງ ຈັ ນ"),
            ("ភ្នំពេញ", "ភ្នំ ពេ ញ"),
            ("မြန်မာ", "မြ န် မာ"),
            ("བོད་སྐད་ཡིག", "བོད སྐད ཡིག"),
            ("ꦲꦏ꧀ꦱꦫ", "ꦲ ꦏ꧀ꦱ ꦫ"),
            ("東京都", "東 京 都"),
        ] {
            assert_eq!(split(run, clusters), expected.split(' ').collect::<Vec<_>>(), "{run}");
            assert!(run.chars().all(|c| Class::Unspaced.takes(c)), "{run}");
        }
    }

    #[test]
    fn an_emoji_with_all_that_is_joined_to_it_is_one_symbol() {
        for (run, expected) in
            [("🚀🎉", "🚀 🎉"), ("👩\u{200d}🚀🚀", "👩\u{200d}🚀 🚀"), ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"), ("→★", "→ ★")]
        {
            assert_eq!(split(run, symbols), expected.split(' ').collect::<Vec<_>>(), "{run}");
            assert!(run.chars().all(|c| Class::Symbol.takes(c)), "{run}");
        }
        for other in ['+', '|', '─', '█', '•', '…', '“', '\u{301}', 'ñ', '京'] {
            assert_ne!(Class::of(other), Class::Symbol, "{other}");
        }
    }
}
