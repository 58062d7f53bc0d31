//! JSON texts, before they are read: values take far more memory than their text.

/// The most values of a JSON text that is read. In memory, each takes up to a hundred times the bytes of a short one.
pub const MAX_VALUES: usize = 1 << 20;

/// Whether a JSON text has more values than `most`.
///
/// What separates values is counted, and not within a text: that takes no more than it has.
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
