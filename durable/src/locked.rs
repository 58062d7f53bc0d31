//! Locks of files that end when they are dropped.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::Deref;

/// A file that this handle has locked. Dropping it unlocks the file at once.
///
/// Closing the file alone is not enough: a process that another thread is just starting has a copy of the handle until it
/// runs its program, and keeps the lock that long. A fork of this process unlocks nothing.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    /// The process that has the lock.
    holder: u32,
}

impl LockedFile {
    /// Locks the file, unless another handle has it locked.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn try_lock(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(LockedFile::held(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn lock(file: File) -> io::Result<Self> {
        file.lock()?;
        Ok(LockedFile::held(file))
    }

    /// Waits for a lock that others may share.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn lock_shared(file: File) -> io::Result<Self> {
        file.lock_shared()?;
        Ok(LockedFile::held(file))
    }

    fn held(file: File) -> Self {
        LockedFile { file, holder: std::process::id() }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.holder == std::process::id() {
            // If it fails, closing the file unlocks it.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LockedFile;

    /// A copy of the handle is what a process that is being started has.
    #[test]
    fn a_copy_of_the_handle_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let path = folder.path().join("lock");
            std::fs::File::options().create(true).truncate(false).write(true).open(path).unwrap()
        };
        let held = LockedFile::try_lock(open()).unwrap().expect("free");
        let copy = held.try_clone().unwrap();
        assert!(LockedFile::try_lock(open()).unwrap().is_none());
        drop(held);
        assert!(LockedFile::try_lock(open()).unwrap().is_some());
        let shared = LockedFile::lock_shared(open()).unwrap();
        assert!(LockedFile::try_lock(open()).unwrap().is_none());
        drop((shared, copy));
        LockedFile::lock(open()).unwrap();
    }
}
