//! What a value looks like: drawn at random, chosen by a person, a piece of code, or a stand-in for the real one.

use super::REDACTED;

/// The fewest characters of a password: shorter values are mostly words of a sentence.
const SHORTEST_PASSWORD: usize = 6;

/// Whether a machine drew `value` at random: in one of its parts, digits and cases alternate as in no name. So do they
/// in `a81bc3f09d2e` and `Zk3mQx9LpB7v`, and not in `server-v2-build-0815` and `Sha256Digest`.
pub(super) fn random(value: &str) -> bool {
    value.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))).any(is_random_part)
}

fn is_random_part(part: &str) -> bool {
    const SHORTEST: usize = 8;
    const LONG: usize = 16;
    if part.len() < SHORTEST || !is_mixed(part) || is_technical(part) {
        return false;
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    match turns(part) {
        0..=2 => digits >= 4 && part.len() >= LONG && !part.contains('/'),
        3 => digits >= 4,
        _ => true,
    }
}

/// How often digits and letters take turns, and a capital follows a small letter.
fn turns(part: &str) -> usize {
    let is_turn = |pair: &&[u8]| match (pair[0], pair[1]) {
        (a, b) if a.is_ascii_digit() => b.is_ascii_alphabetic(),
        (a, b) if a.is_ascii_alphabetic() => b.is_ascii_digit() || a.is_ascii_lowercase() && b.is_ascii_uppercase(),
        _ => false,
    };
    part.as_bytes().windows(2).filter(is_turn).count()
}

/// Whether a person may have chosen `value` as a password: it has digits within a word, or other characters between
/// letters, or is nothing but digits. Without them it is as likely a word of a sentence or a name in code.
pub(super) fn chosen(value: &str) -> bool {
    if value.chars().count() < SHORTEST_PASSWORD {
        return false;
    }
    let mut parts = value.split(|c: char| !c.is_alphanumeric());
    let is_symbol = |c: char| "!@#$%^&".contains(c);
    let has_symbol_inside = value.trim_matches(is_symbol).contains(is_symbol) && value.contains(char::is_alphabetic);
    parts.any(|part| part.len() >= SHORTEST_PASSWORD && is_mixed(part) && !is_technical(part))
        || has_symbol_inside && !is_address(value)
        || value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `value`, in quotes, may be a password: any word but the capitalised ones of a form
/// (`"Password": "Passwort"`), or several where the label asks for a phrase.
pub(super) fn quoted_password(value: &str, is_phrase: bool) -> bool {
    const WORDS_OF_A_PHRASE: usize = 3;
    if value.contains(char::is_whitespace) {
        return is_phrase && value.split_whitespace().count() >= WORDS_OF_A_PHRASE && !value.contains("phrase");
    }
    plain_word(value) || chosen(value)
}

/// Whether `value` is one word of small letters, long enough for a password.
pub(super) fn plain_word(value: &str) -> bool {
    value.len() >= SHORTEST_PASSWORD && value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether `value` is base64 of whole bytes, in both cases.
pub(super) fn base64(value: &str) -> bool {
    value.len().is_multiple_of(4)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_mixed(part: &str) -> bool {
    part.contains(|c: char| c.is_ascii_digit()) && part.contains(char::is_alphabetic)
}

/// `Sha256Digest`, `uint256`, `OAuth2`, `v2beta1`, `80characters`: words of the trade that have a number in them.
fn is_technical(part: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "aes", "argon", "base", "blake", "bytes", "char", "ec", "ecdsa", "ed", "es", "float", "hs", "http", "i", "int",
        "ipv", "k", "l", "md", "oauth", "p", "pbkdf", "pkcs", "ps", "rs", "rsa", "s", "sha", "string", "u", "uint",
        "utf", "v", "web", "x",
    ];
    let is_digit = |c: char| c.is_ascii_digit();
    let head = part.trim_end_matches(char::is_alphabetic);
    let word = head.trim_end_matches(is_digit);
    let after = &part[head.len()..];
    let is_quantity = word.is_empty() && after.bytes().all(|byte| byte.is_ascii_lowercase());
    head.len() - word.len() <= 4 && (is_quantity || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// `user@example.org`.
fn is_address(value: &str) -> bool {
    value.split_once('@').is_some_and(|(_, domain)| domain.contains('.') && !domain.contains('@'))
}

/// Whether `value` stands where a real one would be: `your-api-key`, `xxxxxxxx`, `changeme`, `********`,
/// `new_password1`.
pub(super) fn stands_in(value: &str) -> bool {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "xxxx", "****", "...", "…", "••", "change-me", "change_me", "changeme", "example", "placeholder", "your",
        REDACTED,
    ];
    #[rustfmt::skip]
    const BEGINNINGS: &[&str] =
        &["xxx", "***", "dummy", "fake", "insert", "my-", "my_", "replace", "sample", "test", "todo"];
    #[rustfmt::skip]
    const WHOLE: &[&str] = &[
        "boolean", "default", "disabled", "enabled", "encrypted", "expired", "generated", "hashed", "hidden", "invalid",
        "masked", "missing", "number", "object", "optional", "postgres", "removed", "required", "string", "undefined",
        "unknown",
    ];
    let lower = value.to_ascii_lowercase();
    PARTS.iter().any(|part| lower.contains(part))
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || WHOLE.contains(&lower.as_str())
        || is_own_name(&lower)
        || has_two_characters(value)
}

/// `password`, `new_password1`, `accesstoken`, `secret_key_2`: the name of what would be there, with a small number at
/// most. `hunter2secret` is none: no name has a number within a word, but for those of the trade (`oauth2token`).
fn is_own_name(lower: &str) -> bool {
    const NAMES: &[&str] = &["key", "pass", "passphrase", "passwd", "password", "pwd", "secret", "token"];
    const NUMBER: usize = 2;
    let name = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' '));
    let name_alone = name.trim_end_matches(['_', '-']);
    let Some(before) = NAMES.iter().find_map(|ending| name_alone.strip_suffix(ending)) else { return false };
    let glued = before.rsplit(['_', '-', ' ']).next().unwrap_or(before);
    lower.len() - name.len() <= NUMBER && is_word && (!is_mixed(glued) || is_technical(glued))
}

/// Whether `value` is made of two different characters or fewer.
fn has_two_characters(value: &str) -> bool {
    let mut chars = value.chars();
    let Some(first) = chars.next() else { return true };
    let Some(second) = chars.find(|&c| c != first) else { return true };
    chars.all(|c| c == first || c == second)
}

/// Whether something else is to be put in the place of `value`, or of a part of it: `${TOKEN}`, `$TOKEN`, `<token>`,
/// `{{ token }}`, `%s`, `[token]`; also where HTML escapes it.
pub(super) fn template(value: &str) -> bool {
    let mut chars = value.chars();
    let begins = match (chars.next(), chars.next()) {
        (Some('<' | '[' | '{' | '('), _) => true,
        (Some('$' | '%'), Some(next)) => next.is_ascii_alphabetic() || matches!(next, '_' | '{' | '('),
        _ => false,
    };
    begins || ["${", "$(", "{{", "<%", "#{", "&lt;", "&quot"].iter().any(|mark| value.contains(mark))
}

/// Whether `value` is a path or a URL: where something is kept, not what.
pub(super) fn location(value: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|root| value.starts_with(root))
        || value.contains("://")
        || value.contains(":\\")
}

/// Whether an unquoted `value` is an expression or a type: `next_token()`, `self.token`, `tokens[2]`, `Option<String>`,
/// `Token::End`, `&str`, `2048u32`, `0xC000005C`.
pub(super) fn code(value: &str) -> bool {
    let after = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_name = after.len() < value.len() && !value.starts_with(|c: char| c.is_ascii_digit());
    let is_member = after.strip_prefix('.').is_some_and(|member| member.starts_with(|c: char| c.is_ascii_alphabetic()));
    let goes_on = ["(", "[", "{", "<", "::", "->", "!("].iter().any(|sign| after.starts_with(sign));
    value.starts_with(['&', ':', '=', '|', '>']) || is_name && (is_member || goes_on) || is_number_in_code(value)
}

/// A number with its type, or in hexadecimal with at most the digits of 64 bits.
fn is_number_in_code(value: &str) -> bool {
    const MOST_HEX: usize = 16;
    let value = value.trim_start_matches('-');
    let number = value.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix(['u', 'i']).unwrap_or(value);
    let number = number.trim_end_matches('_');
    match number.strip_prefix("0x") {
        Some(hex) => hex.len() <= MOST_HEX && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => number.len() < value.len() && number.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
