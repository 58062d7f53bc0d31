//! The fuzz targets: any bytes as a transcript or a note.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::chunks::{Limits, chunk};
use crate::formats;
use crate::notes;
use crate::tokens::{Estimate, TokenCount as _};

/// Bytes as a transcript, of the format that the first one chooses: no turn is empty, nor is one of its end when that is read by
/// itself, and none is there twice.
///
/// # Panics
/// If that is violated.
pub fn transcript(bytes: &[u8], folder: &Path) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let format = formats::all()[usize::from(first) % formats::all().len()];
    let path = folder.join("0f8fad5b-d9cb-469f-a165-70867728950e.jsonl");
    if fs::write(&path, rest).is_err() {
        return;
    }
    let has_text = |turn: &formats::Turn| !turn.text.trim().is_empty();
    if let Ok(last) = formats::last_turns(format, &path, rest.len() as u64 / 2) {
        assert!(last.iter().all(has_text), "{}: an empty turn at the end", format.name());
    }
    let Ok(batch) = format.read(&path, None) else { return };
    assert!(batch.turns.iter().all(has_text), "{}: an empty turn", format.name());
    if let Ok(again) = format.read(&path, Some(&batch.cursor)) {
        let known: HashSet<_> = batch.turns.iter().map(|turn| &turn.id).collect();
        let is_new = |turn: &formats::Turn| !again.whole && !known.contains(&turn.id);
        assert!(!again.turns.iter().any(is_new), "{}: the second reading finds more", format.name());
    }
}

/// Names of notes, one a kind.
const NOTES: [&str; 6] = ["a.md", "a.txt", "a.org", "a.mdx", "a.adoc", "a.canvas"];

/// Bytes as a note, of the kind that the first one chooses: each chunk stands in its text, in its order, within the limit.
///
/// # Panics
/// If that is violated.
pub fn note(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let Some(open) = notes::open(Path::new(NOTES[usize::from(first) % NOTES.len()]), rest) else { return };
    let text = &open.text;
    let limits = Limits { tokens: 40, overlap: 8 };
    let note = chunk(text, open.kind, &limits, &Estimate, &HashSet::new());
    let mut last = 0;
    for chunk in note.chunks {
        assert!(text.contains(&chunk.text), "{:?} is not in the note", chunk.text);
        assert!(chunk.lines.0 >= 1 && chunk.lines.0 <= chunk.lines.1 && chunk.lines.1 >= last, "{:?}", chunk.lines);
        assert!(Estimate.count(&chunk.text) <= limits.tokens || chunk.text.chars().count() == 1, "{:?}", chunk.text);
        let place = open.place(chunk.lines);
        assert!(place.0 >= 1 && place.0 <= place.1, "{place:?}");
        last = chunk.lines.1;
    }
}
