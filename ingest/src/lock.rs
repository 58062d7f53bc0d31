//! One process at a time reads the files of a store. The others then find no changes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_durable::LockedFile;
use parking_lot::{Mutex, MutexGuard};

/// The pause between two attempts.
const RETRY: Duration = Duration::from_millis(25);

/// The lock of one store, shared by the threads of a process. The kernel frees it when its holder dies.
#[derive(Debug)]
pub struct SyncLock {
    path: PathBuf,
    threads: Mutex<()>,
}

/// Proof that nobody else reads the files of this store.
#[derive(Debug)]
pub struct SyncGuard<'a> {
    _thread: MutexGuard<'a, ()>,
    _file: LockedFile,
}

impl SyncLock {
    /// The lock for reading files into the store in this folder.
    pub fn of(store: &Path) -> Self {
        SyncLock { path: store.join("sources.lock"), threads: Mutex::new(()) }
    }

    /// The lock for watching files for the store in this folder.
    pub fn to_watch(store: &Path) -> Self {
        SyncLock { path: store.join("watch.lock"), threads: Mutex::new(()) }
    }

    /// The lock, if it is free.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn try_acquire(&self) -> io::Result<Option<SyncGuard<'_>>> {
        let Some(thread) = self.threads.try_lock() else { return Ok(None) };
        let locked = LockedFile::try_lock(private(&self.path)?)?;
        Ok(locked.map(|file| SyncGuard { _thread: thread, _file: file }))
    }

    /// Waits for the lock until `give_up` returns true.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn acquire(&self, give_up: impl FnMut() -> bool) -> io::Result<Option<SyncGuard<'_>>> {
        retry(|| self.try_acquire(), give_up)
    }
}

/// Tries to get a lock until `give_up` returns true.
///
/// # Errors
/// Errors of `try_lock`.
pub fn retry<Guard>(
    mut try_lock: impl FnMut() -> io::Result<Option<Guard>>,
    mut give_up: impl FnMut() -> bool,
) -> io::Result<Option<Guard>> {
    loop {
        if let Some(guard) = try_lock()? {
            return Ok(Some(guard));
        }
        if give_up() {
            return Ok(None);
        }
        std::thread::sleep(RETRY);
    }
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}
