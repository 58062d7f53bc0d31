//! The index-writer lock, and the lock of those who embed with a provider: one process at a time, one thread in it. The kernel
//! frees a lock when its holder dies.
//!
//! While it is held, the file names the holder in one line of JSON such as `{"pid":4242,"since":1767225600000,
//! "program":"memorist"}` (Unix milliseconds), and is touched every [`HEARTBEAT`]. So a waiting process can name the
//! holder, and distinguish a busy one from a stopped one. Nothing else depends on the content.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use memorist_durable::LockedFile;
use parking_lot::{Mutex, MutexGuard};

use crate::clock::now;
use crate::error::{Error, Result};
use crate::files::private_file;
use crate::holders::{Holder, held};
use crate::progress::Progress;

/// How long to sleep between two attempts at a lock that another process holds.
const RETRY: Duration = Duration::from_millis(20);
/// How often a holder shows that it is not stopped.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// A wait for a holder without a heartbeat for this long fails. Clients of a server wait no longer than 60 s
/// themselves.
const TIMEOUT: Duration = Duration::from_secs(15);
/// After this long, a wait reports the holder.
const UNEXPLAINED: Duration = Duration::from_secs(1);
/// How often to check the heartbeat.
const LOOK: Duration = Duration::from_millis(250);

/// At most this much of the file is read.
const LONGEST: u64 = 4 << 10;

/// The lock, shared by the threads of one process.
#[derive(Debug)]
pub struct WriterLock {
    path: PathBuf,
    labels: LockLabels,
    // A file lock excludes other processes; this excludes the other threads of ours.
    threads: Mutex<()>,
}

/// The words for a lock in messages.
#[derive(Debug, Clone, Copy)]
struct LockLabels {
    /// The data that its holder uses.
    used: &'static str,
    /// The right that its holder has.
    right: &'static str,
}

const WRITING: LockLabels = LockLabels { used: "the indexes", right: "the write lock of the indexes" };
const EMBEDDING: LockLabels = LockLabels { used: "the embeddings", right: "the lock for embedding" };

/// The lock of those who embed with a provider, so that no text is paid twice. It is held while the provider is waited for,
/// when the index-writer lock must not be.
#[derive(Debug)]
pub struct EmbeddingLock(WriterLock);

/// Proof that this thread is the only one that embeds texts of the store with a provider.
#[derive(Debug)]
pub struct EmbeddingGuard<'lock>(#[expect(dead_code, reason = "held, not read")] WriterGuard<'lock>);

impl EmbeddingLock {
    /// As [`WriterLock::new`].
    pub fn new(path: PathBuf) -> Self {
        EmbeddingLock(WriterLock::named(path, EMBEDDING))
    }

    /// As [`WriterLock::try_acquire`].
    pub fn try_acquire(&self) -> Result<Option<EmbeddingGuard<'_>>> {
        Ok(self.0.try_acquire()?.map(EmbeddingGuard))
    }

    /// As [`WriterLock::acquire_unless`].
    pub fn acquire_unless(
        &self,
        progress: &dyn Progress,
        give_up: impl FnMut() -> Result<bool>,
    ) -> Result<Option<EmbeddingGuard<'_>>> {
        Ok(self.0.acquire_unless(progress, give_up)?.map(EmbeddingGuard))
    }
}

/// Proof that this thread is the one index writer of the store. Dropping it passes the lock on.
#[derive(Debug)]
pub struct WriterGuard<'lock> {
    _thread: MutexGuard<'lock, ()>,
    file: LockedFile,
    /// Ends the thread that touches the file.
    _heartbeat: Sender<()>,
}

impl WriterLock {
    /// The lock in the file `path`, which is created on first use and never deleted.
    pub fn new(path: PathBuf) -> Self {
        Self::named(path, WRITING)
    }

    fn named(path: PathBuf, labels: LockLabels) -> Self {
        WriterLock { path, labels, threads: Mutex::new(()) }
    }

    /// The lock, if it is free.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created or locked.
    pub fn try_acquire(&self) -> Result<Option<WriterGuard<'_>>> {
        match self.threads.try_lock() {
            Some(thread) => self.lock_file(thread),
            None => Ok(None),
        }
    }

    /// Waits for the lock until `give_up` returns true (it is called every few milliseconds), as long as its holder is
    /// alive. After a second, reports the holder to `progress`.
    ///
    /// # Errors
    /// [`Error::Held`] if the holder has shown no heartbeat for 15 s; [`Error::Io`] if the file cannot be created or
    /// locked.
    pub fn acquire_unless(
        &self,
        progress: &dyn Progress,
        mut give_up: impl FnMut() -> Result<bool>,
    ) -> Result<Option<WriterGuard<'_>>> {
        let mut wait = Wait::begin(self, progress);
        loop {
            if let Some(thread) = self.threads.try_lock_for(RETRY) {
                if let Some(guard) = self.lock_file(thread)? {
                    return Ok(Some(guard));
                }
                thread::sleep(RETRY);
            }
            if give_up()? {
                return Ok(None);
            }
            wait.look()?;
        }
    }

    fn lock_file<'lock>(&'lock self, thread: MutexGuard<'lock, ()>) -> Result<Option<WriterGuard<'lock>>> {
        let opened = private_file().create(true).truncate(false).open(&self.path);
        let file = opened.map_err(|source| Error::io(&self.path, source))?;
        let Some(file) = LockedFile::try_lock(file).map_err(|source| Error::io(&self.path, source))? else {
            return Ok(None);
        };
        announce(&file);
        Ok(Some(WriterGuard { _thread: thread, file, _heartbeat: heartbeat(self.path.clone()) }))
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        // The lock is free when the file is unlocked, whatever its content.
        let _ = self.file.set_len(0);
    }
}

