//! Which files are notes, and which folders may have some.

use std::io;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::notes::ENDINGS;

/// Folders of programs: never entered, whatever the globs say.
const NEVER: [&str; 16] = [
    ".git", ".hg", ".jj", ".svn", "node_modules", "bower_components", ".venv", "venv", "site-packages", "__pycache__",
    ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".trash",
];

/// Which files are notes, and which hidden folders may have some.
pub struct Rules {
    notes: Gitignore,
    hidden_notes: Gitignore,
    hidden_folders: Gitignore,
    root: PathBuf,
}

impl Rules {
    /// Reads globs relative to `root`.
    pub fn new(root: &Path, globs: &[String]) -> io::Result<Self> {
        let own: Vec<String> = ENDINGS.iter().map(|ending| format!("*.{ending}")).collect();
        let globs = if globs.is_empty() { &own } else { globs };
        let hidden_parts = |glob: &str| -> Vec<String> {
            glob.trim_start_matches('!').split('/').filter(|part| part.starts_with('.')).map(str::to_owned).collect()
        };
        let naming_hidden = globs.iter().filter(|glob| !hidden_parts(glob).is_empty());
        Ok(Rules {
            notes: matcher(root, globs.iter().cloned())?,
            hidden_notes: matcher(root, naming_hidden.cloned())?,
            hidden_folders: matcher(root, globs.iter().flat_map(|glob| hidden_parts(glob)))?,
            root: root.to_owned(),
        })
    }

    /// Whether a file is a note, by its path.
    pub fn is_note(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let hidden = below.components().any(|part| is_hidden(Path::new(&part)));
        let rules = if hidden { &self.hidden_notes } else { &self.notes };
        rules.matched(below, false).is_ignore()
    }

    /// Whether a folder may have notes, by its path.
    pub fn may_enter(&self, folder: &Path) -> bool {
        let Some(name) = folder.file_name() else { return true };
        !NEVER.iter().any(|never| name == *never)
            && (!is_hidden(folder) || self.hidden_folders.matched(Path::new(name), true).is_ignore())
    }
}

fn matcher(root: &Path, globs: impl Iterator<Item = String>) -> io::Result<Gitignore> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let mut builder = GitignoreBuilder::new(root);
    builder.allow_unclosed_class(false).case_insensitive(true).map_err(wrong)?;
    for glob in globs {
        // A folder is named for the files in it.
        let glob = if glob.ends_with('/') { format!("{glob}**") } else { glob };
        builder.add_line(None, &glob).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}
