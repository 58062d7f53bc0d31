//! The slot of one derived index: the open index, or the reason why it is unusable.

use std::path::Path;
use std::sync::Arc;

use memorist_durable::FileId;
use parking_lot::RwLock;

use crate::error::{Error, Result};

/// A derived index that may be out of use (missing, of another version, damaged) until it is rebuilt.
pub struct IndexSlot<I: ?Sized> {
    state: RwLock<SlotState<I>>,
}

enum SlotState<I: ?Sized> {
    Ready {
        index: Arc<I>,
        /// The folder that it was opened from.
        folder: Option<FileId>,
    },
    Unusable {
        why: String,
        /// The folder that was found damaged: it is not opened again, but a replacement is.
        damaged: Option<FileId>,
    },
}

impl<I: ?Sized> IndexSlot<I> {
    /// A slot without an index.
    pub fn unusable(why: &str) -> Self {
        IndexSlot { state: RwLock::new(SlotState::Unusable { why: why.to_owned(), damaged: None }) }
    }

    /// Opens the index in `folder`: [`Error::IndexUnusable`] is a state, other errors are the caller's.
    pub fn open(&self, folder: &Path, open: impl FnOnce() -> Result<Arc<I>>) -> Result<()> {
        // Before it is opened: the folder may be replaced meanwhile.
        let id = FileId::of(folder);
        match open() {
            Ok(index) => *self.state.write() = SlotState::Ready { index, folder: id },
            Err(Error::IndexUnusable { why, .. }) => *self.state.write() = SlotState::Unusable { why, damaged: None },
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// The index, or why there is none.
    pub fn get(&self) -> std::result::Result<Arc<I>, String> {
        match &*self.state.read() {
            SlotState::Ready { index, .. } => Ok(index.clone()),
            SlotState::Unusable { why, .. } => Err(why.clone()),
        }
    }

    /// Whether it is unusable.
    pub fn is_unusable(&self) -> bool {
        matches!(&*self.state.read(), SlotState::Unusable { .. })
    }

    /// Marks the index as unusable because it is damaged. Returns whether it was in use until now.
    pub fn mark_unusable(&self, why: &str) -> bool {
        let mut state = self.state.write();
        let SlotState::Ready { folder, .. } = &*state else { return false };
        *state = SlotState::Unusable { why: why.to_owned(), damaged: *folder };
        true
    }

    /// Whether the index in `folder` is worth opening: none is open, and this one is not known to be damaged.
    pub fn may_open(&self, folder: &Path) -> bool {
        match &*self.state.read() {
            SlotState::Ready { .. } => false,
            SlotState::Unusable { damaged: None, .. } => true,
            SlotState::Unusable { damaged, .. } => *damaged != FileId::of(folder),
        }
    }
}
