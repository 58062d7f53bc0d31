//! Files of lines, one JSON value each, to which an agent appends.
//!
//! The part of a file that was read is skipped the next time, if its beginning is still the same. The last line may be torn: it
//! waits until its end is written, or until the file has been left alone for a while. Then it is read, and read again once it has
//! its end.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Cursor;
use crate::foreign::{Foreign, ForeignFile};

/// Bytes at the beginning by which a file is recognised.
const HEAD: u64 = 4 << 10;
/// The longest line that is read. A longer one is skipped: it has the output of a tool.
const MAX_LINE: usize = 64 << 20;
/// Bytes of a line after which it is taken to have no end.
const ENDLESS_LINE: u64 = 8 * MAX_LINE as u64;
/// How long a file is left alone before its last line is read without an end.
const STILL: Duration = Duration::from_secs(60);
/// Bytes of a file that are read at once.
const PART: u64 = 64 << 20;

/// The lines of a file beyond those that were read before.
pub struct Lines<S> {
    reader: Box<dyn BufRead>,
    place: JsonlCursor<S>,
    from_start: bool,
    line: Vec<u8>,
    /// Bytes that were read.
    read: u64,
    /// Whether a later reading continues where this one ends.
    goes_on: bool,
    /// Whether the last line is so long that it has no end.
    is_endless: bool,
    /// Whether the file has been left alone for a while.
    is_still: bool,
    /// Whether `line` has the whole beginning of a line whose end is missing.
    is_cut: bool,
}

/// How far a file was read, and the state of its format.
#[derive(Serialize, Deserialize)]
struct JsonlCursor<S> {
    /// Bytes up to the end of the last whole line.
    offset: u64,
    /// Lines up to there.
    line: u64,
    /// The length of the beginning that was hashed, and its hash.
    head: (u64, String),
    #[serde(default)]
    state: S,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Its bytes without the line break; `None` if it is too long to be read.
    pub bytes: Option<&'a [u8]>,
}

impl<S: Serialize + DeserializeOwned + Default> Lines<S> {
    /// Opens a file where `since` ends, or at its beginning if it is another file by now or has become shorter.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(file: Foreign<'_>, since: Option<&Cursor>) -> io::Result<Self> {
        let mut file = file.open(u64::MAX)?;
        let known = since.and_then(|cursor| serde_json::from_str::<JsonlCursor<S>>(&cursor.0).ok());
        let (place, from_start) = match known {
            Some(place) if continues(&mut file, &place)? => (place, false),
            _ => (JsonlCursor { offset: 0, line: 0, head: (0, String::new()), state: S::default() }, true),
        };
        let length = file.metadata()?.len().min(HEAD);
        // While a file is shorter than its head, the head grows with it.
        let head = if place.head.0 < length { (length, hash(&mut file, length)?) } else { place.head };
        file.seek(SeekFrom::Start(place.offset))?;
        let is_still = is_still(&file);
        let lines = Lines::of_reader(file);
        Ok(Lines { place: JsonlCursor { head, ..place }, from_start, goes_on: true, is_still, ..lines })
    }

    /// Opens a file that has to be read as a whole, and has at most `limit` bytes.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open_whole(file: Foreign<'_>, limit: u64) -> io::Result<Self> {
        let mut file = file.open(limit.saturating_add(HEAD))?;
        let length = file.metadata()?.len().min(HEAD);
        let head = (length, hash(&mut file, length)?);
        file.seek(SeekFrom::Start(0))?;
        let is_still = is_still(&file);
        let lines = Lines::of_reader(file);
        Ok(Lines { place: JsonlCursor { head, ..lines.place }, is_still, ..lines })
    }

    /// The lines of `reader`, from its beginning, such as of a file that is compressed.
    pub fn of_reader(reader: impl Read + 'static) -> Self {
        let place = JsonlCursor { offset: 0, line: 0, head: (0, String::new()), state: S::default() };
        let reader = Box::new(BufReader::with_capacity(256 << 10, reader));
        Lines {
            reader,
            place,
            from_start: true,
            line: Vec::new(),
            read: 0,
            goes_on: false,
            is_endless: false,
            is_still: false,
            is_cut: false,
        }
    }

    /// Whether the lines are read from the beginning of the file.
    pub fn from_start(&self) -> bool {
        self.from_start
    }

    /// The state of the format after the lines before; the default at the beginning of a file.
    pub fn state(&mut self) -> &mut S {
        &mut self.place.state
    }

    /// Whether a later reading continues where this one ends.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Whether so much was read that a later reading should continue.
    pub fn is_part_full(&self) -> bool {
        self.read >= PART
    }

    /// Whether it ends before a line that is too long to have an end. The rest of the file is not read.
    pub fn is_endless(&self) -> bool {
        self.is_endless
    }

    /// The next whole line; `None` at the end, and before a line whose end is not written yet or never will be.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let (mut length, mut too_long) = (0, false);
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                self.is_cut = !too_long && !self.line.trim_ascii().is_empty();
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            too_long |= self.line.len() + part.len() > MAX_LINE;
            if too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let read = part.len() + usize::from(end.is_some());
            self.reader.consume(read);
            length += read as u64;
            self.read += read as u64;
            if length > ENDLESS_LINE {
                self.is_endless = true;
                return Ok(None);
            }
            if end.is_some() {
                self.place.offset += length;
                self.place.line += 1;
                let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
                return Ok(Some(Line { number: self.place.line, bytes: (!too_long).then_some(line) }));
            }
        }
    }

    /// The last line, if its end is missing and the file has been left alone for a while. It is read again later.
    pub fn last(&self) -> Option<Line<'_>> {
        let is_whole = || serde_json::from_slice::<IgnoredAny>(&self.line).is_ok();
        let is_last = self.is_cut && self.is_still && is_whole();
        is_last.then(|| Line { number: self.place.line + 1, bytes: Some(&self.line) })
    }

    /// Whether the last line has no end yet, and may still get one.
    pub fn is_torn(&self) -> bool {
        self.is_cut && !self.is_still
    }

    /// Where the next call continues: behind the last line that [`Lines::next_line`] gave.
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(&self.place).expect("a state is plain data"))
    }
}

