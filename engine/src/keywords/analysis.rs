//! Text to terms: normalising, words, CJK bigrams, identifiers, stop words, stems.
//!
//! The same functions serve the index and the queries, so a text is always found by its own words. Whatever changes
//! their output must raise [`super::schema::FORMAT`], so that older indexes are rebuilt.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::overlap;

/// Words are cut at this many bytes, in texts and in queries alike, so a longer one is found by its prefix.
const MAX_WORD_BYTES: usize = 128;
/// Identifiers (paths, URLs) are cut at this many bytes.
const MAX_IDENTIFIER_BYTES: usize = 255;
/// How many suffixes of a path are separate terms: `c.rs`, `b/c.rs`, `a/b/c.rs`, ...
const MAX_ENDINGS: usize = 8;

/// Lower-cased NFKC with the accents of Latin and Greek letters folded away: `Caf\u{e9}`, `cafe\u{301}` and full-width
/// `ＣＡＦＥ` all become `cafe`. Marks that make another letter in their script (Japanese voicing, Cyrillic й, Indic
/// vowel signs) stay.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    let mut folded = String::with_capacity(text.len());
    // NFKC would write these two out as letters and glue them to the word before them.
    let composed = text.chars().map(|c| if matches!(c, '\u{2122}' | '\u{2120}') { ' ' } else { c }).nfkc();
    for c in composed.flat_map(char::to_lowercase) {
        push_folded(&mut folded, c);
    }
    Cow::Owned(folded)
}

fn push_folded(text: &mut String, c: char) {
    if c.is_ascii() {
        return text.push(c);
    }
    let plain = match c {
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
        _ => "",
    };
    if !plain.is_empty() {
        return text.push_str(plain);
    }
    if is_combining_mark(c) && text.chars().next_back().is_some_and(is_latin_or_greek) {
        return;
    }
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    match base {
        Some(base) if is_latin_or_greek(base) => text.push(base),
        _ => text.push(c),
    }
}

fn is_latin_or_greek(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{370}'..='\u{3ff}')
}

/// Whether `c` belongs to a script written without spaces whose characters are indexed one by one and in pairs: Han,
/// Hiragana, Katakana, Bopomofo, and Hangul (whose spaces do not separate what a reader searches for).
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3005}' | '\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}' | '\u{3131}'..='\u{318e}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Which CJK characters are terms besides the bigrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Singles {
    /// Every one: for indexing, so that a query of one character finds it.
    All,
    /// Those without a neighbour: for queries, as a bigram is more specific.
    Lone,
}

/// Calls `sink` with each word of a normalised text and its position. A pair of CJK characters has the position of its
/// first.
pub(super) fn words<'a>(text: &'a str, singles: Singles, mut sink: impl FnMut(&'a str, usize)) {
    let mut position = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let class = Class::of(first);
        let length = rest.char_indices().find(|&(_, c)| !class.takes(c)).map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(length);
        match class {
            Class::Gap => {}
            Class::Word => {
                sink(cut(run, MAX_WORD_BYTES), position);
                position += 1;
            }
            Class::Cjk => {
                let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
                for (index, &start) in starts[..starts.len() - 1].iter().enumerate() {
                    if singles == Singles::All || starts.len() == 2 {
                        sink(&run[start..starts[index + 1]], position);
                    }
                    if let Some(&end) = starts.get(index + 2) {
                        sink(&run[start..end], position);
                    }
                    position += 1;
                }
            }
        }
        rest = after;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Gap,
    Word,
    Cjk,
}

impl Class {
    pub(super) fn of(c: char) -> Class {
        match c {
            _ if is_cjk(c) => Class::Cjk,
            _ if c.is_alphanumeric() => Class::Word,
            _ => Class::Gap,
        }
    }

    /// Whether a run of this class continues with `c`. A combining mark belongs to the word before it.
    pub(super) fn takes(self, c: char) -> bool {
        match self {
            Class::Word => Class::of(c) == Class::Word || is_combining_mark(c) && !is_cjk(c),
            other => Class::of(c) == other,
        }
    }
}

/// The identifiers of a normalised text, each once: whole (`src/main.rs:42`, `snake_case`, `foo::bar`, `err_conn-42`,
/// `user@example.org`, `v1.2.3`, `c++`), and those of their parts that are identifiers themselves (`src/main.rs`,
/// `main.rs`, `example.org`). Parts that are plain words are found as words.
pub(super) fn identifiers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for chunk in text.split(|c: char| !is_identifier_char(c)) {
        let chunk = trim(chunk);
        if !is_compound(chunk) {
            continue;
        }
        keep(&mut found, chunk);
        for part in chunk.split(':') {
            keep(&mut found, part);
            for piece in part.split(is_path_separator) {
                keep(&mut found, piece);
                piece.split('.').for_each(|atom| keep(&mut found, atom));
            }
            let endings = part.rmatch_indices(is_path_separator).take(MAX_ENDINGS);
            endings.for_each(|(at, _)| keep(&mut found, &part[at..]));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

pub(super) fn is_identifier_char(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || "_-./\\:@?&=#+~%$!*^".contains(c),
        false => !is_cjk(c) && (c.is_alphanumeric() || is_combining_mark(c)),
    }
}

fn is_path_separator(c: char) -> bool {
    matches!(c, '/' | '\\' | '@' | '?' | '&' | '=' | '#')
}

/// Strips the punctuation around an identifier, but not what belongs to a name: `c++`, `c#`.
pub(super) fn trim(chunk: &str) -> &str {
    let chunk = chunk.trim_start_matches(|c: char| c.is_ascii_punctuation());
    let core = chunk.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let tail = &chunk[core.len()..];
    let kept = tail.len() - tail.trim_start_matches(['+', '#']).len();
    &chunk[..core.len() + kept]
}

fn is_compound(identifier: &str) -> bool {
    identifier.bytes().any(|byte| byte.is_ascii_punctuation())
}

fn keep<'a>(found: &mut Vec<&'a str>, piece: &'a str) {
    let piece = trim(piece);
    if is_compound(piece) {
        found.push(cut(piece, MAX_IDENTIFIER_BYTES));
    }
}

