//! A note, read into chunks.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use memorist_engine::types::{
    FileContent, FileReading, FileStamp, Kind, MAX_LABEL_BYTES, NewRecord, Place, Scope, SourceFile,
};
use memorist_sources::chunks::{self, Chunk, Limits, Note};
use memorist_sources::foreign::{Deadline, Foreign};
use memorist_sources::notes::{NoteKind, open};
use memorist_sources::pdf::NoPdfText;
use memorist_sources::tokens::TokenCount;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::log_lines::without_memories;
use crate::{origins, pdf, stamp};

/// The source label of chunks of notes (rows F4 and F9 of the specification).
pub const SOURCE: &str = "file-index";
/// The reason for a note that is in none of the encodings that a file can name.
pub const GUESSED: &str = "in a guessed encoding";
/// Bytes of the headings that a chunk has as its context.
const CONTEXT: usize = 300;
/// Bytes of the tags of a note, which each of its chunks has.
const TAGS: usize = 2 << 10;

/// How notes are read.
pub struct NoteReader<'a> {
    /// How long chunks are.
    pub limits: Limits,
    pub tokens: &'a dyn TokenCount,
    /// Whether files are read as if they were new.
    pub force: bool,
    /// A larger file is a problem, in bytes.
    pub max_bytes: u64,
}

/// The cuts of a note, kept so that its chunks are cut at the same places again.
#[derive(Serialize, Deserialize)]
struct Cuts {
    chunker: String,
    cuts: HashSet<u64>,
}

