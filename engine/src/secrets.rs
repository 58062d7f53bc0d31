//! Finds passwords, keys, tokens and card numbers in a text, so that they can be refused or blacked out before it is
//! stored.
//!
//! A rule is a pattern and a search that judges what the pattern matches. False alarms cost as much as misses: what
//! has no mark of its own (a digest, a UUID, base64) is sensitive only where a label says so, and what is labelled is
//! judged by its looks. Everything takes time linear in the length of the text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

mod assignments;
mod cards;
mod looks;
mod private_keys;
#[cfg(test)]
mod tests;

/// Something sensitive in a text. It says what and where, and never holds the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, to follow "a" or "an": `AWS access key`, `password`, `card number`, ...
    pub what: &'static str,
    /// Where its value is, in bytes.
    pub range: Range<usize>,
}

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
    for rank in ANY.matches(text) {
        let (what, pattern, search) = RULES[rank];
        let pattern = PATTERNS[rank].get_or_init(|| Regex::new(pattern).expect(VALID));
        search(what, pattern, text, &mut |finding| found.push((rank, finding)));
    }
    merged(found)
}

/// The name of a field, in the singular, where it is that of a secret: `password`, `apiKeys`.
pub(crate) fn label(name: &str) -> Option<&str> {
    assignments::label(name)
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

/// How what takes a value's place begins.
const REDACTED: &str = "[redacted";

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

/// What a rule finds, the pattern, and the search among its matches.
type Rule = (&'static str, &'static str, Search);

/// Says in one pass which rules have something to search.
///
/// The character before each pattern is for speed alone: without it the set looks for the beginnings of all patterns
/// first, and those are so many that it takes twice as long.
static ANY: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(RULES.iter().map(|(_, pattern, _)| format!("[ -~]?(?:{pattern})"))).expect(VALID));

/// The patterns of the rules, each made when it is first needed.
static PATTERNS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

const VALID: &str = "the patterns are constants, and each has a test";

/// The most specific first. The prefixes are those that the services document for secret scanners.
///
/// A match takes in the rest of its word, so that a long chain of tokens without a space is not redacted one by one.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    ("private key", private_keys::MARK, private_keys::search),
    ("age private key", r"(?-u:\b)AGE-SECRET-KEY-1[0-9A-Z]{58}(?-u:\b)", whole),
    ("AWS access key", r"(?-u:\b)A(?:KIA|SIA)[0-9A-Z]{16}(?-u:\b)", whole),
    ("GitHub token", r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{36,})", whole),
    ("GitLab token", r"(?-u:\b)gl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt)-[A-Za-z0-9_.-]{20,}", random),
    ("Slack token", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}", random),
    ("Slack app token", r"(?-u:\b)xapp-[0-9]-[A-Za-z0-9-]{10,}", random),
    ("Slack webhook", r"(?-u:\b)hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,}", whole),
    ("Discord webhook", r"(?-u:\b)discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}", whole),
    ("Anthropic API key", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20,}", random),
    ("API key", r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}", random),
    ("Google API key", r"(?-u:\b)AIza[A-Za-z0-9_-]{35,}", random),
    ("Google client secret", r"(?-u:\b)GOCSPX-[A-Za-z0-9_-]{20,}", random),
    ("Google access token", r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}", random),
    ("SendGrid API key", r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", random),
    ("npm token", r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)", whole),
    ("PyPI token", r"(?-u:\b)pypi-AgE[A-Za-z0-9_-]{40,}", whole),
    ("Stripe key", r"(?-u:\b)[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", whole),
    ("Stripe webhook secret", r"(?-u:\b)whsec_[A-Za-z0-9+/]{24,}", whole),
    ("Hugging Face token", r"(?-u:\b)hf_[A-Za-z0-9]{30,}", whole),
    ("Groq API key", r"(?-u:\b)gsk_[A-Za-z0-9]{20,}", random),
    ("xAI API key", r"(?-u:\b)xai-[A-Za-z0-9]{40,}", whole),
    ("DigitalOcean token", r"(?-u:\b)do[opr]_v1_[a-f0-9]{64}(?-u:\b)", whole),
    ("Docker Hub token", r"(?-u:\b)dckr_pat_[A-Za-z0-9_-]{20,}", random),
    ("Databricks token", r"(?-u:\b)dapi[a-f0-9]{32}(?-u:\b)", whole),
    ("Vault token", r"(?-u:\b)hv[sb]\.[A-Za-z0-9_-]{24,}", random),
    ("Telegram bot token", r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?-u:\b)", random),
    ("JSON web token", r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", whole),
    ("password in a URL", r#"://([^\s/?#:@"'<>]{0,64}):([^\s/?#"'<>]{4,})@[^\s@]"#, in_url),
    ("bearer token", r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9+/=._~-]{16,})", random),
    (
        "credential in a header",
        concat!(
            r#"(?i-u:\bauthorization)\\?["'\]]*[ \t]*[:=][ \t]*\\?["']?"#,
            r"(?i-u:basic|token|apikey)[ \t]+([A-Za-z0-9+/=._~-]{8,})",
        ),
        in_header,
    ),
    ("key", assignments::LABEL, assignments::search),
    ("card number", cards::DIGITS, cards::search),
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

/// `Authorization: Basic <base64>`, and the like of other schemes.
fn in_header(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for token in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
        if (looks::random(token.as_str()) || looks::base64(token.as_str())) && !looks::stands_in(token.as_str()) {
            found(Finding { what, range: token.range() });
        }
    }
}
