//! Shared code of the parsers of JSON records: the loop over lines, the texts of a message, and counts of skipped records.

use std::io::{self, BufReader, Read};
use std::time::UNIX_EPOCH;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::blocks::{self, COMMON, Marks};
use super::field::Field;
use super::jsonl::{Line, Lines};
use super::{Batch, Cursor, Role, Skipped, Turn};
use crate::foreign::{Foreign, ForeignFile, Limited};

/// The reason for a record that is no JSON object.
pub const UNREADABLE: &str = "unreadable";
/// The reason for a record of a type that the parser does not know. The type itself is a text of the file, and is not kept.
pub const UNKNOWN: &str = "unknown type";
/// The longest identifier of a session in a file whose turns are made at once, in bytes.
pub const MAX_ID: usize = 128;
/// The reason for the rest of a file that is longer than is read, and cannot be read in parts.
pub const TOO_LONG: &str = "rest of a file that is too long";
/// Bytes of turns that are read at once.
const PART: usize = 32 << 20;
/// Maximum bytes of a compressed file when it is unpacked, and of the file itself.
const UNPACKED: u64 = 256 << 20;
/// The largest window of a decoder, in bytes. Programs use 8 MiB.
const WINDOW: u64 = 32 << 20;

/// Passes each line that is not blank to `take`, with the state of the format and the number of the line, and sets where the
/// batch ends. It ends early where the batch is full; the rest of a file that cannot be read in parts is lost.
///
/// # Errors
/// Errors of the file system. The turns that were read before are in the batch.
pub fn for_each_line<S: Serialize + DeserializeOwned + Default>(
    lines: &mut Lines<S>,
    batch: &mut Batch,
    mut take: impl FnMut(&mut S, &mut Batch, u64, &[u8]),
) -> io::Result<()> {
    let mut state = std::mem::take(lines.state());
    let (mut bytes, mut counted) = (0, batch.turns.len());
    let result = loop {
        let new = batch.turns.get(counted..).unwrap_or_default();
        bytes += new.iter().map(Turn::size).sum::<usize>();
        counted = batch.turns.len();
        if lines.goes_on() && (bytes >= PART || lines.is_part_full()) {
            batch.more = true;
            break Ok(());
        }
        if bytes >= 2 * PART {
            batch.skipped.count(TOO_LONG);
            break Ok(());
        }
        match lines.next_line() {
            Ok(Some(Line { bytes: None, .. })) => batch.skipped.count("line too long"),
            Ok(Some(Line { bytes: Some(bytes), .. })) if bytes.trim_ascii().is_empty() => (),
            Ok(Some(Line { number, bytes: Some(bytes) })) => take(&mut state, batch, number, bytes),
            Ok(None) => {
                if lines.is_endless() {
                    batch.skipped.count("line without an end");
                }
                if let Some(Line { number, bytes: Some(bytes) }) = lines.last() {
                    // It comes again with its end: nothing is remembered of it.
                    let before = serde_json::to_string(&state);
                    take(&mut state, batch, number, bytes);
                    state = before.and_then(|before| serde_json::from_str(&before)).unwrap_or_default();
                }
                break Ok(());
            }
            Err(error) => break Err(error),
        }
    };
    *lines.state() = state;
    batch.whole = lines.from_start() && !batch.more && !lines.is_endless();
    batch.is_torn = lines.is_torn();
    batch.cursor = lines.cursor();
    result
}

/// The cursor of a file that is not appended to, but replaced: it changes with the file.
///
/// # Errors
/// Errors of the file system.
pub fn stamp(file: &ForeignFile) -> io::Result<Cursor> {
    let file = file.metadata()?;
    let modified = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Cursor(format!("[{},{}]", file.len(), modified.unwrap_or_default().as_nanos())))
}

/// Reads a compressed file, to which nothing is appended. If it is broken, the lines before that are taken, and it is read again
/// the next time.
///
/// # Errors
/// Errors of the file system.
pub fn read_compressed<S: Serialize + DeserializeOwned + Default>(
    file: Foreign<'_>,
    since: Option<&Cursor>,
    batch: &mut Batch,
    read_lines: impl FnOnce(&mut Lines<S>, &mut Batch) -> io::Result<()>,
) -> io::Result<()> {
    let opened = file.open(UNPACKED)?;
    let cursor = stamp(&opened)?;
    if since == Some(&cursor) {
        batch.cursor = cursor;
        return Ok(());
    }
    let read = unpacked(BufReader::new(opened)).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    let read = read.and_then(|decoder| {
        // Its last line may lack its end, but it is not torn.
        let whole = decoder.chain(&b"\n"[..]);
        read_lines(&mut Lines::of_reader(Limited::new(whole, UNPACKED, file.deadline)), batch)
    });
    file.deadline.check()?;
    let is_too_long = read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge);
    batch.whole = read.is_ok() && !batch.skipped.counts.contains_key(TOO_LONG);
    batch.cursor = if read.is_ok() || is_too_long { cursor } else { Cursor::default() };
    if let Err(_broken) = read {
        batch.skipped.count(if is_too_long { TOO_LONG } else { UNREADABLE });
    }
    Ok(())
}

