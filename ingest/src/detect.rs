//! Detection of the kind and the format of a file or a folder.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use memorist_engine::types::SourceKind;
use memorist_sources::foreign::{Deadline, Foreign, Root};
use memorist_sources::formats::{self, Format};
use memorist_sources::machine::Machine;
use memorist_sources::notes::ENDINGS;

/// Entries of a folder that are looked at.
const LOOKED_AT: usize = 10_000;
/// Files whose first records are looked at.
const READ: usize = 500;

/// Returns the kind and the format of a file or a folder: the transcripts of an agent, if it is where that agent keeps them or
/// has files that begin like them, or are named like them; else notes.
pub fn detect(path: &Path, machine: &Machine) -> (SourceKind, Option<&'static dyn Format>) {
    if let Some(format) = formats::all().iter().find(|format| is_own(path, **format, machine)) {
        return (SourceKind::Sessions, Some(*format));
    }
    match by_files(path) {
        Some(format) => (SourceKind::Sessions, Some(format)),
        None => (SourceKind::Notes, None),
    }
}

/// Whether a path is where an agent keeps its transcripts, or contains such a folder.
pub(crate) fn is_own(path: &Path, format: &dyn Format, machine: &Machine) -> bool {
    let places = format.places(machine);
    let mut places = places.iter().map(|place| dunce::canonicalize(place).unwrap_or_else(|_| place.clone()));
    places.any(|place| path.starts_with(&place) || place.starts_with(path) && place.exists())
}

/// The format whose transcripts are most of the files, unless more of them are notes: by their first records, and if none is
/// recognized, by their names.
fn by_files(path: &Path) -> Option<&'static dyn Format> {
    let none = || vec![0; formats::all().len()];
    let root = Root::open(path).ok();
    let mut files = Files { top: path, root, records: none(), names: none(), notes: 0, left: LOOKED_AT, read: READ };
    files.count(path);
    let most = |counts: &[usize]| {
        let (most, count) = counts.iter().enumerate().max_by_key(|(at, count)| (**count, Reverse(*at)))?;
        (*count > 0).then_some((most, *count))
    };
    let (most, count) = most(&files.records).or_else(|| most(&files.names))?;
    (count > files.notes).then(|| formats::all()[most])
}

/// Counts of files.
struct Files<'a> {
    top: &'a Path,
    root: Option<Root>,
    /// By format, as recognized by their records.
    records: Vec<usize>,
    /// By format, as recognized by their names.
    names: Vec<usize>,
    notes: usize,
    left: usize,
    /// Number of files whose records may still be read.
    read: usize,
}

impl Files<'_> {
    /// The format of a file by its records.
    fn recognise(&mut self, path: &Path) -> Option<&'static str> {
        self.read = self.read.checked_sub(1)?;
        let (root, deadline) = (self.root.as_ref()?, Deadline::default());
        formats::recognise(Foreign { root, path, deadline: &deadline })
    }

    fn count(&mut self, path: &Path) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if path.is_dir() {
            // What a project's folder has of histories is a source of its own.
            if path != self.top && path.ends_with(".specstory") {
                return;
            }
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            return real.for_each(|entry| self.count(&entry.path()));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let found = self.recognise(path);
        self.notes += usize::from(found.is_none() && ENDINGS.contains(&ending));
        for (at, format) in formats::all().iter().enumerate() {
            self.records[at] += usize::from(found == Some(format.name()) && !format.is_other(path));
            self.names[at] += usize::from(format.is_transcript(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(names: &[&str]) -> Option<&'static str> {
        let home = tempfile::tempdir().unwrap();
        for name in names {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let machine = Machine::new(home.path(), []);
        let folder = dunce::canonicalize(home.path()).unwrap().join("a");
        detect(&folder, &machine).1.map(|format| format.name())
    }

    #[test]
    fn a_folder_is_known_by_its_place_and_by_its_files() {
        assert_eq!(kind(&["a/one.md", "a/old.db"]), None);
        assert_eq!(kind(&["a/.git/x", "a/note.txt"]), None);
        assert_eq!(kind(&["a/projects/-p/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl"]), Some("claude-code"));
        let home = tempfile::tempdir().unwrap();
        let home = dunce::canonicalize(home.path()).unwrap();
        let codex = home.join(".codex/sessions/2026");
        // 44.2: a rollout is known by its records, whatever it is called.
        let elsewhere = home.join("backup");
        fs::create_dir_all(elsewhere.join("b")).unwrap();
        let line = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n";
        fs::write(elsewhere.join("b/one.jsonl"), line).unwrap();
        fs::write(elsewhere.join("b/two.jsonl"), "no record\n").unwrap();
        let found = |path: &Path| detect(path, &Machine::new(&home, [])).1.map(|format| format.name());
        assert_eq!((found(&elsewhere), found(&elsewhere.join("b/one.jsonl"))), (Some("codex"), Some("codex")));
        // 44.11: histories in Markdown are sessions, unless they are a hidden part of a project.
        let history = home.join("atlas/.specstory/history");
        fs::create_dir_all(&history).unwrap();
        fs::write(history.join("a.md"), "<!-- Generated by SpecStory -->\n\n_**User**_\n\nwhy?\n").unwrap();
        fs::write(history.join("b.md"), "<!-- Generated by SpecStory -->\n\n_**User**_\n\nhow?\n").unwrap();
        fs::write(home.join("atlas/README.md"), "text").unwrap();
        assert_eq!((found(&history), found(&home.join("atlas"))), (Some("specstory"), None));
        fs::create_dir_all(&codex).unwrap();
        let (kind, format) = detect(&codex, &Machine::new(&home, []));
        assert_eq!((kind, format.map(|format| format.name())), (SourceKind::Sessions, Some("codex")));
    }
}
