//! A note, read into chunks.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use memorist_engine::types::{
    FileContent, FileReading, FileStamp, Kind, MAX_LABEL_BYTES, NewRecord, Place, Scope, SourceFile,
};
use memorist_sources::chunks::{self, Limits};
use memorist_sources::foreign::Foreign;
use memorist_sources::notes::kind_of;
use memorist_sources::tokens::TokenCount;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{origins, stamp};

/// The source of what is read of notes (rows F4 and F9 of the specification).
pub const SOURCE: &str = "file-index";
/// Bytes of the headings that a chunk has as its context.
const CONTEXT: usize = 300;
/// Bytes of the tags of a note, which each of its chunks has.
const TAGS: usize = 2 << 10;

/// How notes are read.
pub struct NoteReader<'a> {
    /// How long chunks are.
    pub limits: Limits,
    /// Counts tokens.
    pub tokens: &'a dyn TokenCount,
    /// Whether files are read as if they were new.
    pub force: bool,
    /// A larger file is a problem, in bytes.
    pub max_bytes: u64,
}

/// What is kept of the chunks of a note, so that they are cut at the same places again.
#[derive(Serialize, Deserialize)]
struct Cuts {
    chunker: String,
    cuts: HashSet<u64>,
}

impl NoteReader<'_> {
    /// Which chunks this reader makes.
    fn chunker(&self) -> String {
        format!("{}:{}:{}", chunks::VERSION, self.limits.tokens, self.limits.overlap)
    }

    /// Whether a file that did not change has the chunks that this reader makes of it.
    pub fn is_current(&self, file: &SourceFile) -> bool {
        let beginning = format!("{{\"chunker\":\"{}\"", self.chunker());
        !self.force && file.cursor.as_ref().is_some_and(|cursor| cursor.starts_with(&beginning))
    }

    /// Reads a note.
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
        let name = path.to_string_lossy().into_owned();
        let blank = FileReading {
            file: known.map(|known| known.id),
            path: name,
            thread,
            stamp: stamp::settled(found, read_at),
            hash: known.and_then(|known| known.hash),
            cursor: known.and_then(|known| known.cursor.clone()),
            problem: None,
            skipped: BTreeMap::new(),
            content: FileContent::Unchanged,
        };
        match file.open(self.max_bytes).and_then(|mut file| file.read_all()) {
            Ok(bytes) => self.chunks(path, &bytes, known, scope, blank),
            Err(error) => FileReading { problem: Some(why(&error)), ..blank },
        }
    }

    fn chunks(
        &self,
        path: &Path,
        bytes: &[u8],
        known: Option<&SourceFile>,
        scope: &Scope,
        blank: FileReading,
    ) -> FileReading {
        let hash = Sha256::digest(bytes).into();
        let is_moved = known.is_some_and(|known| known.path != blank.path);
        if known.is_some_and(|known| known.hash == Some(hash) && self.is_current(known) && known.gone_at.is_none())
            && !is_moved
        {
            return FileReading { hash: Some(hash), ..blank };
        }
        if bytes.contains(&0) {
            let skipped = BTreeMap::from([("no text", 1)]);
            let content = FileContent::Chunks(Vec::new());
            return FileReading { hash: Some(hash), cursor: self.cursor(HashSet::new()), skipped, content, ..blank };
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let before = known.filter(|known| self.is_current(known)).and_then(|known| known.cursor.as_deref());
        let before = before.and_then(|cursor| serde_json::from_str::<Cuts>(cursor).ok());
        let before = before.map_or_else(HashSet::new, |before| before.cuts);
        let note = chunks::chunk(text, kind_of(path), &self.limits, self.tokens, &before);
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
        let title = note.title.unwrap_or(file_name);
        let mut origins = origins::Chunks::of(&blank.thread);
        let mut cuts = HashSet::new();
        let mut records = Vec::with_capacity(note.chunks.len());
        for chunk in note.chunks {
            cuts.insert(chunk.start);
            let context = context(&title, &chunk.headings);
            let origin = origins.next(&context, &chunk.text);
            records.push(NewRecord {
                kind: Kind::Chunk,
                source: SOURCE.into(),
                context: Some(context),
                tags: tags.clone(),
                scope: scope.clone(),
                place: Some(Place::new(origin, blank.path.clone(), chunk.lines.0, chunk.lines.1)),
                ..NewRecord::new(chunk.text)
            });
        }
        FileReading { hash: Some(hash), cursor: self.cursor(cuts), content: FileContent::Chunks(records), ..blank }
    }

    fn cursor(&self, cuts: HashSet<u64>) -> Option<String> {
        serde_json::to_string(&Cuts { chunker: self.chunker(), cuts }).ok()
    }
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