/// The first `most` bytes of `text`, or a little less where a character would be cut in two.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The longest word of a text, normalised: a text that contains this one has it, as a word or as a part of one. `None` if it
/// has no letter or digit of a script with words.
pub fn longest_word(text: &str) -> Option<String> {
    let text = normalise(text);
    let mut longest = "";
    words(&text, Singles::Lone, |word, _| {
        let is_longer = word.len() > longest.len();
        if is_longer && word.len() < MAX_WORD_BYTES && !word.chars().any(is_cjk) {
            longest = word;
        }
    });
    (!longest.is_empty()).then(|| longest.to_owned())
}

/// How many different words a text has beside stop words.
pub fn significant_count(text: &str) -> usize {
    let text = normalise(text);
    let mut spoken = BTreeSet::new();
    words(&text, Singles::Lone, |word, _| {
        if !is_stop_word(word) {
            spoken.insert(word);
        }
    });
    spoken.len()
}

/// The significant words of a text, normalised.
pub fn significant_words(text: &str) -> BTreeSet<String> {
    let text = normalise(text);
    let mut spoken = Vec::new();
    words(&text, Singles::Lone, |word, _| spoken.push(word));
    overlap::significant(spoken, is_stop_word).into_iter().map(str::to_owned).collect()
}

/// English words that are not significant. They are indexed; a query drops them unless it has nothing else. Single
/// letters are what is left of `it's`, `don't`, `we'll`.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don",
    "during", "each", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "herself",
    "him", "himself", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "ll", "m", "me",
    "more", "most", "my", "myself", "no", "nor", "not", "now", "o", "of", "off", "on", "once", "only", "or", "other",
    "our", "ours", "ourselves", "out", "over", "own", "re", "s", "same", "she", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "under", "until", "up", "ve", "very", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours", "yourself", "yourselves",
];

/// A stemmer of single words, for queries.
pub(super) struct WordStemmer(TextAnalyzer);

impl WordStemmer {
    pub(super) fn new() -> Self {
        WordStemmer(TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build())
    }

    /// The stem of a normalised word (Porter 2 for English, as in the index).
    pub(super) fn stem(&mut self, word: &str) -> String {
        let mut stream = self.0.token_stream(word);
        match stream.next() {
            Some(token) => token.text.clone(),
            None => word.to_owned(),
        }
    }
}

/// The analyser of the content: stems with their positions, as often as they occur.
pub(super) fn content_analyser() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer).filter(Stemmer::new(Language::English)).build()
}

/// The analyser of context and tags: each stem once.
pub(super) fn distinct_analyser() -> TextAnalyzer {
    TextAnalyzer::from(DistinctTokenizer(content_analyser()))
}

/// The analyser of identifiers: each once.
pub(super) fn identifier_analyser() -> TextAnalyzer {
    TextAnalyzer::from(IdentifierTokenizer)
}

#[derive(Clone)]
struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = TokenList;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TokenList {
        let text = normalise(text);
        let mut tokens = Vec::with_capacity(text.len() / 5);
        words(&text, Singles::All, |word, position| tokens.push(token(word, position)));
        TokenList::new(tokens)
    }
}

#[derive(Clone)]
struct DistinctTokenizer(TextAnalyzer);

impl Tokenizer for DistinctTokenizer {
    type TokenStream<'a> = TokenList;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TokenList {
        let mut stems = Vec::new();
        self.0.token_stream(text).process(&mut |token| stems.push(token.text.clone()));
        stems.sort_unstable();
        stems.dedup();
        TokenList::new(stems.iter().enumerate().map(|(position, stem)| token(stem, position)).collect())
    }
}

#[derive(Clone)]
struct IdentifierTokenizer;

impl Tokenizer for IdentifierTokenizer {
    type TokenStream<'a> = TokenList;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TokenList {
        let text = normalise(text);
        let found = identifiers(&text);
        TokenList::new(found.iter().enumerate().map(|(position, text)| token(text, position)).collect())
    }
}

/// Offsets into the text are omitted: nothing reads them.
fn token(text: &str, position: usize) -> Token {
    Token { offset_from: 0, offset_to: 0, position, text: text.to_owned(), position_length: 1 }
}

/// A stream of precomputed tokens.
struct TokenList {
    tokens: Vec<Token>,
    next: usize,
}

impl TokenList {
    fn new(tokens: Vec<Token>) -> Self {
        TokenList { tokens, next: 0 }
    }
}

impl TokenStream for TokenList {
    fn advance(&mut self) -> bool {
        let more = self.next < self.tokens.len();
        self.next += usize::from(more);
        more
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.next - 1]
    }
}
