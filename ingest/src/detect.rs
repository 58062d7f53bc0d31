//! What a file or a folder has, by where it is.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use memorist_engine::types::SourceKind;
use memorist_sources::formats::{self, Format};
use memorist_sources::machine::Machine;

/// Entries of a folder that are looked at.
const LOOKED_AT: usize = 10_000;

/// What a file or a folder has: the transcripts of an agent, if it is where that agent keeps them or has files named like
/// them; else notes.
pub fn detect(path: &Path, machine: &Machine) -> (SourceKind, Option<&'static dyn Format>) {
    let is_of = |format: &&&'static dyn Format| {
        let places = format.places(machine);
        let mut places = places.iter().map(|place| fs::canonicalize(place).unwrap_or_else(|_| place.clone()));
        places.any(|place| path.starts_with(&place) || place.starts_with(path) && place.exists())
    };
    if let Some(format) = formats::all().iter().find(is_of) {
        return (SourceKind::Sessions, Some(*format));
    }
    match by_names(path) {
        Some(format) => (SourceKind::Sessions, Some(format)),
        None => (SourceKind::Notes, None),
    }
}

/// The format whose transcripts are most of the files, unless more of them are notes.
fn by_names(path: &Path) -> Option<&'static dyn Format> {
    let mut names = Names { transcripts: vec![0; formats::all().len()], notes: 0, left: LOOKED_AT };
    names.count(path);
    let counts = names.transcripts.iter().enumerate();
    let (most, count) = counts.max_by_key(|(at, count)| (**count, Reverse(*at)))?;
    (*count > names.notes).then(|| formats::all()[most])
}

/// What files are called.
struct Names {
    /// By format.
    transcripts: Vec<usize>,
    notes: usize,
    left: usize,
}

impl Names {
    fn count(&mut self, path: &Path) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if path.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            return real.for_each(|entry| self.count(&entry.path()));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        self.notes += usize::from(["md", "markdown", "txt", "org"].contains(&ending));
        for (count, format) in self.transcripts.iter_mut().zip(formats::all()) {
            *count += usize::from(format.is_transcript(path));
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
        let folder = fs::canonicalize(home.path()).unwrap().join("a");
        detect(&folder, &machine).1.map(|format| format.name())
    }

    #[test]
    fn a_folder_is_known_by_its_place_and_by_its_files() {
        assert_eq!(kind(&["a/one.md", "a/old.db"]), None);
        assert_eq!(kind(&["a/.git/x", "a/note.txt"]), None);
        assert_eq!(kind(&["a/projects/-p/0f8fad5b-d9cb-469f-a165-70867728950e.jsonl"]), Some("claude-code"));
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let codex = home.join(".codex/sessions/2026");
        fs::create_dir_all(&codex).unwrap();
        let (kind, format) = detect(&codex, &Machine::new(&home, []));
        assert_eq!((kind, format.map(|format| format.name())), (SourceKind::Sessions, Some("codex")));
    }
}
