//! Secrets in sentences: a password that is a plain word, a phrase of several words, a PIN.

use std::ops::Range;

use regex::Regex;

use super::finding::Finding;
use super::looks;

/// `user/pass = bob/PASSWORD`, `login and password: bob / PASSWORD`.
pub(super) const PAIR: &str = concat!(
    r"(?i-u:\b(?:user(?:[ _-]?name)?|login|e?-?mail|account)[ \t]*(?:[/:&+,|]|and[ \t])[ \t]*(?:pass(?:words?|wd|wort|code|phrase)?|pwd?)\b)",
    r#"["'`)]?[ \t]*(?:[:=]|is[ \t]|are[ \t]|->|=>)[ \t]*["'`(]?"#,
    r#"([^\s/:|,"'`]{1,64})["'`]?[ \t]*[/:|,][ \t]*["'`]?([^\s"'`,;)]{6,128})"#,
);

/// Each match of [`PAIR`] contains one of these.
#[rustfmt::skip]
pub(super) const PAIR_WORDS: &[&str] = &[
    "/pass", "/pw", "/ pass", "/ pw", ":pass", ":pw", ": pass", ": pw", "&pass", "& pass", "& pw", "+pass", "+ pass",
    "+ pw", ",pass", ", pass", ",pw", ", pw", "|pass", "| pass", "| pw", "and pass", "and pw",
];

/// The second of two values, unless it is a word or the same as the first.
pub(super) fn pair(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let (_, [user, password]) = captures.extract();
        let is_other = looks::is_placeholder(password) || looks::template(password) || looks::location(password);
        if password != user && !is_other && (looks::random(password) || looks::chosen(password)) {
            let start = captures.get(2).map_or(0, |group| group.start());
            let end = start + password.trim_end_matches(['.', ':', ']', '}']).len();
            found(Finding { what, range: start..end });
        }
    }
}

/// A name of a PIN, its purpose, a sign and 4 to 8 digits. In small letters it is mostly a pin of a connector, so it
/// needs an owner.
pub(super) const PIN: &str = concat!(
    r"(?:(?-u:\b)(?:PIN(?:[ -]?(?i:code|number|nummer))?",
    r"|(?i:my|our|his|her|their|your|bank|card|sim|phone|door|alarm|safe|atm|debit|credit|unlock)[ ](?i:pin)(?:[ -]?(?i:code|number))?",
    r"|(?i:pin[ -]?(?:code|number)|passcode|(?:door|alarm|gate|garage|safe)[ -]code))",
    r"(?:[ \t]+(?i:for|of|to|on|for)[ \t][^\r\n:=.;]{1,40}?)?",
    r#"(?:[ \t]*[:=]["'` \t]*|[ \t]+(?i:is|was|ist|lautet|es|est|è|é):?["'` \t]+)|(?-u:\b)PIN[ ])([0-9]{4,8})(?-u:\b)"#,
);

/// Digits that are not an amount or part of a longer number, and a PIN that is not a connector's.
pub(super) fn pin(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let Some(digits) = captures.get(1) else { continue };
        let before = text[..captures.get_match().start()].trim_end();
        let is_connector = ["gpio", "header", "connector", "board", "chip", "jumper", "socket"]
            .iter()
            .any(|word| ends_with_ignoring_case(before, word));
        let after = &text[digits.end()..];
        let goes_on = after.starts_with(['-', '/', ',', '.']) && after[1..].starts_with(|c: char| c.is_ascii_digit())
            || after.starts_with(['-', '_', '%']);
        if !is_connector && !goes_on && !looks::is_placeholder(digits.as_str()) {
            found(Finding { what, range: digits.range() });
        }
    }
}

fn ends_with_ignoring_case(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Whether `text`, after "the password is", begins with a word that ends the sentence and does not describe the
/// password: then it is the password.
pub(super) fn plain_password(text: &str) -> Option<Range<usize>> {
    let word = &text[..text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len())];
    let after = &text[word.len()..];
    let ends = match after.chars().next() {
        None | Some('\r' | '\n') => true,
        Some('.' | ',' | ';' | '!' | ')') => after[1..].is_empty() || after[1..].starts_with(char::is_whitespace),
        Some(' ') => {
            let next = after[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            matches!(next, "for" | "and" | "but" | "on" | "at")
        }
        _ => false,
    };
    (ends && looks::plain_word(&word.to_ascii_lowercase()) && !is_said_of_a_password(word)).then_some(0..word.len())
}

/// Words that never occur in a password phrase: such a text is a sentence.
#[rustfmt::skip]
const OF_A_SENTENCE: &[&str] = &[
    "a", "all", "also", "always", "an", "and", "any", "are", "as", "ask", "at", "be", "been", "but", "by", "can", "do",
    "does", "each", "for", "from", "get", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "least", "may", "more", "most", "must", "my", "never", "no", "none", "not", "of", "on", "one",
    "only", "or", "our", "read", "same", "see", "set", "she", "should", "so", "some", "than", "that", "the", "their",
    "then", "there", "they", "this", "to", "two", "up", "use", "used", "via", "was", "we", "were", "what", "when",
    "where", "which", "who", "will", "with", "without", "words", "you", "your",
];

/// Three words or more that are not a sentence, to the end of the line: `correct horse battery`.
pub(super) fn phrase(text: &str) -> Option<Range<usize>> {
    const WORDS: std::ops::RangeInclusive<usize> = 3..=24;
    const LONGEST: usize = 256;
    let near = &text[..text.floor_char_boundary(LONGEST)];
    let line = near[..near.find(['\r', '\n', '.', ';', ',', '"', '`', '(']).unwrap_or(near.len())].trim_end();
    let words: Vec<&str> = line.split(' ').collect();
    let is_of_letters = |word: &&str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    let is_phrase = WORDS.contains(&words.len())
        && words.iter().all(is_of_letters)
        && !words.iter().any(|word| OF_A_SENTENCE.contains(&word.to_lowercase().as_str()))
        && !["ed", "ing", "able", "ible", "ly"].iter().any(|ending| words[0].ends_with(ending));
    is_phrase.then_some(0..line.len())
}

/// `expired`, `wrong`, `mandatory`: words that describe a password.
fn is_said_of_a_password(word: &str) -> bool {
    #[rustfmt::skip]
    const ENDINGS: &[&str] = &[
        "ed", "ing", "able", "ible", "ly", "less", "ful", "ous", "ive", "ory", "ary", "ent", "ant", "ic", "al", "en",
        "word", "words", "phrase",
    ];
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "absent", "already", "alphanumeric", "another", "anything", "because", "better", "broken", "complex", "correct",
        "default", "distinct", "elsewhere", "enough", "entire", "everything", "everywhere", "extreme", "incomplete",
        "incorrect", "insecure", "invalid", "known", "longer", "lowercase", "nothing", "nowhere", "nullable", "numeric",
        "obscure", "obsolete", "opaque", "outside", "perfect", "plaintext", "private", "probably", "profile", "public",
        "random", "rather", "really", "safest", "sanitised", "secret", "secure", "sensitive", "separate", "shorter",
        "simple", "somehow", "someone", "something", "somewhere", "stolen", "strong", "stronger", "tedious", "unique",
        "unknown", "unsafe", "unset", "uppercase", "useful", "usually", "visible", "weaker", "within", "worthless",
        "wrong", "yours",
    ];
    let lower = word.to_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending)) || WORDS.contains(&lower.as_str())
}