/// Writes the holder into the file. If that fails, others cannot name the holder; nothing else is lost.
fn announce(mut file: &File) {
    if let Ok(line) = serde_json::to_vec(&Holder::this_process(now())) {
        let _ = file.set_len(0).and_then(|()| file.write_all(&line));
    }
}

/// Touches the file until the returned sender is dropped.
fn heartbeat(path: PathBuf) -> Sender<()> {
    let (stop, stopped) = bounded(0);
    // A separate handle: sharing the lock's would keep the lock.
    let touch = move || {
        let touched = private_file().open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        touched.unwrap_or_else(|error| tracing::debug!("{}: {error}", path.display()));
    };
    // If no thread can be started, others give up sooner than needed.
    let _ = thread::Builder::new().name("memorist-heartbeat".into()).spawn(move || {
        while stopped.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            touch();
        }
    });
    stop
}

/// A wait for the lock.
struct Wait<'a> {
    lock: &'a WriterLock,
    progress: &'a dyn Progress,
    began: Instant,
    looked: Instant,
    /// The state of the file when it was last seen to change, and when that was.
    last: Option<Trace>,
    changed: Instant,
    reported: Option<String>,
}

impl<'a> Wait<'a> {
    fn begin(lock: &'a WriterLock, progress: &'a dyn Progress) -> Self {
        let now = Instant::now();
        Wait { lock, progress, began: now, looked: now, last: None, changed: now, reported: None }
    }

    /// Checks the heartbeat, and reports the holder.
    fn look(&mut self) -> Result<()> {
        if self.last.is_some() && self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        let now = Trace::of(&self.lock.path);
        let holder = now.holder();
        if self.last.as_ref() != Some(&now) {
            (self.last, self.changed) = (Some(now), self.looked);
        }
        if self.changed.elapsed() >= TIMEOUT {
            return Err(held(self.lock.labels.right, holder.as_ref()));
        }
        // One that lets go removes its name first.
        let is_going = holder.is_none() && self.reported.is_some();
        if self.began.elapsed() >= UNEXPLAINED && !is_going {
            let by = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            self.report(format!("waiting for {}, held by {by}", self.lock.labels.used));
        }
        Ok(())
    }

    fn report(&mut self, what: String) {
        if self.reported.as_ref() == Some(&what) {
            return;
        }
        if self.reported.is_some() {
            self.progress.finish();
        }
        self.progress.start(&what, None);
        self.reported = Some(what);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.reported.is_some() {
            self.progress.finish();
        }
    }
}

/// The state of the lock file: it changes with every holder and every heartbeat.
#[derive(Debug, PartialEq)]
struct Trace {
    modified: Option<SystemTime>,
    text: Vec<u8>,
}

impl Trace {
    fn of(path: &Path) -> Self {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        // Not every system allows reading a locked file.
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut text));
        Trace { modified, text: read.map(|_| text).unwrap_or_default() }
    }

    fn holder(&self) -> Option<Holder> {
        serde_json::from_slice(&self.text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    #[test]
    fn a_lock_has_a_single_holder_across_handles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer.lock");
        // Two handles behave like two processes: the lock belongs to the open file.
        let (ours, theirs) = (WriterLock::new(path.clone()), WriterLock::new(path));
        let held = ours.try_acquire().unwrap().expect("free");
        assert!(theirs.try_acquire().unwrap().is_none());
        assert!(ours.try_acquire().unwrap().is_none(), "nor a second thread of the holder");
        assert!(theirs.acquire_unless(&NoProgress, || Ok(true)).unwrap().is_none());
        drop(held);
        assert!(theirs.try_acquire().unwrap().is_some());
    }

    #[test]
    fn the_file_names_the_holder_while_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer.lock");
        fs::write(&path, "left by one that was killed").unwrap();
        assert_eq!(Trace::of(&path).holder(), None);
        let lock = WriterLock::new(path.clone());
        let held = lock.try_acquire().unwrap().expect("free");
        let named = Trace::of(&path).holder().expect("a holder").to_string();
        assert!(named.starts_with(&format!("process {}", std::process::id())), "{named}");
        let before = Trace::of(&path);
        thread::sleep(HEARTBEAT + HEARTBEAT / 2);
        assert_ne!(Trace::of(&path), before, "no sign of life");
        drop(held);
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    /// Records the reports.
    #[derive(Default)]
    struct RecordedProgress(Mutex<Vec<String>>);

    impl Progress for RecordedProgress {
        fn start(&self, what: &str, _: Option<u64>) {
            self.0.lock().push(what.to_owned());
        }
        fn advance(&self, _: u64) {}
        fn finish(&self) {
            self.0.lock().push("finished".to_owned());
        }
    }

    #[test]
    fn a_holder_that_lives_is_waited_for_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer.lock");
        let (ours, theirs) = (WriterLock::new(path.clone()), WriterLock::new(path));
        let reported = RecordedProgress::default();
        thread::scope(|scope| {
            let held = theirs.try_acquire().unwrap().expect("free");
            let waiting = scope.spawn(|| ours.acquire_unless(&reported, || Ok(false)).map(|guard| guard.is_some()));
            thread::sleep(TIMEOUT + HEARTBEAT);
            assert!(!waiting.is_finished(), "it has given up on one that lives");
            drop(held);
            assert!(waiting.join().unwrap().unwrap());
        });
        let reported = reported.0.into_inner();
        assert_eq!(reported.len(), 2, "{reported:?}");
        assert!(reported[0].contains("held by process") && reported[1] == "finished", "{reported:?}");
    }
}