fn is_still(file: &ForeignFile) -> bool {
    let modified = file.metadata().and_then(|file| file.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|since| since >= STILL))
}

/// The position of the first whole line within the last `most` bytes of a file. Line numbers are counted from there; the lines
/// before are unknown.
///
/// # Errors
/// Errors of the file system.
pub fn near_end(file: Foreign<'_>, most: u64) -> io::Result<Cursor> {
    let mut file = file.open(u64::MAX)?;
    let length = file.metadata()?.len();
    let head = hash(&mut file, length.min(HEAD))?;
    let mut offset = length.saturating_sub(most);
    if offset > 0 {
        // One that ends just before has no part in it.
        file.seek(SeekFrom::Start(offset - 1))?;
        offset -= 1;
        offset += BufReader::new(file.take(length - offset)).skip_until(b'\n')? as u64;
    }
    let place = serde_json::json!({ "offset": offset, "line": 0, "head": [length.min(HEAD), head] });
    Ok(Cursor(place.to_string()))
}

/// Whether the file still begins with the bytes that were read of it.
fn continues<S>(file: &mut ForeignFile, place: &JsonlCursor<S>) -> io::Result<bool> {
    Ok(file.metadata()?.len() >= place.offset && hash(file, place.head.0)? == place.head.1)
}