/// Unpacks a text. The caller limits how much of it is read: it may have a thousand times as many bytes.
pub fn unpacked<R: Read>(packed: R) -> Option<StreamingDecoder<R, FrameDecoder>> {
    StreamingDecoder::new_with_max_window_size(packed, WINDOW).ok()
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

/// Whether an identifier is a UUID, which is like no other in the world.
pub fn is_uuid(text: &str) -> bool {
    let is_dash = |at| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| if is_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// The identifier of a turn: that of its message, with the session unless it is unique by itself.
pub fn turn_id(session: &str, id: &str) -> String {
    if is_uuid(id) { id.to_owned() } else { format!("{session}:{id}") }
}

/// A turn's role and text, or why there is none.
pub type ParsedTurn = Result<(Role, String), &'static str>;

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

/// The texts of a content as they are.
fn said<'a>(content: &'a Content<'_>) -> impl Iterator<Item = &'a str> {
    content.elements().iter().filter_map(|element| match element {
        Field::Text(text) => Some(&**text),
        Field::Object(block) => block.said(),
        _ => None,
    })
}

/// The texts of a content that the agent said.
pub fn texts(content: &Content<'_>) -> impl Iterator<Item = String> {
    said(content).filter_map(trimmed)
}

/// The texts of a content that a person typed, without the blocks of programs around them, which are counted.
pub fn typed<'a>(content: &'a Content<'_>, skipped: &'a mut Skipped) -> impl Iterator<Item = String> + 'a {
    typed_among(content, &COMMON, skipped)
}

/// Like [`typed`], for an agent that adds blocks with these marks.
pub fn typed_among<'a>(
    content: &'a Content<'_>,
    marks: &'a [Marks],
    skipped: &'a mut Skipped,
) -> impl Iterator<Item = String> + 'a {
    said(content).filter_map(|text| blocks::typed(text, marks, skipped))
}

/// A text without the space around it; `None` if there is nothing else.
pub fn trimmed(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The texts of one message as one, with a blank line between two; `None` if there are none.
pub fn join(texts: impl IntoIterator<Item = String>) -> Option<String> {
    let texts: Vec<_> = texts.into_iter().collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Why no text of a content is taken.
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
    fn texts_are_cleaned_and_the_rest_has_a_reason() {
        let content = |json| serde_json::from_str::<Content>(json).unwrap();
        let said = |json| join(typed(&content(json), &mut Skipped::default()));
        let mention = r#"["a <system-reminder>x</system-reminder>", "<system-reminder>y</system-reminder>"]"#;
        let of_agent = "a <system-reminder>x</system-reminder>\n\n<system-reminder>y</system-reminder>";
        assert_eq!(join(texts(&content(mention))).as_deref(), Some(of_agent), "what the agent says is kept");
        let mut skipped = Skipped::default();
        assert_eq!(
            join(typed(&content(mention), &mut skipped)).as_deref(),
            Some("a <system-reminder>x</system-reminder>")
        );
        assert_eq!(skipped.counts, [("block of a program", 1)].into());
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

    /// A frame of Zstandard: a text, and then so many blocks of 128 KiB of one letter, each in 4 bytes.
    fn packed(text: &str, blocks: u32) -> Vec<u8> {
        let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x58];
        frame.extend(&(u32::try_from(text.len()).unwrap() << 3).to_le_bytes()[..3]);
        frame.extend(text.as_bytes());
        for number in 1..=blocks {
            frame.extend(&((128 << 10) << 3 | 1 << 1 | u32::from(number == blocks)).to_le_bytes()[..3]);
            frame.push(b'x');
        }
        frame
    }

    #[test]
    fn a_file_that_unpacks_to_too_much_is_read_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl.zst");
        let turn =
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"}}\n";
        let codex = crate::formats::by_name("codex").unwrap();
        std::fs::write(&path, packed(turn, 8)).unwrap();
        let batch = codex.read(&path, None).unwrap();
        assert_eq!((batch.turns.len(), batch.whole), (1, true));
        std::fs::write(&path, packed(turn, 1 + (UNPACKED >> 17) as u32)).unwrap();
        let batch = codex.read(&path, None).unwrap();
        assert_eq!((batch.turns.len(), batch.whole, batch.skipped.counts[TOO_LONG]), (1, false, 1));
        let again = codex.read(&path, Some(&batch.cursor)).unwrap();
        assert_eq!((again.turns.len(), again.skipped.counts.len()), (0, 0), "it is not read again");
        // A window of 2 GiB.
        let mut large = packed(turn, 8);
        large[5] = 0xA8;
        std::fs::write(&path, large).unwrap();
        assert_eq!(codex.read(&path, None).unwrap().skipped.counts[UNREADABLE], 1);
    }

    #[test]
    fn many_turns_are_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl");
        let turn = |number| {
            format!(
                "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{number}\"}}}}\n"
            )
        };
        let turn_size = 512;
        let count = 3 * PART / (2 * turn_size);
        std::fs::write(&path, (0..count).map(turn).collect::<String>()).unwrap();
        let codex = crate::formats::by_name("codex").unwrap();
        let first = codex.read(&path, None).unwrap();
        assert!(first.more && !first.whole && first.turns.len() <= PART / turn_size, "{} turns", first.turns.len());
        let second = codex.read(&path, Some(&first.cursor)).unwrap();
        assert!(!second.more);
        let texts: Vec<_> = first.turns.iter().chain(&second.turns).map(|turn| turn.text.clone()).collect();
        assert_eq!(texts, (0..count).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
