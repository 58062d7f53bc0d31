//! Exports of a service on the web: a JSON list of conversations, in a file or in the archive that the service sends.
//!
//! One conversation is read at a time, so that an export takes no more memory than its longest one. A large file is read in
//! parts, and so are the files of an archive.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use zip::ZipArchive;

use super::records::{TOO_LONG, UNREADABLE, stamp};
use super::{Batch, Cursor, Format, ReadError, Turn};
use crate::foreign::{Deadline, Foreign, ForeignFile, Limited};
use crate::machine::Machine;

/// The longest conversation that is read, in bytes. A longer one is passed over.
const MAX_CONVERSATION: usize = 32 << 20;
/// Bytes of a conversation after which it is taken to have no end.
const ENDLESS: u64 = 8 * MAX_CONVERSATION as u64;
/// Bytes of a file, and of turns, that are read at once.
const PART: u64 = 64 << 20;
const PART_OF_TURNS: usize = 32 << 20;
/// The most bytes of turns of one file of an archive.
const MAX_TURNS: usize = 64 << 20;
/// Maximum bytes that are read of the list of an archive's files, of one such file, and of all together.
const MAX_LIST: u64 = 8 << 20;
const MAX_FILE: u64 = 256 << 20;
const MAX_FILES: u64 = 1 << 30;
/// The most files of an archive that are read.
const MOST_FILES: usize = 10_000;
/// Bytes that may occur between two conversations, and before the first.
const BETWEEN: &[u8] = b" \t\r\n,[\xEF\xBB\xBF";

/// A conversation, and its first and last line.
pub struct Conversation<'a> {
    pub json: &'a [u8],
    /// Counted from 1.
    pub lines: (u64, u64),
}

/// A service whose exports are read.
pub struct Export {
    /// Name of the format.
    pub name: &'static str,
    /// Adds the turns of a conversation.
    pub take: fn(&Conversation<'_>, &mut Batch),
}

impl Format for Export {
    fn name(&self) -> &'static str {
        self.name
    }

    fn places(&self, _: &Machine) -> Vec<PathBuf> {
        Vec::new()
    }

    fn is_transcript(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| is_list(&name.to_string_lossy()))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        read(file, since, self.take)
    }
}

/// How far an export was read. A changed export is read from the beginning.
#[derive(Default, Serialize, Deserialize)]
struct ExportCursor {
    stamp: String,
    /// Files of an archive that were read.
    file: usize,
    /// Bytes and lines that were read of a file that is in no archive.
    offset: u64,
    line: u64,
    is_done: bool,
}

/// Whether a file is a list of conversations by its name: `conversations.json`, `conversations-000.json`.
fn is_list(name: &str) -> bool {
    name.starts_with("conversations") && name.ends_with(".json")
}

