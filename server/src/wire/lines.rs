//! The lines of a file, one at a time, however long or broken: a bad line is an item, not the end.

use std::borrow::Cow;
use std::io::{self, BufRead};

use memorist_ingest::sources::json::{MAX_VALUES, has_more_values, repair};

/// Longest line: a memory with dozens of versions of the longest content.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub struct InputLine {
    /// Counted from 1.
    pub number: u64,
    /// Bytes of input, including the line end.
    pub bytes: u64,
    /// Its text, without the line end, or why it cannot be read.
    pub text: Result<String, String>,
}

/// Reads lines of at most [`MAX_LINE_BYTES`].
pub struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `input`.
    pub fn new(input: R) -> Self {
        Lines { input, number: 0 }
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<InputLine>> {
        let mut kept = Vec::new();
        let (mut bytes, mut too_long) = (0_u64, false);
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(chunk.len(), |end| end + 1);
            too_long = too_long || kept.len() + taken > MAX_LINE_BYTES;
            if too_long {
                kept.clear();
            } else {
                kept.extend_from_slice(&chunk[..taken]);
            }
            self.input.consume(taken);
            bytes += taken as u64;
            if end.is_some() {
                break;
            }
        }
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        let text = if too_long {
            Err(format!("is {bytes} bytes long; at most {MAX_LINE_BYTES} are read"))
        } else {
            self.decode(kept)
        };
        Ok(Some(InputLine { number: self.number, bytes, text }))
    }

    fn decode(&self, line: Vec<u8>) -> Result<String, String> {
        if has_more_values(&line, MAX_VALUES) {
            return Err(format!("has more than {MAX_VALUES} values"));
        }
        let mut text = String::from_utf8(line)
            .map_err(|error| format!("is not UTF-8 (at byte {})", error.utf8_error().valid_up_to() + 1))?;
        if let Cow::Owned(repaired) = repair(text.as_bytes()) {
            text = String::from_utf8(repaired).unwrap_or(text);
        }
        text.truncate(text.trim_end().len());
        // A byte order mark, as some editors put before the first line.
        let said = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
        Ok(if said.trim_start().starts_with('#') { String::new() } else { said.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8]) -> Vec<InputLine> {
        // A small buffer, so that lines span several.
        let mut lines = Lines::new(io::BufReader::with_capacity(7, input));
        std::iter::from_fn(|| lines.next_line().unwrap()).collect()
    }

    #[test]
    fn lines_are_counted_and_their_ends_dropped() {
        let lines = read("\u{feff}one\r\n\nthree, without an end".as_bytes());
        let texts: Vec<_> = lines.iter().map(|line| line.text.as_deref().unwrap()).collect();
        assert_eq!(texts, ["one", "", "three, without an end"]);
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(lines.iter().map(|line| line.bytes).sum::<u64>(), 3 + 5 + 1 + 21);
    }

    /// 44.10: a comment is a line without anything.
    #[test]
    fn comments_are_left_out() {
        let lines = read("\u{feff}# from a fork\n  # more\n{\"content\":\"# no\"}\n".as_bytes());
        let texts: Vec<_> = lines.iter().map(|line| line.text.as_deref().unwrap()).collect();
        assert_eq!(texts, ["", "", "{\"content\":\"# no\"}"]);
    }

    /// 44.10: half a surrogate pair becomes a replacement character.
    #[test]
    fn half_a_surrogate_pair_is_repaired() {
        let lines = read(b"{\"content\":\"a \\ud83d b\"}\n{\"content\":\"\\ud83d\\ude00\"}\n");
        assert_eq!(lines[0].text.as_deref(), Ok("{\"content\":\"a \\ufffd b\"}"));
        assert_eq!(lines[1].text.as_deref(), Ok("{\"content\":\"\\ud83d\\ude00\"}"));
    }

    #[test]
    fn values_are_limited_and_commas_in_texts_are_none() {
        let text = "1,".repeat(1 << 19);
        let memory = format!("{{\"content\":\"{text}\",\"versions\":[\"{text}\",\"{text}\"]}}");
        let lines = read(format!("{memory}\n[{text}{text}1]\n").as_bytes());
        assert_eq!(lines[0].text.as_ref(), Ok(&memory));
        assert_eq!(lines[1].text, Err("has more than 1048576 values".into()));
    }

    #[test]
    fn a_bad_line_does_not_end_the_file() {
        let mut input = b"good\nbad \xff\n".to_vec();
        input.extend(std::iter::repeat_n(b'x', MAX_LINE_BYTES + 1));
        input.extend(b"\nlast");
        let lines = read(&input);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1].text, Err("is not UTF-8 (at byte 5)".into()));
        assert!(lines[2].text.as_ref().unwrap_err().contains("67108864"));
        assert_eq!((lines[3].number, lines[3].text.as_deref()), (4, Ok("last")));
    }
}
