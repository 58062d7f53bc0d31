//! The end of a transcript, with the latest turns of its session.

use std::ffi::OsStr;
use std::path::Path;

use super::{Format, ReadError, Turn, jsonl};
use crate::foreign::{Deadline, Foreign, Root};

/// The turns within about the last `most` bytes of a transcript. Only their texts and roles are certain. Empty for a compressed
/// file, and for a longer one that can only be read as a whole.
///
/// # Errors
/// Errors of [`Format::read`], and if `path` is no file.
pub fn last_turns(format: &dyn Format, path: &Path, most: u64) -> Result<Vec<Turn>, ReadError> {
    let path = &std::path::absolute(path)?;
    let (root, deadline) = (Root::around(path)?, Deadline::default());
    let file = Foreign { root: &root, path, deadline: &deadline };
    let length = file.open(0)?.metadata()?.len();
    let since = match path.extension().and_then(OsStr::to_str) {
        Some("json" | "jsonl") if length <= most => None,
        Some("jsonl") if !format.takes_back() => Some(jsonl::near_end(file, most)?),
        _ => return Ok(Vec::new()),
    };
    Ok(format.read_file(file, since.as_ref())?.turns)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::formats;

    fn corpus(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(path)
    }

    /// The transcripts below a folder.
    fn transcripts(format: &dyn Format, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => transcripts(format, &path, found),
                false if format.is_transcript(&path) && path.extension().is_some_and(|one| one == "jsonl") => {
                    found.push(path)
                }
                false => {}
            }
        }
    }

    #[test]
    fn the_last_turns_are_those_that_a_whole_reading_ends_with() {
        for (name, folder) in [("claude-code", "claude_code"), ("codex", "codex"), ("cursor", "cursor/projects")] {
            let format = formats::by_name(name).unwrap();
            let mut files = Vec::new();
            transcripts(format, &corpus(folder), &mut files);
            let mut cut = 0;
            for file in files {
                let said = |turns: Vec<Turn>| turns.into_iter().map(|turn| (turn.role, turn.text)).collect::<Vec<_>>();
                let all = said(format.read(&file, None).unwrap().turns);
                let length = fs::metadata(&file).unwrap().len();
                assert_eq!(said(last_turns(format, &file, length).unwrap()), all, "{file:?}");
                let end = said(last_turns(format, &file, length * 2 / 3).unwrap());
                // That a rollout begins with a copy of another session is in its first lines.
                let new: Vec<_> = end.iter().filter(|turn| !all.contains(turn)).collect();
                assert!(name == "codex" || new.is_empty(), "{file:?}: {new:?} is not of {all:?}");
                cut += usize::from(!end.is_empty() && end.len() < all.len() && end.last() == all.last());
            }
            assert!(cut > 0, "{name}: no transcript was cut");
        }
    }

    #[test]
    fn a_path_may_begin_in_the_working_folder() {
        let format = formats::by_name("claude-code").unwrap();
        let mut files = Vec::new();
        transcripts(format, &corpus("claude_code"), &mut files);
        let file = files[0].strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
        assert_eq!(format.read(file, None).unwrap(), format.read(&files[0], None).unwrap());
        assert_eq!(last_turns(format, file, 1 << 20).unwrap(), last_turns(format, &files[0], 1 << 20).unwrap());
    }

    #[test]
    fn devices_folders_and_missing_files_are_errors() {
        let format = formats::by_name("claude-code").unwrap();
        for path in ["/dev/zero", "/", "/nowhere.jsonl"] {
            assert!(last_turns(format, Path::new(path), 1 << 10).is_err(), "{path}");
        }
    }
}
