//! The lock of a folder's one writer.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Held by the one that changes the index in a folder, and by its merges. Dropping it unlocks the file at once.
///
/// Closing the file alone is not enough: a process that another thread is just starting has a copy of the handle until it
/// runs its program, and keeps the lock that long. A fork of this process unlocks nothing.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
    /// The process that has the lock.
    holder: u32,
}

impl WriterLock {
    /// Locks the file at `path`, which is made on first use and never removed. `None` while another writer has it.
    pub(crate) fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, holder: std::process::id() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        if self.holder == std::process::id() {
            // If it fails, closing the file unlocks it.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of the handle is what a process that is being started has.
    #[test]
    fn a_copy_of_the_handle_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = WriterLock::try_acquire(&path).unwrap().expect("free");
        let copy = held.file.try_clone().unwrap();
        assert!(WriterLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(WriterLock::try_acquire(&path).unwrap().is_some());
        drop(copy);
    }

    #[test]
    fn a_fork_does_not_unlock_for_its_parent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = WriterLock::try_acquire(&path).unwrap().expect("free");
        // A fork has the same open file, and another number.
        drop(WriterLock { file: held.file.try_clone().unwrap(), holder: held.holder + 1 });
        assert!(WriterLock::try_acquire(&path).unwrap().is_none());
    }
}
