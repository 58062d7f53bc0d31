//! The size of a place.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::{DirEntry, WalkBuilder};

use crate::notes::ENDINGS;
use crate::walk::filter;

/// Maximum number of files and folders that are looked at in a place.
pub(super) const MAX_ENTRIES: usize = if cfg!(test) { 500 } else { 200_000 };
/// Maximum number of projects, workspaces or vaults that are looked at in a folder.
const MAX_FOLDERS: usize = 10_000;

/// A folder with notes of other people.
const FOREIGN: &str = "node_modules";

/// The size of a place.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub files: u64,
    pub bytes: u64,
    pub newest: Option<i64>,
    pub problem: Option<String>,
}

impl Survey {
    /// A place that cannot be read at all.
    pub fn failed(problem: impl ToString) -> Self {
        Survey { problem: Some(problem.to_string()), ..Survey::default() }
    }

    fn add(&mut self, file: &Metadata) {
        self.files += 1;
        self.bytes += file.len();
        let changed = file.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        self.newest = self.newest.max(changed.and_then(|since| i64::try_from(since.as_millis()).ok()));
    }
}

/// Whether a file is a note, by its name.
pub(super) fn is_note(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    end.is_some_and(|end| ENDINGS.iter().any(|note| end.eq_ignore_ascii_case(note)))
}

/// The files below a folder, hidden ones too. Links are not followed.
pub(super) fn every_file(folder: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(false).sort_by_file_name(|a, b| a.cmp(b));
    walk
}

/// The files below a folder that neither are hidden nor ignored by git. Links are not followed.
pub(super) fn own_files(folder: &Path) -> WalkBuilder {
    let mut walk = every_file(folder);
    let is_own = filter(folder, &[".gitignore", ".git/info/exclude"]);
    walk.hidden(true);
    walk.filter_entry(move |entry| entry.depth() == 0 || entry.file_name() != FOREIGN && is_own(entry));
    walk
}

/// Calls `file` with each file of `walk`. Returns the problem, if a file could not be read.
pub(super) fn walk(
    walk: &WalkBuilder,
    progress: &mut dyn FnMut(&Path),
    mut file: impl FnMut(DirEntry),
) -> Option<String> {
    let (mut problems, mut unnamed) = (Vec::new(), 0_usize);
    for (number, entry) in walk.build().enumerate() {
        if number >= MAX_ENTRIES {
            problems
                .insert(0, format!("there are more than {MAX_ENTRIES} files and folders; the others were not counted"));
            break;
        }
        match entry {
            Ok(entry) => match entry.file_type() {
                Some(kind) if kind.is_dir() => progress(entry.path()),
                Some(kind) if kind.is_file() => file(entry),
                _ => {}
            },
            Err(error) if problems.len() < 2 => problems.push(error.to_string()),
            Err(_) => unnamed += 1,
        }
    }
    if unnamed > 0 {
        problems.push(format!("and {unnamed} more"));
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// The folders directly below one, in the order of their names.
pub(super) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_FOLDERS).flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Counts the files of a file or a folder that `wanted` accepts; `None` if it does not exist.
pub(super) fn survey(
    path: &Path,
    below: fn(&Path) -> WalkBuilder,
    wanted: &dyn Fn(&Path) -> bool,
    progress: &mut dyn FnMut(&Path),
) -> Option<Survey> {
    let root = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Survey::failed(error)),
        Ok(root) => root,
    };
    let mut survey = Survey::default();
    if root.is_dir() {
        let mut unread = None;
        let problem = walk(&below(path), progress, |entry| {
            if wanted(entry.path()) {
                match entry.metadata() {
                    Ok(file) => survey.add(&file),
                    Err(error) => unread = Some(error.to_string()),
                }
            }
        });
        survey.problem = problem.or(unread);
    } else if wanted(path) {
        survey.add(&root);
    } else {
        survey = Survey::failed("a file of another kind is where a folder was expected");
    }
    Some(survey)
}
