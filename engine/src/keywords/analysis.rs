//! Text to terms: words, pairs of clusters, symbols, identifiers and their parts, stop words, stems.
//!
//! Index and queries use the same functions, so a text is always found by its own words. A change of their output must raise
//! [`super::schema::FORMAT`], so that older indexes are rebuilt.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};
use unicode_normalization::char::is_combining_mark;

use super::folding::normalise;
use super::scripts::{Class, JOINER, clusters, is_symbol, is_unspaced, symbols};
use crate::overlap;

/// Words are cut at this many bytes, in texts and in queries alike, so a longer one is found by its prefix.
const MAX_WORD_BYTES: usize = 128;
/// Identifiers (paths, URLs) are cut at this many bytes.
const MAX_IDENTIFIER_BYTES: usize = 255;
/// How many suffixes of a path are separate terms: `c.rs`, `b/c.rs`, `a/b/c.rs`, ...
const MAX_ENDINGS: usize = 8;
/// Maximum number of [`pieces`].
const MAX_PIECES: usize = 8;
/// A longer name in camel case is a hash or a key, and so is one of half that length that has a digit.
const MAX_NAME_BYTES: usize = 40;

/// Which clusters of a script without spaces are terms besides the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Singles {
    /// Every one: for indexing, so that a query of one cluster finds it.
    All,
    /// Clusters without a neighbor: for queries, as a pair is more specific.
    Lone,
}

/// Calls `sink` with each word of a normalised text and its position. A pair of clusters has the position of its first, and of
/// several emoji that are joined the first one, which is a word by itself, that of the whole.
pub(super) fn words<'a>(text: &'a str, singles: Singles, mut sink: impl FnMut(&'a str, usize)) {
    let mut position = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let class = Class::of(first);
        let length = rest.char_indices().skip(1).find(|&(_, c)| !class.takes(c)).map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(length);
        match class {
            Class::Gap => {}
            Class::Word => {
                sink(cut(run, MAX_WORD_BYTES), position);
                position += 1;
            }
            Class::Unspaced => {
                let clusters = clusters(run);
                for (at, cluster) in clusters.iter().enumerate() {
                    if singles == Singles::All || clusters.len() == 1 {
                        sink(cut(&run[cluster.clone()], MAX_WORD_BYTES), position);
                    }
                    if let Some(next) = clusters.get(at + 1) {
                        sink(cut(&run[cluster.start..next.end], MAX_WORD_BYTES), position);
                    }
                    position += 1;
                }
            }
            Class::Symbol => {
                for symbol in symbols(run) {
                    let whole = run[symbol].trim_end_matches(JOINER);
                    sink(cut(whole, MAX_WORD_BYTES), position);
                    if let Some((first, _)) = whole.split_once(JOINER) {
                        sink(cut(first, MAX_WORD_BYTES), position);
                    }
                    position += 1;
                }
            }
        }
        rest = after;
    }
}

/// The identifiers of a normalised text, each once: whole (`src/main.rs:42`, `snake_case`, `foo::bar`, `err_conn-42`,
/// `user@example.org`, `v1.2.3`, `c++`), and those of their parts that are identifiers themselves (`src/main.rs`,
/// `main.rs`, `example.org`). Parts that are plain words are found as words.
pub(super) fn identifiers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    each_identifier(text, |identifier| found.push(identifier));
    found.sort_unstable();
    found.dedup();
    found
}

/// Calls `sink` with each identifier of a normalised text, as often as it is there.
pub(super) fn each_identifier<'a>(text: &'a str, mut sink: impl FnMut(&'a str)) {
    let mut keep = |piece: &'a str| {
        let piece = trim(piece);
        if is_compound(piece) {
            sink(cut(piece, MAX_IDENTIFIER_BYTES));
        }
    };
    for chunk in text.split(|c: char| !is_identifier_char(c)) {
        let chunk = trim(chunk);
        if !is_compound(chunk) {
            continue;
        }
        keep(chunk);
        for part in chunk.split(':') {
            keep(part);
            for piece in part.split(is_path_separator) {
                keep(piece);
                piece.split('.').for_each(&mut keep);
            }
            let endings = part.rmatch_indices(is_path_separator).take(MAX_ENDINGS);
            endings.for_each(|(at, _)| keep(&part[at..]));
        }
    }
}

