//! Labelled values: `password = ...`, `"api_key": "..."`, `const TOKEN: &str = "..."`, `--token ...`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::finding::{Finding, VALID};
use super::labels::{ENDING, Sort, sort, what};
use super::{looks, sentences};

/// Text between a label and its value: a number, quotes, an owner (`for the staging database`), and a sign, which is `=`,
/// `:`, `is`, a type and `=` (as in `TOKEN: &str = `), the end of a tag or of a column, or only a space.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    let blank = r"[ \t\u{a0}\u{202f}]";
    let owner = "(?i:for|of|to|on|de|del|della|di|du|des|für|vom|von|van|voor|do|da|от|для)";
    let pattern = [
        r"\A",
        ENDING,
        r#"(?:(?:\\?["'`]\]?|\*\*|__)?"#,
        &format!(r"(?:[ \t]{owner}[ \t][^\r\n:=]{{1,40}}?)?(?:[ \t]\([^()\r\n]{{1,40}}\))?"),
        r"([ \t]*:[ \t]*&?(?:'[a-z]+[ \t]+)?[A-Za-z0-9_.<>\[\]]{1,64}[ \t]+=[ \t]+",
        &format!(r"|{blank}*(?:={{1,3}}>?|:=?|：|＝|->|→|\||>)(?:\*\*|__)?{blank}*(?:\r?\n{blank}*)?"),
        r"|[ \t]+[-–—][ \t]+|[ \t]+value[ \t]*=[ \t]*|[ \t]*(?:は|是|为|為)[ \t]*",
        r"|[ \t]+(?:(?:has been|is|was)[ \t]+)?(?:set|changed|reset|updated)[ \t]+to:?[ \t]+",
        r"|[ \t]+(?i:is|was|ist|lautet|es|est|é|è|jest|это)(?:[ \t]+now)?:?[ \t]+)",
        &format!(r"|(?:[ \t]{owner}[ \t]\S{{1,40}})?[ \t]+)"),
    ];
    Regex::new(&pattern.concat()).expect(VALID)
});

/// Values that look like what their label says. A value that does not is searched for labels itself.
pub(super) fn search(_: &'static str, label: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    let mut at = 0;
    while let Some(name) = label.find_at(text, at) {
        at = name.end();
        let Some(sign) = SIGN.captures(&text[at..]) else { continue };
        let (before, name) = text[..at].split_at(at - name.as_str().trim_start_matches(['_', '-']).len());
        let gap = sign.get_match().as_str();
        let label = Label { before, name, sort: sort(name), sign: sign.get(1).map(|sign| sign.as_str()), gap };
        let start = at + sign.get_match().end();
        if let Some(value) = label.secret_of(&text[start..]) {
            at = start + value.end;
            found(Finding { what: what(name), range: start + value.start..at });
        }
    }
}

struct Label<'a> {
    before: &'a str,
    name: &'a str,
    sort: Sort,
    /// `None` if there is only a space.
    sign: Option<&'a str>,
    /// All between the name and the value.
    gap: &'a str,
}

