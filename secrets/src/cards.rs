//! Payment card numbers: an issuer's prefix and length, Luhn's check digit, and digits grouped as on a card.

use std::ops::Range;

use regex::Regex;

use super::finding::Finding;

/// Enough digits for a card, with single spaces or hyphens between them, and all that follow in the same way.
pub(super) const DIGITS: &str = r"[0-9](?:[ -]?[0-9]){12,}";

/// Digits per group of a card. The last two are those of 15 (American Express) and 14 digits (Diners).
const GROUPINGS: &[&[usize]] =
    &[&[4, 4, 4, 4, 3], &[4, 4, 4, 4, 2], &[4, 4, 4, 4, 1], &[4, 4, 4, 4], &[4, 4, 4, 1], &[4, 6, 5], &[4, 6, 4]];

/// A card number is a run of digits by itself, or groups next to which there are only shorter ones (an expiry date, a
/// security code) or another card: in longer rows of numbers one in ten would pass Luhn's check by chance.
pub(super) fn search(what: &'static str, digits: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for run in digits.find_iter(text).filter(|run| stands_alone(text, run.range())) {
        let groups = groups(text, run.range());
        let (mut first, mut is_beside_card) = (0, false);
        while first < groups.len() {
            let is_free = is_beside_card || first == 0 || groups[first - 1].len() < 4;
            let count = card_at(text, &groups, first).filter(|_| is_free);
            is_beside_card = count.is_some();
            if let Some(count) = count.filter(|&count| count > 1 || !is_id(text, &groups[first])) {
                found(Finding { what, range: groups[first].start..groups[first + count - 1].end });
            }
            first += count.unwrap_or(1);
        }
    }
}

/// Whether the digits are not part of a word, a decimal number, an identifier, an IBAN or a telephone number.
fn stands_alone(text: &str, run: Range<usize>) -> bool {
    let (before, after) = (&text[..run.start], &text[run.end..]);
    let is_glued = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+');
    let is_digit = |c: char| c.is_ascii_digit();
    let is_fraction = before.ends_with('.') || before.strip_suffix(',').is_some_and(|whole| whole.ends_with(is_digit));
    let has_fraction = after.strip_prefix('.').is_some_and(|fraction| fraction.starts_with(is_digit));
    !before.ends_with(is_glued) && !after.starts_with(is_glued) && !is_fraction && !has_fraction
}

/// Whether a number without gaps is an id: in an address or a path, the name of a file, or after `id`. Near the word
/// "card" it is not an id.
fn is_id(text: &str, number: &Range<usize>) -> bool {
    const LONGEST_ADDRESS: usize = 256;
    const NEAR: usize = 32;
    const CARDS: &[&str] = &["card", "kart", "carte", "tarjeta", "visa", "amex", "maestro", "credit", "debit"];
    const SHORT: &[&str] = &["cc", "pan"];
    let last = |count: usize| &text[text.floor_char_boundary(number.start.saturating_sub(count))..number.start];
    let near = last(NEAR).to_lowercase();
    let is_short = |word: &str| SHORT.contains(&word);
    if CARDS.iter().any(|card| near.contains(card)) || near.split(|c: char| !c.is_alphanumeric()).any(is_short) {
        return false;
    }
    let word = last(LONGEST_ADDRESS).rsplit(|c: char| c.is_whitespace() || "\"'`<>()[]".contains(c)).next();
    let word = word.unwrap_or_default();
    let is_address = word.contains("://") || word.starts_with("www.") || word.ends_with(['/', '\\']);
    let after = text[number.end..].strip_prefix('.');
    let is_file = after.is_some_and(|extension| extension.starts_with(|c: char| c.is_ascii_lowercase()));
    let name = last(NEAR).trim_end_matches(['"', '\'', '`', ' ', '\t', '=', ':', '\\']);
    let name = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    // `orderId`, not `PAID`.
    let is_suffix =
        |id: &str| name.strip_suffix(id).is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_uppercase()));
    let is_named = ["id", "ids"].contains(&name) || ["Id", "Ids", "ID", "IDs"].into_iter().any(is_suffix);
    is_address || is_file || is_named || word.ends_with('#')
}

fn groups(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let mut at = run.start;
    let mut groups = Vec::new();
    for group in text[run].split([' ', '-']) {
        groups.push(at..at + group.len());
        at += group.len() + 1;
    }
    groups
}

/// How many groups from the `first` on form a card number, if what follows may follow one.
fn card_at(text: &str, groups: &[Range<usize>], first: usize) -> Option<usize> {
    number_at(text, groups, first, |next| {
        let is_last = groups.get(next + 1).is_none_or(|group| group.len() < 4);
        groups.get(next).is_none_or(|group| group.len() < 4 || is_last && is_expiry(&text[group.clone()]))
            || number_at(text, groups, next, |_| true).is_some()
    })
}

/// How many groups from the `first` on are grouped and checked as a card number, if `fits` accepts the group after it.
fn number_at(text: &str, groups: &[Range<usize>], first: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let is_card = |count: usize| {
        let Some(taken) = groups.get(first..first + count) else { return false };
        let (Some(start), Some(end)) = (taken.first(), taken.last()) else { return false };
        let number = &text[start.start..end.end];
        !(number.contains(' ') && number.contains('-')) && is_number(number) && fits(first + count)
    };
    let grouped = |shape: &&&[usize]| {
        groups[first..].iter().map(Range::len).take(shape.len()).eq(shape.iter().copied()) && is_card(shape.len())
    };
    GROUPINGS.iter().find(grouped).map(|shape| shape.len()).or_else(|| is_card(1).then_some(1))
}

/// `1227`: a month and a year.
fn is_expiry(group: &str) -> bool {
    let number = |range: Range<usize>| group.get(range).and_then(|digits| digits.parse::<u8>().ok());
    group.len() == 4
        && number(0..2).is_some_and(|month| (1..=12).contains(&month))
        && number(2..4).is_some_and(|year| (20..50).contains(&year))
}

fn is_number(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    is_issued(&digits) && passes_luhn(&digits)
}

/// Whether the prefix belongs to an issuer whose cards have this many digits (ISO/IEC 7812). Lengths of cards that are
/// no longer in use (Visa with 13) are left out: they are those of article numbers.
fn is_issued(digits: &[u8]) -> bool {
    let prefix = digits.iter().take(4).fold(0, |number, &digit| number * 10 + u16::from(digit));
    match digits.len() {
        14 => matches!(prefix, 3000..=3059 | 3095 | 3600..=3699 | 3800..=3999),
        15 => matches!(prefix, 3400..=3499 | 3700..=3799),
        16 => {
            matches!(prefix, 2200..=2204 | 2221..=2720 | 3528..=3589 | 4000..=4999 | 5100..=5599 | 6011 | 6440..=6599)
                || is_long_issued(prefix)
        }
        13 | 17..=19 => is_long_issued(prefix),
        _ => false,
    }
}

/// Maestro and UnionPay.
fn is_long_issued(prefix: u16) -> bool {
    matches!(prefix, 5018 | 5020 | 5038 | 5893 | 6200..=6299 | 6304 | 6759 | 6761..=6763)
}

fn passes_luhn(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0, |sum, (place, &digit)| {
        let value = u32::from(digit) << (place % 2);
        sum + if value > 9 { value - 9 } else { value }
    });
    sum % 10 == 0
}
