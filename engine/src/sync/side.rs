//! One derived index as the rest of the engine sees it: at hand, or out of use with the reason.

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::error::{Error, Result};

/// A derived index that may be out of use (missing, of another version, damaged) until it is rebuilt.
pub struct Side<I: ?Sized> {
    state: RwLock<State<I>>,
}

enum State<I: ?Sized> {
    Ready(Arc<I>),
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

    /// Takes the outcome of opening: [`Error::IndexUnusable`] is a state, other errors are the caller's.
    pub fn settle(&self, opened: Result<Arc<I>>) -> Result<()> {
        match opened {
            Ok(index) => self.put(index),
            Err(Error::IndexUnusable { why, .. }) => self.set_out(why, None),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// The index, or why there is none.
    pub fn get(&self) -> std::result::Result<Arc<I>, String> {
        match &*self.state.read() {
            State::Ready(index) => Ok(index.clone()),
            State::Out { why, .. } => Err(why.clone()),
        }
    }

    /// Whether it is out of use.
    pub fn is_out(&self) -> bool {
        matches!(&*self.state.read(), State::Out { .. })
    }

    /// Puts an index in use.
    pub fn put(&self, index: Arc<I>) {
        *self.state.write() = State::Ready(index);
    }

    /// Takes the index in `folder` out of use: it was found to be damaged. Returns whether it was in use until now.
    pub fn take_out(&self, why: &str, folder: &Path) -> bool {
        let was_ready = !self.is_out();
        self.set_out(why.to_owned(), Stamp::of(folder));
        was_ready
    }

    /// Whether the index in `folder` is worth opening: it is out of use, and not known to be damaged.
    pub fn may_open(&self, folder: &Path) -> bool {
        match &*self.state.read() {
            State::Ready(_) => false,
            State::Out { damaged: None, .. } => true,
            State::Out { damaged, .. } => *damaged != Stamp::of(folder),
        }
    }

    fn set_out(&self, why: String, damaged: Option<Stamp>) {
        *self.state.write() = State::Out { why, damaged };
    }
}

/// Tells a folder from another that is put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64);

impl Stamp {
    fn of(folder: &Path) -> Option<Self> {
        let metadata = folder.metadata().ok()?;
        #[cfg(unix)]
        let stamp = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let stamp = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos() as u64;
        Some(Stamp(stamp))
    }
}
