//! Whether a change of a file matters.

use std::io;
use std::path::Path;

use super::IGNORE_FILE;
use super::rules::Rules;

/// Whether a change of a file can change what a walk finds, by its path alone.
pub struct Matcher(Rules);

impl Matcher {
    /// For a walk below this root with these globs.
    ///
    /// # Errors
    /// If a glob is wrong.
    pub fn new(root: &Path, globs: &[String]) -> io::Result<Self> {
        Ok(Matcher(Rules::new(&std::path::absolute(root)?, globs)?))
    }

    /// Whether it is named like a note, or has rules about notes.
    pub fn is_file_wanted(&self, path: &Path) -> bool {
        let has_rules = path.file_name().is_some_and(|name| name == IGNORE_FILE || name == ".gitignore");
        has_rules || self.0.is_note(path)
    }

    /// Whether a folder of this name may have notes.
    pub fn is_folder_wanted(&self, path: &Path) -> bool {
        self.0.may_enter(path)
    }
}
