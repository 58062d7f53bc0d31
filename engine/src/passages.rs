//! A text that does not fit into the model's window: the passages after its beginning, and the keys of their vectors.
//!
//! The model embeds the beginning of a record's text, as far as its window reaches. The rest is cut into further passages,
//! each with the context before it, as the beginning has. They depend on the text alone, by an estimate of its tokens:
//! whether there is a model, and which, changes nothing.
//!
//! A passage ends with a paragraph if one ends in its second half, else with a sentence, else between two words; it begins
//! with the end of the one before. So an edit changes no passage before it, and none after the two texts are cut at one place
//! again.

use std::fmt;
use std::ops::Range;

use roaring::RoaringTreemap;

use crate::text::{self, Hash};
use crate::types::RecordId;

/// Another version cuts other passages.
pub const VERSION: i64 = 1;
/// Passages of a record, its beginning included. What comes after the last one is found by its words alone.
pub const MOST: usize = 256;
/// A text of fewer bytes fits into the window: a token has at least one.
pub const ALWAYS_FITS: i64 = WINDOW as i64;
/// Tokens of a beginning. The default model reads 256, two of which mark the ends.
const WINDOW: usize = 254;
/// Tokens of a passage: the fewer, the more does a fact in it weigh, and the more vectors there are (`docs/src/figures.md`).
const PASSAGE: usize = 96;
/// Tokens that a passage repeats of the one before.
const OVERLAP: usize = 24;

/// The key of a vector: the number of a passage in the eight high bits, the id of its record below. The beginning of a
/// record is its passage 0: its key is that of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassageKey(u64);

impl PassageKey {
    /// Ids are smaller: none beyond 53 bits is taken for one.
    const NUMBER: u32 = 56;
    /// The first key of a further passage.
    pub const FURTHER: u64 = 1 << Self::NUMBER;

    /// The key of a passage of a record.
    pub const fn new(record: RecordId, number: u8) -> Self {
        PassageKey(record.key() | (number as u64) << Self::NUMBER)
    }

    /// The bare number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The record.
    pub const fn record(self) -> RecordId {
        RecordId::from_key(self.0 & (Self::FURTHER - 1))
    }

    /// Which passage of it.
    pub const fn number(self) -> u8 {
        (self.0 >> Self::NUMBER) as u8
    }
}

impl From<u64> for PassageKey {
    fn from(key: u64) -> Self {
        PassageKey(key)
    }
}

impl From<RecordId> for PassageKey {
    fn from(record: RecordId) -> Self {
        PassageKey::new(record, 0)
    }
}

impl fmt::Display for PassageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record().fmt(f)?;
        if self.number() > 0 { write!(f, ", passage {}", self.number()) } else { Ok(()) }
    }
}

/// The keys in `further` of the passages of these records.
pub fn of_records(records: &RoaringTreemap, further: &RoaringTreemap) -> RoaringTreemap {
    const ID: u32 = (1 << (PassageKey::NUMBER - 32)) - 1;
    let own = further.bitmaps().filter_map(|(high, keys)| {
        let (_, records) = records.bitmaps().find(|(of, _)| *of == high & ID)?;
        Some((high, keys & records))
    });
    RoaringTreemap::from_bitmaps(own.filter(|(_, keys)| !keys.is_empty()))
}

/// A passage after the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// From 1.
    pub number: u8,
    /// The bytes of the content that it has.
    pub bytes: Range<usize>,
    /// The key of its embedding.
    pub hash: Hash,
}

/// The passages after the beginning of a text; none of one that fits into the window.
pub fn further(context: Option<&str>, content: &str) -> Vec<Passage> {
    let context_before = text::embedded_context(context);
    if context_before.len() + content.len() < WINDOW {
        return Vec::new();
    }
    let of_context = breaks(context_before, WINDOW).last().map_or(0, |last| last.tokens);
    let room = WINDOW.saturating_sub(of_context).max(PASSAGE);
    let ranges = cut(content, room).into_iter().zip(1..=u8::MAX);
    let hash = |bytes: &Range<usize>| text::embedding_hash(context, &content[bytes.clone()]);
    ranges.map(|(bytes, number)| Passage { number, hash: hash(&bytes), bytes }).collect()
}

/// Cuts what comes after so many tokens of a text into passages.
fn cut(text: &str, room: usize) -> Vec<Range<usize>> {
    let breaks = breaks(text, room + MOST * PASSAGE);
    let Some(total) = breaks.last().map(|last| last.tokens).filter(|total| *total > room) else { return Vec::new() };
    let (mut start, mut end) = (0, last_break(&breaks, 0, room / 2..room));
    let mut passages = Vec::new();
    while passages.len() < MOST - 1 {
        let before = breaks[end].tokens;
        // A short end is no passage by itself: it gets more of what is before it.
        let overlap = OVERLAP.max((PASSAGE / 2).saturating_sub(total - before));
        start = first_break(&breaks, start, end, before.saturating_sub(overlap));
        let first = breaks[start].tokens;
        let is_last = total - first <= PASSAGE;
        end = if is_last { breaks.len() - 1 } else { last_break(&breaks, start, first + PASSAGE / 2..first + PASSAGE) };
        passages.push(breaks[start].at..text[..breaks[end].at].trim_end().len());
        if is_last {
            break;
        }
    }
    passages
}

