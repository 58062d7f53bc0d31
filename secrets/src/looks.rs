//! Looks of a value: random, chosen by a person, a piece of code, or a placeholder.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::finding::REDACTED;

/// The shortest password: shorter values are mostly words of a sentence.
const SHORTEST_PASSWORD: usize = 6;

/// Whether `value` looks random: in one of its parts, digits and cases alternate as in no name. They do in
/// `a81bc3f09d2e` and `Zk3mQx9LpB7v`, and not in `server-v2-build-0815` and `Sha256Digest`.
pub(super) fn random(value: &str) -> bool {
    value.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))).any(is_random_part)
}

/// Whether `value` is one long random word: enough after a label without a sign. A UUID is not, nor is a name with a
/// digest at its end.
pub(super) fn random_word(value: &str) -> bool {
    const SHORTEST: usize = 20;
    const PART: usize = 16;
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    value.len() >= SHORTEST
        && value.chars().all(is_of_word)
        && value.split(['-', '_']).any(|part| part.len() >= PART && is_random_part(part))
}

fn is_random_part(part: &str) -> bool {
    const SHORTEST: usize = 8;
    const LONG: usize = 16;
    if part.len() >= LONG && is_oddly_capitalised(part) {
        return true;
    }
    if part.len() < SHORTEST || !is_mixed(part) || is_technical(part) {
        return false;
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    match turns(part) {
        0..=2 => part.len() >= LONG && (digits >= 4 && !part.contains('/') || is_gibberish(part)),
        3 => digits >= 4 || part.len() >= LONG && is_gibberish(part),
        _ => true,
    }
}

/// Whether `value` looks random after a prefix that only a token has: capitals, small letters and digits are enough.
pub(super) fn drawn(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.bytes().any(|byte| class(&byte));
    random(value) || has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether `part` has more consonants in a row than words have.
fn is_gibberish(part: &str) -> bool {
    const MOST: usize = 5;
    let is_vowel = |c: char| !c.is_ascii_alphabetic() || "aeiouyAEIOUY".contains(c);
    part.split(is_vowel).any(|consonants| consonants.len() > MOST)
}

/// Whether capitals occur more often than in a name of several words: `lMayGYBwMm`, `csKVIwZILR`.
fn is_oddly_capitalised(value: &str) -> bool {
    const SHORTEST_WORD: usize = 4;
    let bytes = value.as_bytes();
    let capitals = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let are_letters = bytes.iter().all(u8::is_ascii_alphabetic);
    are_letters
        && (capitals >= 2 && value.len() < (capitals + 1) * SHORTEST_WORD || capitals >= 1 && is_gibberish(value))
}

/// How often digits and letters alternate, and a capital follows a small letter.
fn turns(part: &str) -> usize {
    let is_turn = |pair: &&[u8]| match (pair[0], pair[1]) {
        (a, b) if a.is_ascii_digit() => b.is_ascii_alphabetic(),
        (a, b) if a.is_ascii_alphabetic() => b.is_ascii_digit() || a.is_ascii_lowercase() && b.is_ascii_uppercase(),
        _ => false,
    };
    part.as_bytes().windows(2).filter(is_turn).count()
}

/// Whether a person may have chosen `value` as a password: it has digits within a word, or other characters between
/// letters, or only digits. Otherwise it is as likely a word of a sentence or a name in code.
pub(super) fn chosen(value: &str) -> bool {
    if value.chars().count() < SHORTEST_PASSWORD {
        return false;
    }
    let mut parts = value.split(|c: char| !c.is_alphanumeric());
    let is_symbol = |c: char| "!@#$%^&".contains(c);
    let has_symbol_inside = value.trim_matches(is_symbol).contains(is_symbol) && value.contains(char::is_alphabetic);
    parts.any(|part| part.len() >= SHORTEST_PASSWORD && is_mixed(part) && !is_technical(part))
        || parts_with_a_digit_inside(value) > 1
        || has_symbol_inside && !is_address(value)
        || is_word_and_number(value)
        || is_oddly_capitalised(value)
        || value.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many parts of `D0gs-N4me` have a digit in place of a letter.
fn parts_with_a_digit_inside(value: &str) -> usize {
    const SHORTEST: usize = 4;
    let has_inside = |part: &&str| {
        part.len() >= SHORTEST
            && part.as_bytes().windows(3).any(|three| {
                three[0].is_ascii_alphabetic() && three[1].is_ascii_digit() && three[2].is_ascii_alphabetic()
            })
            && !is_technical(part)
    };
    value.split(|c: char| !c.is_alphanumeric()).filter(has_inside).count()
}

/// `papillon-42`, but not `sha-256` or `step-2`.
fn is_word_and_number(value: &str) -> bool {
    const SHORTEST_WORD: usize = 6;
    const DIGITS: std::ops::RangeInclusive<usize> = 2..=6;
    let Some((words, number)) = value.rsplit_once('-') else { return false };
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_technical(word);
    DIGITS.contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && words.len() >= SHORTEST_WORD
        && words.split('-').all(is_word)
}

/// Whether `value`, in quotes, may be a password: any word except the capitalised ones of a form (`"Password":
/// "Passwort"`), or several if the label is for a phrase.
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

/// Whether `value` is one word, long enough for a password, with a capital after small letters or without any.
pub(super) fn word_of_letters(value: &str) -> bool {
    let is_turn = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let are_letters = value.len() >= SHORTEST_PASSWORD && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    plain_word(value) || are_letters && value.as_bytes().windows(2).filter(|pair| is_turn(pair)).count() > 1
}

/// Whether `value` is a UUID: mostly an id.
pub(super) fn uuid(value: &str) -> bool {
    value.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && value.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Whether `value` is base64 of whole bytes, in both cases.
pub(super) fn base64(value: &str) -> bool {
    value.len().is_multiple_of(4)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether `value` is base64 of a user and a password with a colon between them.
pub(super) fn encoded_credential(value: &str) -> bool {
    encoded_password(value).is_some_and(|password| !password.is_empty() && !is_placeholder(&password))
}

/// Whether `value` is base64 of a user and a placeholder, as in the documentation of a header.
pub(super) fn encoded_placeholder(value: &str) -> bool {
    encoded_password(value).is_some_and(|password| is_placeholder(&password))
}

/// The text after the colon in base64 of a text without control characters.
fn encoded_password(value: &str) -> Option<String> {
    let text = String::from_utf8(BASE64_STANDARD.decode(value).ok()?).ok()?;
    let (_, password) = text.split_once(':')?;
    (!text.contains(char::is_control)).then(|| password.to_owned())
}

fn is_mixed(part: &str) -> bool {
    part.contains(|c: char| c.is_ascii_digit()) && part.contains(char::is_alphabetic)
}

/// `Sha256Digest`, `uint256`, `OAuth2`, `v2beta1`, `80characters`: technical words that contain a number, but not
/// `s3cret`.
fn is_technical(part: &str) -> bool {
    /// Letters that follow one letter and a digit in a technical word: `k8s`, `i18n`.
    const FEW: usize = 2;
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "aes", "argon", "base", "bcrypt", "blake", "bytes", "char", "ec", "ecdsa", "ed", "es", "float", "hs", "http", "i", "int",
        "ipv", "k", "l", "md", "oauth", "p", "pbkdf", "pkcs", "ps", "rs", "rsa", "s", "sha", "string", "u", "uint",
        "utf", "v", "web", "x",
    ];
    let is_digit = |c: char| c.is_ascii_digit();
    let head = part.trim_end_matches(char::is_alphabetic);
    let word = head.trim_end_matches(is_digit);
    let after = &part[head.len()..];
    let is_quantity = !head.is_empty() && word.is_empty() && after.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_word_with_a_digit =
        word.len() == 1 && !word.eq_ignore_ascii_case("v") && head.len() == 2 && after.len() > FEW;
    let is_one_word = after.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) || word.len() > 1;
    head.len() - word.len() <= 4
        && is_one_word
        && !is_word_with_a_digit
        && (is_quantity || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// `user@example.org`.
fn is_address(value: &str) -> bool {
    value.split_once('@').is_some_and(|(_, domain)| domain.contains('.') && !domain.contains('@'))
}

/// Whether `value` is a placeholder: `your-api-key`, `xxxxxxxx`, `changeme`, `********`, `new_password1`. A word such
/// as `test` counts only if the rest of the value is not a password.
pub(super) fn is_placeholder(value: &str) -> bool {
    #[rustfmt::skip]
    const PARTS: &[&str] = &["xxxx", "****", "...", "…", "••", REDACTED];
    const BEGINNINGS: &[&str] = &["xxx", "***"];
    /// The end of the keys in the documentation of AWS.
    const DOCUMENTED: &str = "EXAMPLE";
    #[rustfmt::skip]
    const WHOLE: &[&str] = &[
        "boolean", "default", "disabled", "enabled", "encrypted", "expired", "generated", "hashed", "hidden", "invalid",
        "masked", "missing", "number", "object", "optional", "postgres", "removed", "required", "string", "undefined",
        "unknown",
    ];
    let lower = value.to_ascii_lowercase();
    PARTS.iter().any(|part| lower.contains(part))
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || value.contains(DOCUMENTED)
        || without_words(value, &lower).is_some_and(|rest| !is_password(&rest))
        || WHOLE.contains(&lower.as_str())
        || is_own_name(&lower)
        || has_two_characters(value)
}

/// `value` without the words that mark a placeholder, if it has any.
fn without_words(value: &str, lower: &str) -> Option<String> {
    #[rustfmt::skip]
    const BEGINNINGS: &[&str] = &["dummy", "fake", "insert", "my-", "my_", "replace", "sample", "test", "todo"];
    const PARTS: &[&str] = &["change-me", "change_me", "changeme", "example", "placeholder", "your"];
    let mut kept = BEGINNINGS.iter().find(|word| lower.starts_with(*word)).map_or(0, |word| word.len());
    let mut rest = String::new();
    let next = |at: usize| PARTS.iter().filter_map(|word| Some((at + lower[at..].find(word)?, word.len()))).min();
    while let Some((start, length)) = next(kept) {
        rest.push_str(&value[kept..start]);
        kept = start + length;
    }
    rest.push_str(&value[kept..]);
    (rest.len() < value.len()).then_some(rest)
}

/// Whether the rest of a value is a password: neither a name with a number nor `1234567890abcdef`.
fn is_password(rest: &str) -> bool {
    let rest = without_counting(rest);
    let is_digit = |c: char| c.is_ascii_digit();
    let name = rest.trim_matches(['-', '_']).trim_end_matches(is_digit);
    !name.is_empty() && !is_own_name(&name.to_ascii_lowercase()) && (random(&rest) || chosen(&rest))
}

/// `text` without sequences: `abcdef`, `1234567890`.
fn without_counting(text: &str) -> String {
    const SHORTEST: usize = 6;
    let goes_on = |a: &u8, b: &u8| a.is_ascii_alphanumeric() && (*b == a + 1 || (*a, *b) == (b'9', b'0'));
    let runs = text.as_bytes().chunk_by(goes_on).scan(0, |at, run| {
        *at += run.len();
        Some(*at - run.len()..*at)
    });
    let mut kept = String::new();
    let mut from = 0;
    for run in runs.filter(|run| run.len() >= SHORTEST) {
        kept.push_str(&text[from..run.start]);
        from = run.end;
    }
    kept + &text[from..]
}

/// `password`, `new_password1`, `accesstoken`, `secret_key_2`: the name of a secret in place of its value, with at most
/// a small number. `hunter2secret` is not: no name has a number within a word, except for technical words
/// (`oauth2token`).
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

/// Whether `value`, or a part of it, is a template variable: `${TOKEN}`, `$TOKEN`, `<token>`, `{{ token }}`, `%s`,
/// `[token]`; also with HTML escapes.
pub(super) fn template(value: &str) -> bool {
    let mut chars = value.chars();
    let begins = match (chars.next(), chars.next()) {
        (Some('<' | '[' | '{' | '('), _) => true,
        (Some('$' | '%'), Some(next)) => next.is_ascii_alphabetic() || matches!(next, '_' | '{' | '('),
        _ => false,
    };
    begins || ["${", "$(", "{{", "<%", "#{", "&lt;", "&quot"].iter().any(|mark| value.contains(mark))
}

/// Whether `value` is a path or a URL: the location of a secret, not the secret.
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
