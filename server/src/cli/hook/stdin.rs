//! Reads one JSON object from a client on stdin. It is taken as soon as it is whole, as some clients never close stdin.

use std::io::{self, IsTerminal, Read};

use memorist_ingest::sources::formats::field;
use serde_json::Value;

/// Most bytes that are kept. A longer input is read to its end and answered with nothing, so that the client can write it.
const MOST_BYTES: usize = 16 << 20;

/// Reads what the client says.
pub fn read() -> Result<Value, String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err("clients run this, with JSON on stdin".to_owned());
    }
    read_from(stdin.lock())
}

fn read_from(mut input: impl Read) -> Result<Value, String> {
    let mut text = Vec::new();
    let mut piece = vec![0; 64 << 10];
    let mut is_too_long = false;
    loop {
        let length = match input.read(&mut piece) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("stdin: {error}")),
        };
        is_too_long |= text.len() + length > MOST_BYTES;
        if !is_too_long {
            text.extend_from_slice(&piece[..length]);
            let may_be_whole = length == 0 || text.trim_ascii_end().ends_with(b"}");
            if may_be_whole && let Some(value) = parse(&text) {
                return Ok(value);
            }
        }
        if length == 0 {
            let why = if is_too_long { "is too long" } else { "is not a JSON object" };
            return Err(format!("stdin {why}"));
        }
    }
}

fn parse(text: &[u8]) -> Option<Value> {
    let mut mended = Vec::new();
    // Some shells of Windows write a byte order mark.
    field::parse(text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text), &mut mended).filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::json;

    use super::*;

    /// Waits forever once it has said everything.
    struct Endless(Cursor<Vec<u8>>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => panic!("it would wait forever"),
                length => Ok(length.min(buffer.len())),
            }
        }
    }

    #[test]
    fn an_object_is_taken_as_soon_as_it_is_whole() {
        for text in [r#"{"a":"}"}"#, "{\"a\":\"}\"}\r\n", "\n{\"a\":\"}\"}\n ", "\u{FEFF}{\"a\":\"}\"}"] {
            assert_eq!(read_from(Endless(Cursor::new(text.into()))), Ok(json!({ "a": "}" })));
        }
        let long = json!({ "a": "x".repeat(500_000), "b": {} });
        assert_eq!(read_from(Endless(Cursor::new(long.to_string().into_bytes()))), Ok(long));
    }

    #[test]
    fn broken_characters_are_replaced_and_non_objects_refused() {
        assert_eq!(read_from(&b"{\"a\":\"x\\ud83d\"}"[..]), Ok(json!({ "a": "x\u{FFFD}" })));
        assert_eq!(read_from(&b"{\"a\":\"\xFF\"}"[..]), Ok(json!({ "a": "\u{FFFD}" })));
        let deep = "[".repeat(100_000);
        for text in ["", "  ", "7", "[]", "null", "{\"a\":1", "{}}", "garbage", &deep] {
            assert!(read_from(text.as_bytes()).unwrap_err().contains("not a JSON object"), "{text:.20}");
        }
    }

    #[test]
    fn an_input_that_is_too_long_is_read_to_its_end() {
        let mut input = Cursor::new(vec![b'{'; MOST_BYTES + 1_000_000]);
        assert!(read_from(&mut input).unwrap_err().contains("too long"));
        assert_eq!(input.position(), MOST_BYTES as u64 + 1_000_000);
    }
}
