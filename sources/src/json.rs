//! JSON texts, before they are read: values take far more memory than their text, and some have half a character.

use std::borrow::Cow;

/// The most values of a JSON text that is read. In memory, each takes up to a hundred times the bytes of a short one.
pub const MAX_VALUES: usize = 1 << 20;

/// Whether a JSON text has more values than `most`.
///
/// Counts the separators of values outside texts, which takes no memory.
pub fn has_more_values(json: &[u8], most: usize) -> bool {
    let (mut is_text, mut is_escaped, mut values) = (false, false, 0);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
    }
    values > most
}

/// Replaces each escape of half a surrogate pair by that of U+FFFD. Languages with UTF-16 strings write one when they
/// have cut a text inside an emoji, and no parser here accepts it.
pub fn repair(text: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(distance) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += distance;
        at += match escaped_unit(&text[at..]) {
            Some(0xD800..0xDC00) if matches!(escaped_unit(&text[at + 6..]), Some(0xDC00..0xE000)) => 12,
            Some(0xD800..0xE000) => {
                repaired.to_mut()[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            _ => 2.min(text.len() - at),
        };
    }
    repaired
}

/// The number in an escape `\uXXXX` at the start of `text`.
fn escaped_unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not() {
        for (json, values) in [
            ("", 0),
            ("[1,2,{\"a\":[]}]", 5),
            (r#"{"a,[{":"b,,\",[\\",}"#, 2),
            ("{\n\"a\":\n1\n}", 1),
            (r#"["\\",1]"#, 2),
        ] {
            assert!(!has_more_values(json.as_bytes(), values), "{json}");
            assert!(values == 0 || has_more_values(json.as_bytes(), values - 1), "{json}");
        }
        let long = format!("{{\"versions\":[\"{0}\",\"{0}\",\"{0}\"]}}", "1,".repeat(1 << 19));
        assert!(!has_more_values(long.as_bytes(), 4));
    }
}
