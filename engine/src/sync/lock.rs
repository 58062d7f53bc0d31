//! The index-writer lock: one process at a time, one thread in it. The kernel frees it when its holder dies.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::files::private_file;

/// How long to sleep between two tries for a lock that another process holds.
const RETRY: Duration = Duration::from_millis(20);

/// The right to ask for the lock; shared by the threads of one process.
#[derive(Debug)]
pub struct WriterLock {
    path: PathBuf,
    // A file lock excludes other processes; this excludes the other threads of ours, which wait here without polling.
    threads: Mutex<()>,
}

/// Proof that this thread is the one index writer of the store. Dropping it passes the lock on.
#[derive(Debug)]
pub struct WriterGuard<'lock> {
    _thread: MutexGuard<'lock, ()>,
    _file: File,
}

impl WriterLock {
    /// The lock in the file `path`, which is made at the first try and never deleted.
    pub fn new(path: PathBuf) -> Self {
        WriterLock { path, threads: Mutex::new(()) }
    }

    /// The lock, if nobody else has it.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be made or locked.
    pub fn try_acquire(&self) -> Result<Option<WriterGuard<'_>>> {
        match self.threads.try_lock() {
            Some(thread) => self.lock_file(thread),
            None => Ok(None),
        }
    }

    /// Waits for the lock until `give_up` says so (asked every few milliseconds while another process holds it).
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be made or locked.
    pub fn acquire_unless(&self, mut give_up: impl FnMut() -> Result<bool>) -> Result<Option<WriterGuard<'_>>> {
        loop {
            if let Some(guard) = self.lock_file(self.threads.lock())? {
                return Ok(Some(guard));
            }
            if give_up()? {
                return Ok(None);
            }
            std::thread::sleep(RETRY);
        }
    }

    fn lock_file<'lock>(&'lock self, thread: MutexGuard<'lock, ()>) -> Result<Option<WriterGuard<'lock>>> {
        let opened = private_file().create(true).truncate(false).open(&self.path);
        let file = opened.map_err(|source| Error::io(&self.path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(WriterGuard { _thread: thread, _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io(&self.path, source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_across_handles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer.lock");
        // Two handles behave as two processes do: the lock belongs to the open file.
        let (ours, theirs) = (WriterLock::new(path.clone()), WriterLock::new(path));
        let held = ours.try_acquire().unwrap().expect("free");
        assert!(theirs.try_acquire().unwrap().is_none());
        assert!(ours.try_acquire().unwrap().is_none(), "nor a second thread of the holder");
        assert!(theirs.acquire_unless(|| Ok(true)).unwrap().is_none());
        drop(held);
        assert!(theirs.try_acquire().unwrap().is_some());
    }
}
