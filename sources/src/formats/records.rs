//! What the parsers of JSON records share: the loop over lines, the texts of a message, and what was skipped.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use ruzstd::decoding::StreamingDecoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::clean::clean;
use super::field::Field;
use super::jsonl::{Line, Lines};
use super::{Batch, Cursor, Skipped};

/// How many unknown types are named. A file of another program may have one in each line.
const MAX_UNKNOWN: usize = 8;
/// The reason for a record that is no JSON object.
pub const UNREADABLE: &str = "unreadable";

/// Passes each line that is not blank to `take`, with what the format remembers and the number of the line, and sets
/// where the batch ends.
///
/// # Errors
/// Those of the file system. What was read before is in the batch.
pub fn for_each_line<S: Serialize + DeserializeOwned + Default>(
    lines: &mut Lines<S>,
    batch: &mut Batch,
    mut take: impl FnMut(&mut S, &mut Batch, u64, &[u8]),
) -> io::Result<()> {
    let mut state = std::mem::take(lines.state());
    let result = loop {
        match lines.next_line() {
            Ok(Some(Line { bytes: None, .. })) => batch.skipped.count("line too long"),
            Ok(Some(Line { bytes: Some(bytes), .. })) if bytes.trim_ascii().is_empty() => (),
            Ok(Some(Line { number, bytes: Some(bytes) })) => take(&mut state, batch, number, bytes),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    *lines.state() = state;
    batch.whole = lines.from_start();
    batch.cursor = lines.cursor();
    result
}

/// The cursor of a file that is not appended to, but replaced: it changes with the file.
///
/// # Errors
/// Those of the file system.
pub fn stamp(path: &Path) -> io::Result<Cursor> {
    let file = fs::metadata(path)?;
    let modified = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Cursor(format!("[{},{}]", file.len(), modified.unwrap_or_default().as_nanos())))
}

/// Reads a compressed file, to which nothing is appended. If it is broken, what comes before that is taken, and it is
/// read again the next time.
///
/// # Errors
/// Those of the file system.
pub fn read_compressed<S: Serialize + DeserializeOwned + Default>(
    path: &Path,
    since: Option<&Cursor>,
    batch: &mut Batch,
    read_lines: impl FnOnce(&mut Lines<S>, &mut Batch) -> io::Result<()>,
) -> io::Result<()> {
    let cursor = stamp(path)?;
    let file = BufReader::new(File::open(path)?);
    if since == Some(&cursor) {
        batch.cursor = cursor;
        return Ok(());
    }
    let read = StreamingDecoder::new(file).ok().and_then(|decoder| {
        // Its last line may lack its end, but it is not torn.
        read_lines(&mut Lines::of_reader(decoder.chain(&b"\n"[..])), batch).ok()
    });
    batch.whole = read.is_some();
    batch.cursor = if read.is_some() { cursor } else { Cursor::default() };
    if read.is_none() {
        batch.skipped.count(UNREADABLE);
    }
    Ok(())
}

/// A hash of texts that stays the same, since cursors and identifiers hold it.
pub fn hash(texts: &[&str]) -> u64 {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text);
        digest.update([0]);
    }
    digest.finalize().iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// Counts a record of a type that the parser does not know.
pub fn count_unknown(skipped: &mut Skipped, kind: Option<&str>) {
    const REASON: &str = "unknown type";
    let name = kind.unwrap_or_default().chars().take(40).map(|char| if char.is_ascii_graphic() { char } else { '?' });
    let reason = format!("{REASON} {}", name.collect::<String>());
    let named = skipped.0.keys().filter(|reason| reason.starts_with(REASON)).count();
    let is_named = kind.is_some() && (named < MAX_UNKNOWN || skipped.0.contains_key(&reason));
    skipped.count(if is_named { reason } else { REASON.to_owned() });
}

/// Whether an identifier is a UUID, which is like no other in the world.
pub fn is_uuid(text: &str) -> bool {
    let is_dash = |at| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| if is_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// A piece of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    text: Field<'a>,
    /// Gemini marks thinking with it.
    thought: Field<'a>,
}

/// The content of a message: a text, a block or a list of them.
pub type Content<'a> = Field<'a, Block<'a>>;

impl Block<'_> {
    fn said(&self) -> Option<&str> {
        let is_text = matches!(self.kind.text(), None | Some("text" | "input_text" | "output_text"));
        self.text.text().filter(|_| is_text && !self.thought.is_true())
    }
}

/// The texts of a content that somebody said, without what programs put around them.
pub fn texts(content: &Content<'_>) -> impl Iterator<Item = String> {
    let said = content.elements().iter().filter_map(|element| match element {
        Field::Text(text) => Some(&**text),
        Field::Object(block) => block.said(),
        _ => None,
    });
    said.filter_map(clean)
}

/// The texts of one message as one, with a blank line between two; `None` if there are none.
pub fn join(texts: impl IntoIterator<Item = String>) -> Option<String> {
    let texts: Vec<_> = texts.into_iter().collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Why nothing of a content is taken.
pub fn why_skipped(content: &Content<'_>) -> &'static str {
    let kinds = content.elements().iter().filter_map(Field::object);
    let mut reasons = kinds.filter_map(|block| match block.kind.text() {
        Some("tool_result" | "toolResult" | "toolResponse") => Some("tool output"),
        Some("tool_use" | "toolCall" | "toolRequest" | "frontendToolRequest" | "server_tool_use") => Some("tool call"),
        Some("thinking" | "redacted_thinking" | "redactedThinking") => Some("thinking"),
        Some("image" | "input_image" | "document") => Some("image"),
        _ => block.thought.is_true().then_some("thinking"),
    });
    reasons.next().unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_unknown_types_are_named() {
        let mut skipped = Skipped::default();
        for number in 0..20 {
            count_unknown(&mut skipped, Some(&format!("t{number}\n{}", "x".repeat(100))));
            count_unknown(&mut skipped, Some("first\u{1F600}"));
        }
        count_unknown(&mut skipped, None);
        assert_eq!(skipped.0.len(), MAX_UNKNOWN + 1);
        assert_eq!(skipped.0["unknown type first?"], 20);
        assert_eq!(skipped.0["unknown type"], 14);
        assert!(skipped.0.keys().all(|reason| reason.len() < 60 && !reason.contains('\n')), "{skipped:?}");
    }

    #[test]
    fn texts_are_cleaned_and_the_rest_has_a_reason() {
        let content = |json| serde_json::from_str::<Content>(json).unwrap();
        let said = |json| join(texts(&content(json)));
        assert_eq!(said("\" a\\n b \""), Some("a\n b".into()));
        assert_eq!(
            said(r#"["a",{"text":"b"},{"type":"text","text":" "},{"type":"tool_result","text":"no"}]"#),
            Some("a\n\nb".into())
        );
        assert_eq!(
            said(r#"{"type":"text","text":"<system-reminder>x</system-reminder>y\n\nz"}"#),
            Some("y\n\nz".into())
        );
        for (json, reason) in [
            (r#"[{"type":"text","text":null},{"type":"tool_result"}]"#, "tool output"),
            (r#"[{"text":"hm","thought":true}]"#, "thinking"),
            (r#"[{"type":"image","text":"x"}]"#, "image"),
            ("[]", "no text"),
            ("null", "no text"),
            ("7", "no text"),
        ] {
            assert_eq!((said(json), why_skipped(&content(json))), (None, reason), "{json}");
        }
    }
}
