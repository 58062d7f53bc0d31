//! Which folders are entered, and which links are followed.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::DirEntry;

use super::ignores::Ignores;
use super::matcher::IGNORE_FILE;
use super::rules::Rules;
use crate::formats::Skipped;

/// Decides which folders are entered and which links are followed.
pub struct Gate {
    rules: Arc<Rules>,
    real_root: PathBuf,
    state: Mutex<GateState>,
}

struct GateState {
    ignores: Ignores,
    /// Links to folders that are followed.
    links: HashSet<PathBuf>,
    /// The real folders that they lead to: each is entered once through a link.
    linked: HashSet<PathBuf>,
    skipped: Skipped,
}

impl Gate {
    /// A walk below a folder, given also by its real path.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub fn new(rules: Arc<Rules>, root: &Path, real_root: PathBuf) -> io::Result<Self> {
        let ignores = Ignores::new(root, &[IGNORE_FILE, ".gitignore"])?;
        let state = GateState { ignores, links: HashSet::new(), linked: HashSet::new(), skipped: Skipped::default() };
        Ok(Gate { rules, real_root, state: Mutex::new(state) })
    }

    /// Returns the links that were not followed, and unread files, by reason. Each is returned once.
    pub fn take_skipped(&self) -> Skipped {
        let mut state = self.state();
        let mut skipped = std::mem::take(&mut state.skipped);
        skipped.add(state.ignores.take_skipped());
        skipped
    }

    /// Whether an entry is looked at.
    pub fn passes(&self, entry: &DirEntry) -> bool {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder && !self.rules.may_enter(entry.path()) || self.state().ignores.is_ignored(entry.path(), is_folder)
        {
            return false;
        }
        if !entry.path_is_symlink() {
            return true;
        }
        if !is_folder && !self.rules.is_note(entry.path()) {
            return false;
        }
        let mut state = self.state();
        let Ok(real) = entry.path().canonicalize() else {
            state.skipped.count_file("link to nothing", entry.path());
            return false;
        };
        if !real.starts_with(&self.real_root) {
            state.skipped.count_file("the link points outside the source folder", entry.path());
            return false;
        }
        if !is_folder {
            return true;
        }
        state.links.insert(entry.path().to_owned());
        state.linked.insert(real)
    }

    /// Whether a link leads to this file, or to a folder above it.
    pub fn is_linked(&self, entry: &DirEntry) -> bool {
        let state = self.state();
        let through = |path: &Path| !state.links.is_empty() && path.ancestors().any(|path| state.links.contains(path));
        (entry.depth() > 0 && entry.path_is_symlink()) || through(entry.path())
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