pub(super) fn is_identifier_char(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || "_-./\\:@?&=#+~%$!*^".contains(c),
        false => !is_unspaced(c) && (c.is_alphanumeric() || is_combining_mark(c)),
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

/// The first `most` bytes of `text`, or a little less where a character would be cut in two.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// A name in camel case, in bytes of a text.
pub(super) struct CamelCase {
    pub(super) whole: Range<usize>,
    /// Its parts, but those of one letter, which say nothing (`iPhone`).
    pub(super) parts: Vec<Range<usize>>,
}

/// The names of a text (not normalised) that are written in camel case: `getUserById`, `HTTPServer`.
pub(super) fn names_in_camel_case(text: &str) -> Vec<CamelCase> {
    let mut names = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if Class::of(c) == Class::Word || start.is_some() && is_combining_mark(c) {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            names.extend(CamelCase::of(text, start..at));
        }
    }
    names
}

impl CamelCase {
    fn of(text: &str, whole: Range<usize>) -> Option<Self> {
        let name = &text[whole.clone()];
        let has_hump = || name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
        let is_hash = || 2 * name.len() > MAX_NAME_BYTES && name.bytes().any(|byte| byte.is_ascii_digit());
        if name.len() > MAX_NAME_BYTES || !has_hump() || is_hash() {
            return None;
        }
        let letters: Vec<(usize, char)> = name.char_indices().collect();
        let is_lower = |at: usize| letters.get(at).is_some_and(|(_, c)| c.is_lowercase());
        let mut begins = vec![whole.start];
        for (at, &(byte, c)) in letters.iter().enumerate().skip(1) {
            // The last capital of several begins a word, unless what follows is the s of a plural.
            if c.is_uppercase() && (is_lower(at - 1) || is_lower(at + 1) && is_lower(at + 2)) {
                begins.push(whole.start + byte);
            }
        }
        let ends = begins.iter().skip(1).copied().chain([whole.end]);
        let parts: Vec<_> = begins.iter().zip(ends).map(|(&begin, end)| begin..end).collect();
        let is_one = parts.len() == 1;
        let parts = parts.into_iter().filter(|part| part.len() > 1).collect();
        (!is_one).then_some(CamelCase { whole, parts })
    }
}

/// The parts of the names in camel case of some texts, as one text.
pub(super) fn parts_of_names<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for text in texts {
        for part in names_in_camel_case(text).into_iter().flat_map(|name| name.parts) {
            all.push_str(&text[part]);
            all.push(' ');
        }
    }
    all
}