/// The hash of the first bytes, in hex.
fn hash(file: &mut ForeignFile, length: u64) -> io::Result<String> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(length).read_to_end(&mut head)?;
    Ok(Sha256::digest(&head).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use crate::foreign::{Deadline, Root};

    fn foreign<T>(path: &Path, read: impl FnOnce(Foreign<'_>) -> T) -> T {
        read(Foreign { root: &Root::around(path).unwrap(), path, deadline: &Deadline::default() })
    }

    fn open<S: Serialize + DeserializeOwned + Default>(path: &Path, since: Option<&Cursor>) -> Lines<S> {
        foreign(path, |file| Lines::open(file, since)).unwrap()
    }

    fn append(path: &Path, text: &str) {
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The lines since a cursor, with their numbers, and the next cursor.
    fn read(path: &Path, since: Option<&Cursor>) -> (Vec<String>, bool, Cursor) {
        let mut lines: Lines<u64> = open(path, since);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(format!("{} {}", line.number, String::from_utf8_lossy(line.bytes.unwrap())));
            *lines.state() += 1;
        }
        (all, lines.from_start(), lines.cursor())
    }

    #[test]
    fn a_file_is_read_on_where_it_ended_and_a_torn_line_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, "one\r\ntwo\nthr");
        let (lines, from_start, cursor) = read(&path, None);
        assert_eq!((lines, from_start), (vec!["1 one".to_owned(), "2 two".to_owned()], true));
        append(&path, "ee\n");
        let (lines, from_start, cursor) = read(&path, Some(&cursor));
        assert_eq!((lines, from_start), (vec!["3 three".to_owned()], false));
        assert_eq!(*open::<u64>(&path, Some(&cursor)).state(), 3);
        assert!(read(&path, Some(&cursor)).0.is_empty());
    }

    /// 44.9: a last line without an end is read once the file has been left alone, and again with its end.
    #[test]
    fn a_last_line_without_an_end_is_read_when_the_file_is_still() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl");
        let line = |text: &str| {
            format!(
                "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{text}\"}}}}"
            )
        };
        append(&path, &format!("{}\n{}", line("one"), line("two")));
        let codex = crate::formats::by_name("codex").unwrap();
        let read = |since: Option<&Cursor>| {
            let batch = codex.read(&path, since).unwrap();
            let turns: Vec<_> = batch.turns.iter().map(|turn| (turn.id.clone(), turn.text.clone())).collect();
            (turns, batch.is_torn, batch.cursor)
        };
        let still = || {
            let long_ago = SystemTime::now() - STILL;
            OpenOptions::new().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        };
        let turn = |number: u8, text: &str| (format!("rollout-a:{number}"), text.to_owned());
        let (turns, is_torn, fresh) = read(None);
        assert_eq!((turns, is_torn), (vec![turn(1, "one")], true));
        still();
        let (turns, is_torn, cursor) = read(Some(&fresh));
        assert_eq!((turns, is_torn, &cursor), (vec![turn(2, "two")], false, &fresh));
        append(&path, &format!("\n{}\n", line("three")));
        assert_eq!(read(Some(&cursor)).0, [turn(2, "two"), turn(3, "three")], "with the same identifier");
        append(&path, "{\"type\":\"resp");
        still();
        let (turns, is_torn, _) = read(None);
        assert_eq!((turns.len(), is_torn), (3, false), "what is no record yet is left");
    }

    #[test]
    fn near_the_end_whole_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, "one\ntwo\nthree\n");
        let end = |most| {
            let (lines, from_start, _) = read(&path, Some(&foreign(&path, |file| near_end(file, most)).unwrap()));
            assert!(!from_start);
            lines.into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(end(6), ["three"]);
        assert_eq!(end(7), ["three"]);
        assert_eq!(end(10), ["two", "three"]);
        assert_eq!(end(99), ["one", "two", "three"]);
        assert!(end(5).is_empty() && end(0).is_empty());
        append(&path, "four, which has no end");
        assert_eq!(end(30), ["three"]);
    }

    #[test]
    fn another_file_and_a_shorter_one_are_read_from_their_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, "one\ntwo\n");
        let cursor = read(&path, None).2;
        fs::write(&path, "uno\ntwo\nthree\n").unwrap();
        assert_eq!(read(&path, Some(&cursor)).0.len(), 3);
        fs::write(&path, "one\n").unwrap();
        assert_eq!(read(&path, Some(&cursor)).0, ["1 one"]);
        assert!(read(&path, Some(&Cursor("no JSON".into()))).1);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, &format!("{}\nb\n", "a".repeat(MAX_LINE + 1)));
        let mut lines: Lines<()> = open(&path, None);
        assert_eq!(lines.next_line().unwrap(), Some(Line { number: 1, bytes: None }));
        assert_eq!(lines.next_line().unwrap(), Some(Line { number: 2, bytes: Some(b"b") }));
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn a_line_without_an_end_is_left_and_those_before_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-a.jsonl");
        let turn =
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"}}\n";
        append(&path, turn);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(ENDLESS_LINE + 4096).unwrap();
        let codex = crate::formats::by_name("codex").unwrap();
        let batch = codex.read(&path, None).unwrap();
        assert_eq!((batch.turns.len(), batch.more, batch.skipped.counts["line without an end"]), (1, false, 1));
        let again = codex.read(&path, Some(&batch.cursor)).unwrap();
        assert_eq!((again.turns.len(), again.cursor), (0, batch.cursor), "it waits for the end of that line");
    }
}