/// The last break of the best kind that there is among these tokens; at least the one after `start`.
fn last_break(breaks: &[Break], start: usize, tokens: Range<usize>) -> usize {
    let next = start + 1;
    let from = next + breaks[next..].partition_point(|one| one.tokens < tokens.start);
    let until = next + breaks[next..].partition_point(|one| one.tokens <= tokens.end);
    (from..until).max_by_key(|at| breaks[*at].kind).unwrap_or((until - 1).max(next))
}

/// The first break of the best kind from so many tokens on, after `start` and before `end`; `end` if there is none.
fn first_break(breaks: &[Break], start: usize, end: usize, tokens: usize) -> usize {
    let from = start + 1 + breaks[start + 1..end].partition_point(|one| one.tokens < tokens);
    (from..end).rev().max_by_key(|at| breaks[*at].kind).unwrap_or(end)
}

/// How well a text can be cut at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BreakKind {
    /// Within a word that is too long, or has no end that can be seen.
    Letter,
    Word,
    Sentence,
    Paragraph,
}

/// A place where a text can be cut.
#[derive(Debug, Clone, Copy)]
struct Break {
    at: usize,
    /// Tokens before it.
    tokens: usize,
    kind: BreakKind,
}

/// The places where a text can be cut, from its beginning to its end, or until there are more tokens than `most`.
///
/// The tokens are estimated, rather too many than too few: one for four letters of a word, for two digits and for any
/// other character (three for a Korean syllable, which the model takes apart).
fn breaks(text: &str, most: usize) -> Vec<Break> {
    let mut breaks = vec![Break { at: 0, tokens: 0, kind: BreakKind::Paragraph }];
    let (mut tokens, mut lines, mut in_run) = (0, 0, 0_usize);
    let (mut run, mut before) = (CharClass::Other, ' ');
    let mut ends_sentence = false;
    for (at, char) in text.char_indices() {
        let this = CharClass::of(char);
        if char.is_whitespace() {
            lines += usize::from(char == '\n');
            run = CharClass::Other;
        } else {
            let kind = match (lines, before.is_whitespace(), ends_sentence) {
                (2.., ..) => BreakKind::Paragraph,
                (1, ..) | (0, true, true) => BreakKind::Sentence,
                (0, true, false) => BreakKind::Word,
                (0, false, true) if !before.is_ascii() => BreakKind::Sentence,
                (0, false, _) => BreakKind::Letter,
            };
            in_run = if this == run && kind == BreakKind::Letter { in_run + 1 } else { 0 };
            // Not all letters of a word, but each character of a script that has no spaces.
            let is_cut = in_run > 0 && in_run.is_multiple_of(LETTERS) || this == CharClass::Other && !char.is_ascii();
            if at > 0 && (is_cut || kind > BreakKind::Letter) {
                breaks.push(Break { at, tokens, kind });
            }
            if tokens > most {
                break;
            }
            tokens += match this {
                CharClass::Letters | CharClass::Digits if !in_run.is_multiple_of(this.per_token()) => 0,
                CharClass::Other if ('\u{AC00}'..='\u{D7A3}').contains(&char) => 3,
                _ => 1,
            };
            lines = 0;
            run = this;
            // Brackets and quotes after the end of a sentence belong to it.
            ends_sentence = SENTENCE_ENDS.contains(&char) || ends_sentence && "\"')]”’」』".contains(char);
        }
        before = char;
    }
    if tokens <= most {
        breaks.push(Break { at: text.len(), tokens, kind: BreakKind::Paragraph });
    }
    breaks
}

/// Characters that end a sentence.
const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];
/// A word of more letters can be cut after so many.
const LETTERS: usize = 16;

/// A class of characters that make one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Latin ones.
    Letters,
    Digits,
    Other,
}

impl CharClass {
    fn of(char: char) -> Self {
        match char {
            '0'..='9' => CharClass::Digits,
            'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' => CharClass::Letters,
            _ => CharClass::Other,
        }
    }

    /// How many characters are one token.
    fn per_token(self) -> usize {
        match self {
            CharClass::Letters => 4,
            CharClass::Digits => 2,
            CharClass::Other => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn words(count: usize) -> String {
        (0..count).map(|n| format!("word{n} ")).collect()
    }

    fn texts<'a>(content: &'a str, passages: &[Passage]) -> Vec<&'a str> {
        passages.iter().map(|passage| &content[passage.bytes.clone()]).collect()
    }

    fn tokens(text: &str) -> usize {
        breaks(text, usize::MAX).last().unwrap().tokens
    }

