//! One derived index as the rest of the engine sees it: at hand, or out of use with the reason.

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::error::{Error, Result};
use crate::files::Stamp;

/// A derived index that may be out of use (missing, of another version, damaged) until it is rebuilt.
pub struct Side<I: ?Sized> {
    state: RwLock<State<I>>,
}

enum State<I: ?Sized> {
    Ready {
        index: Arc<I>,
        /// The folder that it was opened from.
        stamp: Option<Stamp>,
    },
    Out {
        why: String,
        /// The folder that was found damaged: it is not opened again, but another in its place is.
        damaged: Option<Stamp>,
    },
}

impl<I: ?Sized> Side<I> {
    /// A side that is not at hand.
    pub fn out(why: &str) -> Self {
        Side { state: RwLock::new(State::Out { why: why.to_owned(), damaged: None }) }
    }

    /// Opens the index in `folder`: [`Error::IndexUnusable`] is a state, other errors are the caller's.
    pub fn open(&self, folder: &Path, open: impl FnOnce() -> Result<Arc<I>>) -> Result<()> {
        // Before it is opened: another folder may take its place meanwhile.
        let stamp = Stamp::of(folder);
        match open() {
            Ok(index) => *self.state.write() = State::Ready { index, stamp },
            Err(Error::IndexUnusable { why, .. }) => *self.state.write() = State::Out { why, damaged: None },
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// The index, or why there is none.
    pub fn get(&self) -> std::result::Result<Arc<I>, String> {
        match &*self.state.read() {
            State::Ready { index, .. } => Ok(index.clone()),
            State::Out { why, .. } => Err(why.clone()),
        }
    }

    /// Whether it is out of use.
    pub fn is_out(&self) -> bool {
        matches!(&*self.state.read(), State::Out { .. })
    }

    /// Takes the index out of use: it was found to be damaged. Returns whether it was in use until now.
    pub fn take_out(&self, why: &str) -> bool {
        let mut state = self.state.write();
        let State::Ready { stamp, .. } = &*state else { return false };
        *state = State::Out { why: why.to_owned(), damaged: *stamp };
        true
    }

    /// Whether the index in `folder` is worth opening: it is out of use, and not known to be damaged.
    pub fn may_open(&self, folder: &Path) -> bool {
        match &*self.state.read() {
            State::Ready { .. } => false,
            State::Out { damaged: None, .. } => true,
            State::Out { damaged, .. } => *damaged != Stamp::of(folder),
        }
    }
}
