//! Finds passwords, keys, tokens and card numbers in a text, so that they can be refused or blacked out before it is
//! stored.
//!
//! Tokens with a prefix of their own are a table; all else is a rule: a pattern, and a search that judges what the
//! pattern matches. False alarms cost as much as misses: what has no mark of its own (a digest, a UUID, base64) is
//! sensitive only where a label says so, and what is labelled is judged by its looks. Everything takes time linear in the
//! length of the text. How often it errs is measured on texts that lie beside it (`corpus`).
//!
//! | file | job |
//! |---|---|
//! | `finding.rs` | [`Finding`]: what is found, and what takes its place |
//! | `tokens.rs` | tokens by their prefixes |
//! | `private_keys.rs` | private keys in files of text |
//! | `labels.rs` | the names of secrets |
//! | `assignments.rs` | a label, a sign, a value |
//! | `sentences.rs` | what a sentence tells: passwords, phrases, PINs |
//! | `commands.rs` | passwords in the arguments of commands |
//! | `cards.rs` | card numbers |
//! | `looks.rs` | what a value looks like |
//! | `invisible.rs` | characters that would hide a token |

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

mod assignments;
mod cards;
mod commands;
#[cfg(test)]
mod corpus;
mod finding;
mod invisible;
mod labels;
mod looks;
mod private_keys;
mod sentences;
#[cfg(test)]
mod tests;
mod tokens;

pub use self::finding::Finding;
use self::finding::{REDACTED, VALID};

/// What is sensitive in `text`, in its order and without overlaps.
///
/// ```
/// use memorist_engine::secrets::scan;
/// let found = scan(concat!("the staging login: password = ", "Tr0ub4dor&3"));
/// assert_eq!((found[0].what, found[0].range.clone()), ("password", 30..41));
/// assert!(scan("the user forgot the password: it must be reset").is_empty());
/// ```
pub fn scan(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    ranked(text, &mut |rank, finding| found.push((rank, finding)));
    if let Some(visible) = invisible::without(text) {
        ranked(&visible.text, &mut |rank, Finding { what, range }| {
            found.push((rank, Finding { what, range: visible.original(range) }));
        });
    }
    merged(found)
}

/// Passes on each finding with the rank of its rule: the most specific first.
fn ranked(text: &str, found: &mut dyn FnMut(usize, Finding)) {
    tokens::search(text, found);
    let rules = WORDS.rules_for(text);
    for rule in (0..RULES.len()).filter(|rule| rules & 1 << rule != 0) {
        let (what, _, pattern, search) = RULES[rule];
        let pattern = PATTERNS[rule].get_or_init(|| Regex::new(pattern).expect(VALID));
        search(what, pattern, text, &mut |finding| found(tokens::ROWS + rule, finding));
    }
}

/// The name of a field, in the singular, where it is that of a secret: `password`, `apiKeys`.
pub(crate) fn label(name: &str) -> Option<&str> {
    labels::label(name)
}

/// `text` with each finding of [`scan`] replaced by what it is: `[redacted: password]`. The result has no findings.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = Cow::Borrowed(text);
    loop {
        // What was glued to a value may be found only once it stands alone, so the result is scanned in its turn.
        let found = scan(&redacted);
        if found.is_empty() {
            return redacted;
        }
        redacted = Cow::Owned(without(&redacted, &found));
    }
}

fn without(text: &str, found: &[Finding]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut kept = 0;
    for Finding { what, range } in found {
        redacted.push_str(&text[kept..range.start]);
        redacted.extend([REDACTED, ": ", what, "]"]);
        kept = range.end;
    }
    redacted + &text[kept..]
}

/// Findings that overlap become one over all of their text, named after the earliest rule, which is the most specific.
fn merged(mut found: Vec<(usize, Finding)>) -> Vec<Finding> {
    found.sort_by_key(|(rank, finding)| (finding.range.start, *rank));
    let mut merged: Vec<(usize, Finding)> = Vec::with_capacity(found.len());
    for (rank, finding) in found {
        match merged.last_mut() {
            Some((last_rank, last)) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                if rank < *last_rank {
                    (*last_rank, last.what) = (rank, finding.what);
                }
            }
            _ => merged.push((rank, finding)),
        }
    }
    merged.into_iter().map(|(_, finding)| finding).collect()
}

/// Passes on what is sensitive among the matches of a rule's pattern.
type Search = fn(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding));

/// What a rule finds; words in small letters of which a text that it applies to has one, or none where every text is to
/// be searched; the pattern; and the search among its matches.
type Rule = (&'static str, &'static [&'static str], &'static str, Search);

/// Says in one pass which rules have something to search. A set of all patterns would take many times as long: in most
/// texts there is no word of any.
struct Words {
    all: AhoCorasick,
    /// For each word, the rule that it is of.
    rules: Vec<usize>,
    /// The rules without a word, as bits.
    always: u64,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let of_rule = |(rule, &(_, words, ..)): (usize, &Rule)| words.iter().map(move |word| (*word, rule));
    let (words, rules): (Vec<_>, Vec<_>) = RULES.iter().enumerate().flat_map(of_rule).unzip();
    let always = (0..RULES.len()).filter(|&rule| RULES[rule].1.is_empty()).map(|rule| 1 << rule).sum();
    let all = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(words);
    Words { all: all.expect(VALID), rules, always }
});

