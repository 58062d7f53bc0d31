//! Ignore files, which come with the notes: they are opened like notes, and have limits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match};

use super::matcher::IGNORE_FILE;
use crate::foreign::{Deadline, Root};
use crate::formats::Skipped;

/// A larger ignore file is not read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The most rules of one folder and those above it, and the most wildcards in them. Each takes a kilobyte of memory.
const MAX_RULES: usize = 10_000;
const MAX_WILDCARDS: usize = 40_000;
/// A longer rule is left out, in bytes: no path is longer.
const MAX_RULE: usize = 4_096;

/// The rules of the folders that a walk is in.
pub struct Ignores {
    root: Root,
    at: PathBuf,
    /// The files with rules, the first of them counts most.
    names: &'static [&'static str],
    /// The folders from the root to where the walk is.
    folders: Vec<Folder>,
    skipped: Skipped,
}

struct Folder {
    path: PathBuf,
    /// The rules of each file, in the order of `names`.
    rules: Vec<Gitignore>,
    wildcards: usize,
}

impl Ignores {
    /// Reads the files of these names below a folder, or beside a file.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub fn new(at: &Path, names: &'static [&'static str]) -> std::io::Result<Self> {
        let at = std::path::absolute(at)?;
        Ok(Ignores { root: Root::open(&at)?, at, names, folders: Vec::new(), skipped: Skipped::default() })
    }

    /// Whether the rules exclude a file or a folder. A walk asks for each, in its order.
    pub fn is_ignored(&mut self, path: &Path, is_folder: bool) -> bool {
        let Some(parent) = path.parent().filter(|parent| parent.starts_with(&self.at)) else { return false };
        while self.folders.last().is_some_and(|last| !parent.starts_with(&last.path)) {
            self.folders.pop();
        }
        let last = self.folders.last().map(|last| &*last.path);
        let is_new = |above: &&Path| last != Some(*above) && above.starts_with(&self.at);
        let entered: Vec<&Path> = parent.ancestors().take_while(is_new).collect();
        for folder in entered.into_iter().rev() {
            let mut entered = Folder { path: folder.to_owned(), rules: Vec::new(), wildcards: 0 };
            for name in self.names {
                let rules = self.rules(&mut entered, name);
                entered.rules.push(rules);
            }
            self.folders.push(entered);
        }
        for name in 0..self.names.len() {
            for rules in self.folders.iter().rev().filter_map(|folder| folder.rules.get(name)) {
                match rules.matched(path, is_folder) {
                    Match::None => {}
                    found => return found.is_ignore(),
                }
            }
        }
        false
    }

    /// Returns the files that were not read, by reason. Each is returned once.
    pub fn take_skipped(&mut self) -> Skipped {
        std::mem::take(&mut self.skipped)
    }

    /// The rules of one file. A file that cannot be read has none.
    fn rules(&mut self, folder: &mut Folder, name: &str) -> Gitignore {
        let bytes = match self.root.bytes(&folder.path.join(name), MAX_BYTES, &Deadline::default()) {
            Ok(bytes) => bytes,
            Err(error) => {
                if !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) {
                    self.skipped.count(not_read(name));
                }
                return Gitignore::empty();
            }
        };
        let mut builder = GitignoreBuilder::new(&folder.path);
        let live = || self.folders.iter().chain([&*folder]);
        let mut rules: usize = live().flat_map(|folder| &folder.rules).map(Gitignore::len).sum();
        let mut wildcards: usize = live().map(|folder| folder.wildcards).sum();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim_end().is_empty());
        for line in lines.filter(|line| !line.starts_with('#')) {
            let own = line.bytes().filter(|byte| b"*?[{,".contains(byte)).count();
            if rules >= MAX_RULES || wildcards + own > MAX_WILDCARDS || line.len() > MAX_RULE {
                self.skipped.count("ignore rules left out (too many, or longer than 4,096 bytes)");
                continue;
            }
            (rules, wildcards, folder.wildcards) = (rules + 1, wildcards + own, folder.wildcards + own);
            // A rule that is no pattern says nothing, as in git.
            let _wrong = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| {
            self.skipped.count("ignore rules that are too complex");
            Gitignore::empty()
        })
    }
}

/// Why the ignore file of this name is not read.
fn not_read(name: &str) -> &'static str {
    match name {
        IGNORE_FILE => ".memoristignore, which is no file of at most 1 MiB in the folder",
        ".gitignore" => ".gitignore, which is no file of at most 1 MiB in the folder",
        _ => "an ignore file, which is no file of at most 1 MiB in the folder",
    }
}

/// A filter of a walk that starts at `root`, by the files of these names. Without a root there is nothing to filter.
pub fn filter(root: &Path, names: &'static [&'static str]) -> impl Fn(&DirEntry) -> bool + Send + Sync + use<> {
    let ignores = Arc::new(Mutex::new(Ignores::new(root, names).ok()));
    move |entry| {
        let mut ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        !ignores.as_mut().is_some_and(|ignores| ignores.is_ignored(entry.path(), is_folder))
    }
}
