//! Finds passwords, keys, tokens and card numbers in a text, so that they can be refused or redacted before it is
//! stored.
//!
//! Tokens with a distinctive prefix are a table. Everything else is a rule: a pattern, and a search that judges the
//! matches of the pattern. False alarms cost as much as misses: a value without a mark of its own (a digest, a UUID,
//! base64) is sensitive only if a label says so, and a labelled value is judged by its looks. Everything takes time
//! linear in the length of the text. The error rate is measured on the texts in `corpus`.
//!
//! | file | job |
//! |---|---|
//! | `finding.rs` | [`Finding`]: what is found, and what replaces it |
//! | `tokens.rs` | tokens by their prefixes |
//! | `private_keys.rs` | private keys in files of text |
//! | `labels.rs` | the names of secrets |
//! | `assignments.rs` | a label, a sign, a value |
//! | `sentences.rs` | secrets in sentences: passwords, phrases, PINs |
//! | `commands.rs` | passwords in the arguments of commands |
//! | `cards.rs` | card numbers |
//! | `looks.rs` | looks of a value |
//! | `invisible.rs` | characters that would hide a token |

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

mod assignments;
#[cfg(test)]
mod attack_tests;
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

/// Finds the secrets in `text`, in its order and without overlaps.
///
/// ```
/// use memorist_secrets::scan;
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

/// Yields each finding with the rank of its rule: the most specific first.
fn ranked(text: &str, found: &mut dyn FnMut(usize, Finding)) {
    tokens::search(text, found);
    let rules = WORDS.rules_for(text);
    for rule in (0..RULES.len()).filter(|rule| rules & 1 << rule != 0) {
        let (what, _, pattern, search) = RULES[rule];
        let pattern = PATTERNS[rule].get_or_init(|| Regex::new(pattern).expect(VALID));
        search(what, pattern, text, &mut |finding| found(tokens::ROWS + rule, finding));
    }
}

/// The name of a field, in the singular, if it names a secret: `password`, `apiKeys`.
pub fn label(name: &str) -> Option<&str> {
    labels::label(name)
}

/// `text` with each finding of [`scan`] replaced by what it is: `[redacted: password]`. The result has no findings.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = Cow::Borrowed(text);
    loop {
        // What was glued to a value may be found only once the value is gone, so the result is scanned again.
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

/// Overlapping findings become one over all of their text, named after the earliest rule, which is the most specific.
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

/// Yields the secrets among the matches of a rule's pattern.
type Search = fn(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding));

/// The label of the finding; lower-case words of which a text must contain one for the rule to apply (none: every text
/// is searched); the pattern; and the search among its matches.
type Rule = (&'static str, &'static [&'static str], &'static str, Search);

/// Finds in one pass which rules have something to search. A set of all patterns would take many times as long: most
/// texts contain no word of any.
struct Keywords {
    all: AhoCorasick,
    /// For each word, its rule.
    rules: Vec<usize>,
    /// The rules without a word, as bits.
    always: u64,
}

static WORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let of_rule = |(rule, &(_, words, ..)): (usize, &Rule)| words.iter().map(move |word| (*word, rule));
    let (words, rules): (Vec<_>, Vec<_>) = RULES.iter().enumerate().flat_map(of_rule).unzip();
    let always = (0..RULES.len()).filter(|&rule| RULES[rule].1.is_empty()).map(|rule| 1 << rule).sum();
    let all = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(words);
    Keywords { all: all.expect(VALID), rules, always }
});

impl Keywords {
    /// The rules to search `text` with, as bits.
    fn rules_for(&self, text: &str) -> u64 {
        let found = self.all.find_overlapping_iter(text).map(|hit| 1 << self.rules[hit.pattern().as_usize()]);
        found.fold(self.always, |rules, rule| rules | rule)
    }
}

/// The patterns of the rules, each compiled on first use.
static PATTERNS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// The most specific first.
///
/// A match includes the rest of its word, so that a long chain of tokens without a space is not redacted one by one.
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
    ("password of a command", &["mongo"], commands::MONGO, commands::likely_options),
    ("password of a command", &["sqlcmd"], commands::SQLCMD, commands::likely_options),
    ("password of a command", &["ldap"], commands::LDAP, commands::likely_options),
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
    ("password", sentences::PAIR_WORDS, sentences::PAIR, sentences::pair),
    ("PIN", &["pin", "code"], sentences::PIN, sentences::pin),
    ("card number", &[], cards::DIGITS, cards::search),
];

/// Every match that is not a placeholder.
fn whole(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for token in pattern.find_iter(text) {
        if !looks::is_placeholder(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}

/// Every match, or its first group, that looks random: names that start like a token are skipped.
fn random(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let token = captures.get(1).unwrap_or(captures.get_match());
        if looks::random(token.as_str()) && !looks::is_placeholder(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}

/// `scheme://user:password@host`. A password that equals its user (`postgres:postgres@`) is a default, not a secret.
fn in_url(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let (_, [user, password]) = captures.extract();
        if password != user && !looks::is_placeholder(password) && !looks::template(password) {
            let range = captures.get(2).map_or(0..0, |group| group.range());
            found(Finding { what, range });
        }
    }
}

/// `https://token@host`. In the address of a Sentry project this part is public.
fn user_of_url(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for captures in pattern.captures_iter(text) {
        let (_, [user, host]) = captures.extract();
        if looks::random(user) && !looks::is_placeholder(user) && !host.contains("sentry") {
            let range = captures.get(1).map_or(0..0, |group| group.range());
            found(Finding { what, range });
        }
    }
}

/// `Authorization: Basic <base64>`, and the like of other schemes.
fn in_header(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for token in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
        if (looks::random(token.as_str()) || looks::base64(token.as_str())) && !looks::is_placeholder(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}