impl Words {
    /// The rules to search `text` by, as bits.
    fn rules_for(&self, text: &str) -> u64 {
        let found = self.all.find_overlapping_iter(text).map(|hit| 1 << self.rules[hit.pattern().as_usize()]);
        found.fold(self.always, |rules, rule| rules | rule)
    }
}

/// The patterns of the rules, each made when it is first needed.
static PATTERNS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// The most specific first.
///
/// A match takes in the rest of its word, so that a long chain of tokens without a space is not redacted one by one.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    ("private key", &["private key"], private_keys::MARK, private_keys::search),
    ("private key", &["putty-user-key-file"], private_keys::PUTTY, whole),
    ("Slack webhook", &["hooks.slack.com"], r"(?-u:\b)hooks\.slack\.com/(?:services/T[A-Za-z0-9]+/B[A-Za-z0-9]+|triggers/[A-Za-z0-9]+/[0-9]+)/[A-Za-z0-9]{16,}", whole),
    ("Discord webhook", &["/webhooks/"], r"(?-u:\b)discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}", whole),
    ("Discord token", &[], r"(?-u:\b)[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}", random),
    ("Telegram bot token", &[":aa"], r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?-u:\b)", random),
    ("Terraform token", &[".atlasv1."], r"(?-u:\b)[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}", whole),
    ("Airtable token", &["pat"], r"(?-u:\b)pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?-u:\b)", whole),
    ("Asana token", &["0/", "1/", "2/"], r"(?-u:\b)[0-9]/[0-9]{15,17}:[a-f0-9]{32}(?-u:\b)", whole),
    ("Mailchimp key", &["-us"], r"(?-u:\b)[a-f0-9]{32}-us[0-9]{1,2}(?-u:\b)", whole),
    ("New Relic key", &["ffffnral"], r"(?-u:\b)[a-f0-9]{36}FFFFNRAL(?-u:\b)", whole),
    ("Azure client secret", &["q~"], r"(?-u:\b)[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", random),
    ("Azure signature", &["sig="], r"[?&;]sig=([A-Za-z0-9%+/]{36,}=*)", random),
    ("JSON web token", &["eyj"], r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", whole),
    ("password of a command", &["curl", "wget", "http", "xh"], commands::USER, commands::options),
    ("password of a command", &["mysql", "mariadb"], commands::MYSQL, commands::options),
    ("password of a command", &["sshpass"], commands::SSHPASS, commands::search),
    ("password of a command", &["login"], commands::LOGIN, commands::options),
    ("password of a command", &["redis-cli"], commands::REDIS, commands::options),
    ("password of a command", &["openssl"], commands::OPENSSL, commands::options),
    ("password", &["machine"], commands::NETRC, commands::search),
    ("credential of a registry", &["auth"], commands::DOCKER, commands::encoded),
    ("session cookie", &["cookie"], r#"(?i-u:\bcookie)\\?["']?[ \t]*:[ \t]*\\?["']?[^\r\n]*?[A-Za-z0-9_.-]*(?i-u:sess|sid|auth|token|jwt)[A-Za-z0-9_.-]*=([A-Za-z0-9+/=._~%-]{16,})"#, random),
    ("password in a URL", &["://"], r#"://([^\s/?#:@"'<>]{0,64}):([^\s/?#"'<>]{4,})@[^\s@]"#, in_url),
    ("token in a URL", &["://"], r#"://([^\s/?#:@"'<>]{16,})(?::[^\s/?#@"'<>]{0,64})?@([^\s/@]+)"#, user_of_url),
    ("bearer token", &["bearer"], r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9+/._~-]{16,}=*)", random),
    (
        "credential in a header",
        &["authorization"],
        concat!(
            r#"(?i-u:\bauthorization)\\?["'\]]*[ \t]*[:=][ \t]*\\?["']?"#,
            r"(?i-u:basic|token|apikey)[ \t]+([A-Za-z0-9+/=._~-]{8,})",
        ),
        in_header,
    ),
    ("key", labels::WORDS, labels::LABEL, assignments::search),
    ("PIN", &["pin", "code"], sentences::PIN, sentences::pin),
    ("card number", &[], cards::DIGITS, cards::search),
];

/// Every match that is not a stand-in.
fn whole(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for token in pattern.find_iter(text) {
        if !looks::stands_in(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}

/// Those matches, or their first groups, that a machine drew at random: names that begin like a token are left.
fn random(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let token = captures.get(1).unwrap_or(captures.get_match());
        if looks::random(token.as_str()) && !looks::stands_in(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}

/// `scheme://user:password@host`. The password that equals its user (`postgres:postgres@`) is a default, no secret.
fn in_url(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let (_, [user, password]) = captures.extract();
        if password != user && !looks::stands_in(password) && !looks::template(password) {
            let range = captures.get(2).map_or(0..0, |group| group.range());
            found(Finding { what, range });
        }
    }
}

/// `https://token@host`. What stands there in the address of a Sentry project is public.
fn user_of_url(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let (_, [user, host]) = captures.extract();
        if looks::random(user) && !looks::stands_in(user) && !host.contains("sentry") {
            let range = captures.get(1).map_or(0..0, |group| group.range());
            found(Finding { what, range });
        }
    }
}

/// `Authorization: Basic <base64>`, and the like of other schemes.
fn in_header(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for token in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
        if (looks::random(token.as_str()) || looks::base64(token.as_str())) && !looks::stands_in(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}
