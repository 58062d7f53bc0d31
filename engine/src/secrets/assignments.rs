//! Labelled values: `password = ...`, `"api_key": "..."`, `const TOKEN: &str = "..."`, `--token ...`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Finding, looks};

/// The words that say what a value is.
pub(super) const LABEL: &str = concat!(
    r"(?i-u:pass(?:word|wd|phrase|code)|[_-]pass(?:word|wd|phrase|code)?|pwd|secret|token",
    r"|(?:api|access|secret|private|auth|account|encryption|signing|master|shared)[_ -]?key)",
);

static LABEL_AT_THE_END: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"(?:{LABEL})(s?)\z")).expect(super::VALID));

/// The name, in the singular, where it is one of a secret: `password`, `apiKeys`.
pub(super) fn label(name: &str) -> Option<&str> {
    let plural = LABEL_AT_THE_END.captures(name)?.get(1)?;
    Some(&name[..plural.start()])
}

/// What may stand between a label and its value: quotes, whose it is (`for the staging database`), and a sign, which is
/// `=`, `:`, `is`, a type and `=` (as in `TOKEN: &str = `), or after an option of a command a space.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r#"\A(?:(?:\\?["'`]\]?|\*\*|__)?"#,
        r"(?:[ \t](?i-u:for|of|to|on)[ \t][^\r\n:=]{1,40}?)?(?:[ \t]\([^()\r\n]{1,40}\))?",
        r"([ \t]*:[ \t]*&?(?:'[a-z]+[ \t]+)?[A-Za-z0-9_.<>\[\]]{1,64}[ \t]+=[ \t]+",
        r"|[ \t]*(?:={1,3}>?|:=?)(?:\*\*|__)?[ \t]*",
        r"|[ \t]+is:?[ \t]+)|[ \t]+)",
    );
    Regex::new(pattern).expect(super::VALID)
});

/// Values that look like what their label says. A value that does not is searched for labels in its turn.
pub(super) fn search(what: &'static str, label: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    let mut at = 0;
    while let Some(name) = label.find_at(text, at) {
        at = name.end();
        let Some(sign) = SIGN.captures(&text[at..]) else { continue };
        let (before, name) = text[..at].split_at(at - name.as_str().trim_start_matches(['_', '-']).len());
        let label = Label { before, name, sign: sign.get(1).map(|sign| sign.as_str()) };
        let start = at + sign.get_match().end();
        let value = Value::of(&text[start..]);
        if label.fits(&value) {
            at = start + value.start + value.len();
            found(Finding { what: label.what().unwrap_or(what), range: start + value.start..at });
        }
    }
}

struct Label<'a> {
    before: &'a str,
    name: &'a str,
    /// None where there is but a space.
    sign: Option<&'a str>,
}

impl Label<'_> {
    /// Whether `value` looks like a password after a password's label, and drawn at random after any other.
    fn fits(&self, value: &Value) -> bool {
        let text = value.judged;
        if self.sign.is_none() && !self.is_option() {
            return false;
        }
        if looks::stands_in(text) || looks::template(text) || looks::location(text) {
            return false;
        }
        match value.quoted {
            false if looks::code(text) => false,
            _ if !self.is_password() => {
                !self.is_of_pages() && !text.contains(char::is_whitespace) && looks::random(text)
            }
            true => looks::quoted_password(text, self.name.to_ascii_lowercase().ends_with("phrase")),
            false => looks::chosen(text) || self.is_variable() && looks::plain_word(text),
        }
    }

    fn what(&self) -> Option<&'static str> {
        let named = ["secret", "token"].into_iter().find(|word| self.name.eq_ignore_ascii_case(word));
        if self.is_password() { Some("password") } else { named }
    }

    /// Whether its name is one of `password`, `pwd`, ..., and not `private key`.
    fn is_password(&self) -> bool {
        self.name.starts_with(['p', 'P']) && !self.name.ends_with(['y', 'Y'])
    }

    /// `DB_PASSWORD=`, as in the environment of a process.
    fn is_variable(&self) -> bool {
        self.sign == Some("=") && !self.name.contains(|c: char| c.is_ascii_lowercase())
    }

    /// `--db-password`, whose value is the next word.
    fn is_option(&self) -> bool {
        const LONGEST: usize = 32;
        let near = &self.before[self.before.floor_char_boundary(self.before.len().saturating_sub(LONGEST))..];
        let word = near.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '-');
        near[word.len()..].starts_with("--")
    }

    /// `nextToken`, `page_token`: where a listing goes on.
    fn is_of_pages(&self) -> bool {
        let before = self.before.trim_end_matches(['_', '-']).as_bytes();
        ["next", "page", "sync", "continuation"].iter().any(|word| {
            before.len().checked_sub(word.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(word.as_bytes()))
        })
    }
}

struct Value<'a> {
    /// As much of it as says what it is.
    judged: &'a str,
    quoted: bool,
    /// Where it begins in `text`.
    start: usize,
    text: &'a str,
}

impl<'a> Value<'a> {
    /// The value that `text` begins with: what is between quotes, or all up to the next space.
    fn of(text: &'a str) -> Self {
        /// Bytes of a word that are judged, so that a long one is not read again from each label in it.
        const MOST: usize = 256;
        if let Some(range) = between_quotes(text) {
            return Value { judged: &text[range.clone()], quoted: true, start: range.start, text };
        }
        let word = word(&text[..text.floor_char_boundary(MOST)]);
        Value { judged: word.split(',').next().unwrap_or(word), quoted: false, start: 0, text }
    }

    /// In bytes.
    fn len(&self) -> usize {
        if self.quoted { self.judged.len() } else { word(self.text).len() }
    }
}

/// What is before the first space or quote of `text`, without the punctuation of the sentence or the code around it.
fn word(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';');
    text.split(ends).next().unwrap_or(text).trim_end_matches(['.', ',', ':', ')', ']', '}'])
}

/// What is between the quote that `text` begins with and the next like it in the same line; both may be escaped.
fn between_quotes(text: &str) -> Option<Range<usize>> {
    let escaped = text.starts_with('\\');
    let start = usize::from(escaped) + 1;
    let quote = text.get(start - 1..)?.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut before = ' ';
    for (at, c) in text[start..].char_indices() {
        match c {
            '\r' | '\n' => return None,
            _ if c == quote && (before == '\\') == escaped => return Some(start..start + at - usize::from(escaped)),
            _ => before = c,
        }
    }
    None
}