impl NoteReader<'_> {
    /// Identifies the chunks that this reader makes.
    fn chunker(&self) -> String {
        format!("{}:{}:{}", chunks::VERSION, self.limits.tokens, self.limits.overlap)
    }

    /// Whether an unchanged file has the chunks that this reader makes of it.
    pub fn is_current(&self, file: &SourceFile) -> bool {
        let beginning = format!("{{\"chunker\":\"{}\"", self.chunker());
        !self.force && file.cursor.as_ref().is_some_and(|cursor| cursor.starts_with(&beginning))
    }

    pub fn read(
        &self,
        file: Foreign<'_>,
        thread: String,
        found: FileStamp,
        known: Option<&SourceFile>,
        scope: &Scope,
    ) -> FileReading {
        let read_at = SystemTime::now();
        let path = file.path;
        let blank = FileReading {
            file: known.map(|known| known.id),
            thread,
            stamp: stamp::settled(found, read_at),
            hash: known.and_then(|known| known.hash),
            cursor: known.and_then(|known| known.cursor.clone()),
            ..FileReading::new(path.to_string_lossy(), FileContent::Unchanged)
        };
        match file.open(self.max_bytes).and_then(|mut file| file.read_all()) {
            Ok(bytes) => self.chunks(file, &bytes, known, scope, blank),
            Err(error) => FileReading { problem: Some(why(&error)), ..blank },
        }
    }

    fn chunks(
        &self,
        file: Foreign<'_>,
        bytes: &[u8],
        known: Option<&SourceFile>,
        scope: &Scope,
        blank: FileReading,
    ) -> FileReading {
        let path = file.path;
        let hash = Sha256::digest(bytes).into();
        let is_moved = known.is_some_and(|known| known.path != blank.path);
        if known.is_some_and(|known| known.hash == Some(hash) && self.is_current(known) && known.gone_at.is_none())
            && !is_moved
        {
            return FileReading { hash: Some(hash), ..blank };
        }
        let before = known.filter(|known| self.is_current(known)).and_then(|known| known.cursor.as_deref());
        let before = before.and_then(|cursor| serde_json::from_str::<Cuts>(cursor).ok());
        let before = before.map_or_else(HashSet::new, |before| before.cuts);
        let none = |why, blank| {
            let (skipped, content) = (BTreeMap::from([(why, 1)]), FileContent::Chunks(Vec::new()));
            FileReading { hash: Some(hash), cursor: self.cursor(HashSet::new()), skipped, content, ..blank }
        };
        if pdf::is_pdf(path) {
            return match self.pages(bytes, file.deadline, &before) {
                Ok(Ok((note, without))) => {
                    let skipped = (without > 0).then_some((pdf::PAGES, without)).into_iter().collect();
                    self.records(path, note, &|pages| pages, scope, hash, skipped, blank)
                }
                Ok(Err(no_text)) => none(pdf::why(no_text), blank),
                Err(error) => FileReading { problem: Some(why(&error)), ..blank },
            };
        }
        let Some(mut open) = open(path, bytes) else { return none("no text", blank) };
        let mut skipped: BTreeMap<_, _> = open.is_guessed.then_some((GUESSED, 1)).into_iter().collect();
        if let Some(written) = without_memories(path, &open.text) {
            if written.text.trim().is_empty() {
                return none("the daily log", blank);
            }
            skipped.insert("lines of the daily log", written.memories);
            open.text = Cow::Owned(written.text);
        }
        let text = &open.text;
        let mut note = chunks::chunk(text, open.kind, &self.limits, self.tokens, &before);
        if note.chunks.is_empty() && note.front > 0 {
            // It has nothing but its front matter, which is its text then.
            let front = text.get(..note.front).unwrap_or_default();
            note.chunks = chunks::chunk(front, NoteKind::Text, &self.limits, self.tokens, &before).chunks;
            note.properties.clear();
        }
        self.records(path, note, &|lines| open.place(lines), scope, hash, skipped, blank)
    }

    /// A PDF, each of whose pages is cut by itself, and how many pages have no text. The lines of a chunk are its page.
    fn pages(
        &self,
        bytes: &[u8],
        deadline: &Deadline,
        before: &HashSet<u64>,
    ) -> io::Result<Result<(Note, u64), NoPdfText>> {
        let text = match pdf::text(bytes, deadline)? {
            Ok(text) => text,
            Err(no_text) => return Ok(Err(no_text)),
        };
        let mut note = Note { title: text.title, ..Note::default() };
        for (text, page) in text.pages.iter().zip(1..) {
            let chunks = chunks::chunk(text, NoteKind::Text, &self.limits, self.tokens, before).chunks;
            note.chunks.extend(chunks.into_iter().map(|chunk| Chunk { lines: (page, page), ..chunk }));
        }
        let without = text.pages.iter().filter(|page| page.is_empty()).count() as u64;
        Ok(Ok((note, without)))
    }

    /// The records of a note. `place` says where lines of it are in the file.
    #[expect(clippy::too_many_arguments, reason = "the rest of one reading, whose parts have no common name")]
    fn records(
        &self,
        path: &Path,
        note: Note,
        place: &dyn Fn((u64, u64)) -> (u64, u64),
        scope: &Scope,
        hash: [u8; 32],
        skipped: BTreeMap<&'static str, u64>,
        blank: FileReading,
    ) -> FileReading {
        let file_name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut tags = vec![file_name.clone()];
        tags.extend(note.tags);
        tags.retain(|tag| !tag.trim().is_empty() && tag.len() <= MAX_LABEL_BYTES && !tag.contains('\0'));
        tags.truncate(memorist_engine::types::MAX_TAGS);
        let mut bytes = 0;
        tags.retain(|tag| {
            bytes += tag.len();
            bytes <= TAGS
        });
        let title = note.title.unwrap_or_else(|| file_name.clone());
        let mut properties = properties(&title, &file_name, &note.properties);
        let mut origins = origins::Chunks::of(&blank.thread);
        let mut cuts = HashSet::new();
        let mut records = Vec::with_capacity(note.chunks.len());
        let empty = || Chunk { text: name_of(path), headings: Vec::new(), lines: (1, 1), start: 0 };
        let is_empty = note.chunks.is_empty();
        for chunk in note.chunks.into_iter().chain(is_empty.then(empty)) {
            cuts.insert(chunk.start);
            let context = context(&title, &chunk.headings) + &std::mem::take(&mut properties);
            let origin = origins.next(&context, &chunk.text);
            let (first, last) = place(chunk.lines);
            records.push(NewRecord {
                kind: Kind::Chunk,
                source: SOURCE.into(),
                context: Some(context),
                tags: tags.clone(),
                scope: scope.clone(),
                place: Some(Place::new(origin, blank.path.clone(), first, last)),
                ..NewRecord::new(chunk.text)
            });
        }
        let cursor = self.cursor(cuts);
        FileReading { hash: Some(hash), cursor, skipped, content: FileContent::Chunks(records), ..blank }
    }

    fn cursor(&self, cuts: HashSet<u64>) -> Option<String> {
        serde_json::to_string(&Cuts { chunker: self.chunker(), cuts }).ok()
    }
}

/// Returns the text that an empty note is found by.
fn name_of(path: &Path) -> String {
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().replace('\0', " "));
    if name.trim().is_empty() { "an empty note".to_owned() } else { name }
}

/// Additional text of the first chunk of a note: the name of its file, if that is not its title, and the properties.
fn properties(title: &str, file_name: &str, properties: &str) -> String {
    let name = Some(file_name).filter(|name| *name != title);
    let all = name.into_iter().chain([properties]).filter(|text| !text.trim().is_empty());
    all.map(|text| format!(" · {}", text.replace('\0', " "))).collect()
}

/// The title of a note and the headings above a chunk.
fn context(title: &str, headings: &[String]) -> String {
    let mut context = title.replace('\0', " ");
    for heading in headings.iter().filter(|heading| *heading != title) {
        context.push_str(" > ");
        context.push_str(&heading.replace('\0', " "));
    }
    context.truncate(context.floor_char_boundary(CONTEXT));
    context
}

/// Why a file cannot be read, in words.
pub fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "it may not be read".into(),
        io::ErrorKind::NotFound => "it is gone".into(),
        _ => error.to_string(),
    }
}