/// The words of a query to look for within words: the text between white space, without the punctuation around it. Stop words
/// and words of one or two letters only if there are no others; the whole text if it has no word.
pub fn pieces(text: &str) -> Vec<String> {
    let is_around = |c: char| Class::of(c) == Class::Gap && !is_combining_mark(c);
    let all = || text.split_whitespace().map(|piece| piece.trim_matches(is_around)).filter(|piece| !piece.is_empty());
    let is_long = |piece: &&str| piece.chars().nth(2).is_some() && !is_stop_word(&normalise(piece));
    let mut pieces: Vec<&str> = all().filter(is_long).collect();
    if pieces.is_empty() {
        pieces = all().collect();
    }
    if pieces.is_empty() {
        pieces.push(text.trim());
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces.into_iter().take(MAX_PIECES).map(str::to_owned).collect()
}

/// The longest word of a text, normalised: a text that contains this one has it, as a word or as a part of one. `None` if it
/// has no letter or digit of a script with words.
pub fn longest_word(text: &str) -> Option<String> {
    let text = normalise(text);
    let mut longest = "";
    words(&text, Singles::Lone, |word, _| {
        let is_longer = word.len() > longest.len();
        if is_longer && word.len() < MAX_WORD_BYTES && word.chars().next().map(Class::of) == Some(Class::Word) {
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
        if !is_stop_word(word) && !begins_with_symbol(word) {
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
    spoken.retain(|word| !begins_with_symbol(word));
    overlap::significant(spoken, is_stop_word).into_iter().map(str::to_owned).collect()
}

fn begins_with_symbol(word: &str) -> bool {
    word.starts_with(is_symbol)
}

/// Words that are not significant, normalised. They are indexed; a query drops them unless it has nothing else. Single
/// letters are what is left of `it's`, `don't`, `we'll`.
pub(super) fn is_stop_word(word: &str) -> bool {
    [STOP_WORDS, OTHER_STOP_WORDS].iter().any(|list| list.binary_search(&word).is_ok())
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

/// Stop words of German, French, Spanish, Portuguese, Italian, Dutch, Polish and Russian that are no words of English or of
/// programs.
#[rustfmt::skip]
const OTHER_STOP_WORDS: &[&str] = &[
    "al", "alla", "als", "ao", "au", "auch", "auf", "aus", "aux", "avec", "bei", "bis", "ce", "cet", "cette", "che",
    "chi", "como", "con", "cosa", "cual", "cuando", "czy", "da", "dal", "dalla", "dans", "das", "dat", "de", "dei",
    "dein", "della", "delle", "dem", "der", "des", "di", "dit", "dla", "donde", "dos", "du", "een", "ein", "eine",
    "einem", "einen", "einer", "el", "elle", "elles", "en", "er", "est", "esta", "este", "et", "fue", "gdzie", "gli",
    "habe", "haben", "het", "hoe", "ich", "ihr", "il", "ile", "ils", "im", "ins", "ist", "jak", "jaka", "jaki",
    "jakie", "jakim", "je", "kann", "kiedy", "kto", "ktora", "ktore", "ktorego", "ktorej", "ktory", "ktorym", "l",
    "la", "las", "le", "les", "leur", "lo", "los", "mein", "meine", "mes", "mi", "naar", "nach", "nel", "nella",
    "nicht", "nie", "noch", "nos", "notre", "nous", "od", "oder", "onde", "ont", "ou", "para", "pas", "por",
    "pourquoi", "przy", "qu", "quais", "qual", "quale", "quali", "quand", "que", "quel", "quelle", "quelles", "quels",
    "quem", "qui", "quien", "quienes", "quoi", "sao", "se", "sein", "seine", "si", "sich", "sie", "sind", "sono",
    "sont", "sur", "ta", "te", "tu", "um", "uma", "un", "una", "und", "une", "uno", "unos", "uns", "unser", "unsere",
    "vom", "von", "voor", "votre", "vous", "waar", "wann", "wanneer", "warum", "wat", "welche", "welchem", "welchen",
    "welcher", "welches", "welke", "wem", "wen", "wer", "werden", "wie", "wir", "wird", "wo", "womit", "wurde", "za",
    "ze", "zijn", "zu", "zum", "zur", "бы", "в", "во", "вы", "где", "для", "до", "его", "ее", "еи", "ему", "есть",
    "же", "за", "и", "из", "к", "как", "какая", "какие", "каким", "какого", "какои", "каком", "какую", "когда",
    "кому", "которыи", "кто", "ли", "мои", "моя", "мы", "на", "нам", "наш", "наша", "не", "о", "он", "она", "они",
    "от", "по", "при", "с", "со", "та", "те", "тот", "ты", "у", "чем", "чему", "что", "это", "я",
];

/// A stemmer of single words, for queries.
pub(super) struct WordStemmer(frostem::Stemmer);

impl WordStemmer {
    pub(super) fn new() -> Self {
        WordStemmer(frostem::Stemmer::new(frostem::Algorithm::English))
    }

    /// The stem of a normalised word (Porter 2 for English, as in the index).
    pub(super) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        self.0.stem(word)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_normalised_sorted_and_in_one_list() {
        let strange: Vec<_> = OTHER_STOP_WORDS.iter().filter(|word| normalise(word) != **word).collect();
        assert!(strange.is_empty(), "{strange:?}");
        assert!([STOP_WORDS, OTHER_STOP_WORDS].iter().all(|list| list.is_sorted()));
        assert!(OTHER_STOP_WORDS.iter().all(|word| !STOP_WORDS.contains(word)));
        assert_eq!(significant_count("Où est-ce que la boulangerie ouvre, et quand ?"), 2);
        assert_eq!(significant_count("Wann wird der Müll abgeholt?"), 2);
        assert_eq!(significant_count("run jest with MIT on the NAS, then fur"), 5);
    }
}