    #[test]
    fn tokens_are_estimated() {
        assert_eq!(tokens("the cat sat, quietly."), 1 + 1 + 1 + 1 + 2 + 1);
        assert_eq!(tokens("Müller 8443 x"), 2 + 2 + 1);
        assert_eq!(tokens("認証です"), 4);
        assert_eq!(tokens("한국"), 6);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn a_text_that_fits_has_no_further_passage() {
        for text in [String::new(), "a".repeat(WINDOW), "dark mode ".repeat(100), "漢".repeat(WINDOW)] {
            assert_eq!(further(None, &text), [], "{} bytes", text.len());
        }
        assert_eq!(further(None, &"漢".repeat(WINDOW + 1)).len(), 1);
        let fits = "dark ".repeat(200);
        assert_eq!((further(None, &fits).len(), further(Some(&fits), &fits).len()), (0, 1), "with its context");
    }

    #[test]
    fn passages_end_with_paragraphs_and_sentences_and_overlap() {
        let sentence = |n: usize| format!("Sentence number {n} says something about one thing or another. ");
        let paragraph = |n: usize| (10 * n..10 * n + 10).map(sentence).collect::<String>();
        let text = (0..9).map(paragraph).collect::<Vec<_>>().join("\n\n");
        let passages = further(Some("a title"), &text);
        for passage in texts(&text, &passages) {
            assert!(passage.starts_with("Sentence") && passage.ends_with('.'), "{passage}");
            let end = passage.rfind("\n\n").unwrap_or(0);
            assert!(end < passage.len() * 6 / 10, "a paragraph ends in its second half: {passage}");
        }
        for pair in passages.windows(2) {
            assert!(pair[1].bytes.start < pair[0].bytes.end, "{pair:?}");
        }
        assert_eq!(passages[0].hash, text::embedding_hash(Some("a title"), &text[passages[0].bytes.clone()]));
    }

    #[test]
    fn an_edit_changes_the_passages_around_it_alone() {
        let paragraphs = |edited: &str| -> String {
            let one = |n: usize| format!("{n} {}{}.\n\n", words(20 + n * 7 % 31), if n == 30 { edited } else { "" });
            (0..120).map(one).collect()
        };
        let hashes = |edited| -> HashSet<Hash> {
            further(None, &paragraphs(edited)).into_iter().map(|passage| passage.hash).collect()
        };
        let (before, after) = (hashes(""), hashes("which somebody has added here since then, some more words"));
        let new = after.difference(&before).count();
        assert!(before.len() > 30 && (1..=before.len() / 4).contains(&new), "{new} of {}", before.len());
    }

    #[test]
    fn no_text_has_more_passages_than_the_most() {
        let text = words(100_000);
        let passages = further(None, &text);
        assert_eq!(passages.len(), MOST - 1);
        assert_eq!(passages.last().map(|passage| usize::from(passage.number)), Some(MOST - 1));
    }

    #[test]
    fn a_key_names_the_record_and_the_passage() {
        for (id, number) in [(1, 0), (7, 255), ((1 << 53) - 1, 5)] {
            let key = PassageKey::new(RecordId::from(id), number);
            assert_eq!((key.record().get(), key.number()), (id, number));
            assert_eq!(PassageKey::from(key.get()), key);
        }
        assert_eq!(PassageKey::from(RecordId::from(7)).get(), 7);
        assert_eq!(PassageKey::new(RecordId::from(7), 3).to_string(), "7, passage 3");
    }

    #[test]
    fn the_keys_of_records_are_found_among_others() {
        let far = 1 << 40;
        let key = |id: i64, number| PassageKey::new(RecordId::from(id), number).get();
        let further = [key(1, 1), key(1, 2), key(2, 1), key(far, 1), key(far + 1, 255)];
        let of = |ids: &[u64]| {
            of_records(&ids.iter().copied().collect(), &further.into_iter().collect()).iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[1, 3]), [key(1, 1), key(1, 2)]);
        assert_eq!(of(&[far as u64, far as u64 + 1]), [key(far, 1), key(far + 1, 255)]);
        assert!(of(&[9]).is_empty());
    }

    proptest! {
        /// Whatever the text: nothing is between two passages but space, and none is longer than the window.
        #[test]
        fn passages_cover_the_text(text in "([a-zé]{0,30}|[0-9]{0,9}|[漢字한국!. \n]{0,5}|[^\\x00]{0,4}){0,400}") {
            let passages = further(None, &text);
            let mut covered = passages.first().map_or(text.len(), |first| first.bytes.start);
            for (passage, number) in passages.iter().zip(1..) {
                prop_assert_eq!(passage.number, number);
                prop_assert!(passage.bytes.start <= covered || text[covered..passage.bytes.start].trim().is_empty());
                prop_assert!(!text[passage.bytes.clone()].trim().is_empty());
                prop_assert!(tokens(&text[passage.bytes.clone()]) <= PASSAGE);
                covered = passage.bytes.end;
            }
            prop_assert!(text[covered.min(text.len())..].trim().is_empty());
            let beginning = passages.first().map_or(text.len(), |first| first.bytes.start);
            prop_assert!(tokens(&text[..beginning]) <= WINDOW);
        }
    }
}