/// Passes each conversation of an export to `take`, beyond those that were read before.
///
/// # Errors
/// Errors of the file system.
fn read(
    file: Foreign<'_>,
    since: Option<&Cursor>,
    mut take: impl FnMut(&Conversation<'_>, &mut Batch),
) -> Result<Batch, ReadError> {
    let opened = file.open(u64::MAX)?;
    let stamp = stamp(&opened)?.0;
    let known = since.and_then(|cursor| serde_json::from_str::<ExportCursor>(&cursor.0).ok());
    let mut place = known.filter(|known| known.stamp == stamp).unwrap_or_default();
    place.stamp = stamp;
    let mut batch = Batch::default();
    if !place.is_done {
        let is_beginning = place.file == 0 && place.offset == 0;
        if file.path.extension().is_some_and(|ending| ending == "zip") {
            read_archive(opened, file.deadline, &mut place, &mut batch, &mut take)?;
        } else {
            read_list(opened, &mut place, &mut batch, &mut take)?;
        }
        place.is_done = !batch.more;
        let is_all = ![UNREADABLE, TOO_LONG].iter().any(|reason| batch.skipped.counts.contains_key(reason));
        batch.whole = is_beginning && !batch.more && is_all;
    }
    batch.cursor = Cursor(serde_json::to_string(&place).expect("a place is plain data"));
    Ok(batch)
}

fn read_list(
    mut opened: ForeignFile,
    place: &mut ExportCursor,
    batch: &mut Batch,
    take: &mut dyn FnMut(&Conversation<'_>, &mut Batch),
) -> io::Result<()> {
    opened.seek(SeekFrom::Start(place.offset))?;
    let mut list = ConversationList::new(opened, place.line);
    let (begun, mut size) = (place.offset, Size::default());
    while list.next(batch, take)? {
        place.offset = begun + list.read;
        if list.read >= PART || size.of(batch) >= PART_OF_TURNS {
            place.line = list.line;
            batch.more = true;
            break;
        }
    }
    Ok(())
}

/// Reads the next files of an archive.
fn read_archive(
    opened: ForeignFile,
    deadline: &Deadline,
    place: &mut ExportCursor,
    batch: &mut Batch,
    take: &mut dyn FnMut(&Conversation<'_>, &mut Batch),
) -> io::Result<()> {
    let Some(mut archive) = open(opened) else {
        batch.skipped.count(UNREADABLE);
        return Ok(());
    };
    let lists = lists(&mut archive);
    let fits = lists.iter().take(MOST_FILES).scan(0_u64, |sum, (_, size)| {
        *sum = sum.saturating_add(*size);
        (*sum <= MAX_FILES).then_some(())
    });
    let fits = fits.count();
    let (mut turns, mut read) = (Size::default(), 0);
    while let Some((number, size)) = lists.get(place.file).filter(|_| place.file < fits) {
        if turns.bytes >= PART_OF_TURNS || read >= PART {
            batch.more = true;
            return Ok(());
        }
        place.file += 1;
        read += size;
        let Ok(file) = archive.by_index(*number) else {
            batch.skipped.count(UNREADABLE);
            continue;
        };
        let mut list = ConversationList::new(Limited::new(file, (*size).min(MAX_FILE), deadline), 0);
        let begun = turns.of(batch);
        let ended = loop {
            match list.next(batch, take) {
                Ok(true) if turns.of(batch) - begun < MAX_TURNS => {}
                Ok(is_next) => break is_next.then_some(TOO_LONG),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => break Some(TOO_LONG),
                Err(_) => {
                    deadline.check()?;
                    break Some(UNREADABLE);
                }
            }
        };
        ended.into_iter().for_each(|reason| batch.skipped.count(reason));
    }
    (fits..lists.len()).for_each(|_| batch.skipped.count(TOO_LONG));
    Ok(())
}

/// The bytes of a batch's turns, counted as they come.
#[derive(Default)]
struct Size {
    counted: usize,
    bytes: usize,
}

impl Size {
    fn of(&mut self, batch: &Batch) -> usize {
        let new = batch.turns.get(self.counted..).unwrap_or_default();
        self.bytes += new.iter().map(Turn::size).sum::<usize>();
        self.counted = batch.turns.len();
        self.bytes
    }
}

/// An archive of which only so much is read.
type Archive = ZipArchive<Metered>;

/// Opens an archive whose list of files is not too long.
fn open(file: ForeignFile) -> Option<Archive> {
    let left = Rc::new(Cell::new(MAX_LIST));
    let archive = ZipArchive::new(Metered { file, left: left.clone() }).ok()?;
    left.set(MAX_FILES);
    Some(archive)
}

/// The numbers and sizes of the files with conversations, in the order of their names.
fn lists(archive: &mut Archive) -> Vec<(usize, u64)> {
    let mut lists: Vec<(String, usize, u64)> = (0..archive.len())
        .filter_map(|number| {
            let name = archive.name_for_index(number)?.ok()?.rsplit('/').next()?.to_owned();
            let is_list = is_list(&name);
            is_list.then(|| archive.by_index_raw(number).ok().map(|file| (name, number, file.size())))?
        })
        .collect();
    lists.sort();
    lists.into_iter().map(|(_, number, size)| (number, size)).collect()
}

/// The beginning of the first file with conversations in an archive.
pub fn head_of_archive(file: Foreign<'_>, most: u64) -> Option<Vec<u8>> {
    let mut archive = open(file.open(u64::MAX).ok()?)?;
    let (number, _) = *lists(&mut archive).first()?;
    let mut head = Vec::new();
    let file = archive.by_index(number).ok()?;
    // What is cut off is enough.
    let _broken = file.take(most).read_to_end(&mut head);
    Some(head)
}

/// Bytes of an archive, of which so many are left.
struct Metered {
    file: ForeignFile,
    left: Rc<Cell<u64>>,
}

impl Read for Metered {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?);
        Ok(read)
    }
}

impl Seek for Metered {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The conversations of a list, one after the other.
struct ConversationList<R> {
    reader: BufReader<R>,
    conversation: Vec<u8>,
    /// Bytes that were read.
    read: u64,
    /// Lines up to there.
    line: u64,
}

impl<R: Read> ConversationList<R> {
    fn new(reader: R, line: u64) -> Self {
        ConversationList {
            reader: BufReader::with_capacity(256 << 10, reader),
            conversation: Vec::new(),
            read: 0,
            line,
        }
    }

    /// Passes the next conversation on. False at the end, and if there is no conversation, which is counted.
    fn next(&mut self, batch: &mut Batch, take: &mut dyn FnMut(&Conversation<'_>, &mut Batch)) -> io::Result<bool> {
        match self.skip_to_next()? {
            Some(b'{') => {}
            None | Some(b']') => return Ok(false),
            Some(_) => {
                batch.skipped.count(UNREADABLE);
                return Ok(false);
            }
        }
        let first = self.line + 1;
        match self.read_object()? {
            None => {
                batch.skipped.count(UNREADABLE);
                return Ok(false);
            }
            Some(false) => batch.skipped.count("conversation too long"),
            Some(true) => take(&Conversation { json: &self.conversation, lines: (first, self.line + 1) }, batch),
        }
        Ok(true)
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
        self.read += bytes as u64;
    }

    /// Skips the bytes between two conversations.
    fn skip_to_next(&mut self) -> io::Result<Option<u8>> {
        loop {
            let available = self.reader.fill_buf()?;
            let end = available.iter().position(|byte| !BETWEEN.contains(byte));
            let (next, length) = (end.map(|end| available[end]), end.unwrap_or(available.len()));
            self.line += memchr::memchr_iter(b'\n', &available[..length]).count() as u64;
            self.consume(length);
            if next.is_some() || length == 0 {
                return Ok(next);
            }
        }
    }

    /// Reads to the end of an object. False if it is too long, `None` if it has no end.
    fn read_object(&mut self) -> io::Result<Option<bool>> {
        self.conversation.clear();
        let (mut depth, mut is_text, mut is_escaped, mut length) = (0_u64, false, false, 0);
        loop {
            let available = self.reader.fill_buf()?;
            let mut end = None;
            for (at, byte) in available.iter().enumerate() {
                match byte {
                    b'\n' => self.line += 1,
                    _ if is_escaped => is_escaped = false,
                    b'\\' if is_text => is_escaped = true,
                    b'"' => is_text = !is_text,
                    b'{' | b'[' if !is_text => depth += 1,
                    b'}' | b']' if !is_text => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            end = Some(at + 1);
                            break;
                        }
                    }
                    _ => {}
                }
            }
            let part = end.unwrap_or(available.len());
            length += part;
            if length > MAX_CONVERSATION {
                self.conversation = Vec::new();
            } else {
                self.conversation.extend_from_slice(&available[..part]);
            }
            self.consume(part);
            if end.is_some() {
                return Ok(Some(length <= MAX_CONVERSATION));
            }
            if part == 0 || length as u64 > ENDLESS {
                return Ok(None);
            }
        }
    }
}