impl Label<'_> {
    /// The range of the secret in `text`, which follows the sign, if there is one.
    fn secret_of(&self, text: &str) -> Option<Range<usize>> {
        let says_what_it_is = |sign: &str| sign.contains("is ") || sign.contains("was ");
        let is_sentence = self.sign.is_some_and(says_what_it_is) && !self.is_manager();
        let from_sentence = || match self.sort {
            Sort::Phrase if self.sign.is_some() && !self.is_on_the_next_line() => sentences::phrase(text),
            Sort::Password | Sort::Phrase if is_sentence => sentences::plain_password(text),
            _ => None,
        };
        let value = Value::of(text, self.closing());
        self.fits(&value).then(|| value.start..value.start + value.len()).or_else(from_sentence)
    }

    /// The end of a value that the sign opens: a tag, or a column.
    fn closing(&self) -> Option<char> {
        match self.sign?.trim() {
            ">" => Some('<'),
            "|" => Some('|'),
            "=" if self.is_in_query() => Some('&'),
            _ => None,
        }
    }

    /// Whether `value` looks like a password after a password's label, and random after any other.
    fn fits(&self, value: &Value) -> bool {
        let text = value.judged;
        let is_bare = self.sign.is_none() && !self.is_option();
        if is_bare && !self.fits_without_a_sign(text) || self.is_on_the_next_line() && !self.fits_a_line(value) {
            return false;
        }
        if !self.is_of_its_sort(text) {
            return false;
        }
        if looks::is_placeholder(text) || looks::template(text) || looks::location(text) {
            return false;
        }
        match value.quoted {
            // A cookie may end in the name of a server: `A81BC.node1`.
            false if self.sort != Sort::Session && looks::code(text) => false,
            _ if self.is_manager() => looks::random(text),
            _ if self.is_drawn() => {
                !self.is_of_pages() && !self.is_public() && !text.contains(char::is_whitespace) && looks::random(text)
            }
            true => looks::quoted_password(text, self.sort == Sort::Phrase),
            false => looks::chosen(text) || self.is_variable() && looks::word_of_letters(text),
        }
    }

    /// `my api key 5f2e...`, but not `token of commit 9fce...`.
    fn fits_without_a_sign(&self, text: &str) -> bool {
        match self.sort {
            Sort::Drawn => self.gap.trim().is_empty() && !self.name.ends_with('s') && looks::random_word(text),
            Sort::Password | Sort::Phrase => looks::random(text),
            Sort::Credential | Sort::Session => false,
        }
    }

    /// Whether a name that often has a harmless value may have this one: no id, no example, no tag of the
    /// image `app/auth`.
    fn is_of_its_sort(&self, text: &str) -> bool {
        match self.sort {
            Sort::Credential => !looks::uuid(text) && !looks::encoded_placeholder(text) && !self.before.ends_with('/'),
            // The ids of some agents' conversations begin with `ses_`.
            Sort::Session => self.sign == Some("=") && !looks::uuid(text) && !text.starts_with("ses_"),
            _ => true,
        }
    }

    fn is_drawn(&self) -> bool {
        matches!(self.sort, Sort::Drawn | Sort::Credential | Sort::Session)
    }

    /// `1Password`, the program.
    fn is_manager(&self) -> bool {
        let before = self.before.strip_suffix('1');
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            && self.name.eq_ignore_ascii_case("password")
    }

    /// Whether `value`, on the line after a colon, fills the whole line: otherwise it may be the next name.
    fn fits_a_line(&self, value: &Value) -> bool {
        let after = value.text[value.start + value.len()..].trim_start_matches(['"', '\'', '`', ',', ' ', '\t']);
        let is_alone = after.is_empty() || after.starts_with(['\r', '\n']);
        let is_after_colon = self.sign.is_some_and(|sign| sign.contains([':', '：']));
        is_after_colon && is_alone && (looks::random(value.judged) || looks::chosen(value.judged))
    }

    fn is_on_the_next_line(&self) -> bool {
        self.sign.is_some_and(|sign| sign.contains('\n'))
    }

    /// `?password=`, `&access_token=`: the value ends where the next name begins.
    fn is_in_query(&self) -> bool {
        let near = self.near();
        let before = near.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        before.ends_with(['?', '&', '#']) || before.ends_with("&amp;")
    }

    /// `DB_PASSWORD=`, as in the environment of a process.
    fn is_variable(&self) -> bool {
        self.sign == Some("=") && !self.name.contains(|c: char| c.is_ascii_lowercase())
    }

    /// `--db-password`, whose value is the next word.
    fn is_option(&self) -> bool {
        let near = self.near();
        let word = near.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '-');
        near[word.len()..].starts_with("--")
    }

    /// The part of the text before the name that may belong to the same word.
    fn near(&self) -> &str {
        const LONGEST: usize = 32;
        &self.before[self.before.floor_char_boundary(self.before.len().saturating_sub(LONGEST))..]
    }

    /// `nextToken`, `page_token`: a pagination cursor.
    fn is_of_pages(&self) -> bool {
        self.follows(&["next", "page", "sync", "continuation"])
    }

    /// `public key token`, `PublicKeyToken`: not secret.
    fn is_public(&self) -> bool {
        self.follows(&["public", "publickey", "public key", "public_key", "public-key"])
    }

    fn follows(&self, words: &[&str]) -> bool {
        let before = self.before.trim_end_matches(['_', '-', ' ']).as_bytes();
        words.iter().any(|word| {
            before.len().checked_sub(word.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(word.as_bytes()))
        })
    }
}

struct Value<'a> {
    /// The part of it that is judged.
    judged: &'a str,
    quoted: bool,
    /// Where it begins in `text`.
    start: usize,
    text: &'a str,
    closing: Option<char>,
}

impl<'a> Value<'a> {
    /// The value at the start of `text`: a quoted string, or everything up to the next space or `closing`.
    fn of(text: &'a str, closing: Option<char>) -> Self {
        /// Bytes of a word that are judged, so that a long one is not read again for each label in it.
        const MOST: usize = 256;
        if let Some(range) = between_quotes(text) {
            return Value { judged: &text[range.clone()], quoted: true, start: range.start, text, closing };
        }
        let word = word(&text[..text.floor_char_boundary(MOST)], closing);
        Value { judged: word.split(',').next().unwrap_or(word), quoted: false, start: 0, text, closing }
    }

    /// In bytes.
    fn len(&self) -> usize {
        if self.quoted { self.judged.len() } else { word(self.text, self.closing).len() }
    }
}

/// Everything before the first space, quote or `closing` of `text`, without the surrounding punctuation of the sentence
/// or the code. A word of ASCII ends where Chinese, Japanese or Korean continues without a space.
fn word(text: &str, closing: Option<char>) -> &str {
    let is_ascii = text.starts_with(|c: char| c.is_ascii());
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | ';')
            || Some(c) == closing
            || is_ascii && matches!(c, '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}')
    };
    text.split(ends).next().unwrap_or(text).trim_end_matches(['.', ',', ':', ')', ']', '}'])
}

/// The string between the quote at the start of `text` and the next like it on the same line; both may be escaped.
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
