//! The queue in front of SQLite's write lock.
//!
//! SQLite gives its lock to whoever asks at the right moment. A process that writes again at once would come before all others,
//! which nap between two attempts: with a slow disk one of them could wait until it gives up. So each waits for its turn
//! first, and keeps the turn until its transaction has begun: meanwhile no other can ask SQLite.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::files::private_file;

/// How long to sleep between two attempts.
const NAP: Duration = Duration::from_millis(1);
/// A stopped process may have the turn: who has waited for this share of its time goes without.
const SHARE: u32 = 3;

/// The queue of one store's writers, in all processes.
#[derive(Debug)]
pub(super) struct WriteQueue(Option<File>);

/// The right to ask SQLite for its lock. Dropping it passes the turn on.
#[derive(Debug)]
pub(super) struct WriteTurn<'queue>(Option<&'queue File>);

impl WriteQueue {
    /// The queue whose lock file is at `path`. Without that file, where it cannot be made, nobody waits in it.
    pub(super) fn open(path: &Path) -> Self {
        // Also for reading: else opening a pipe in its place would wait.
        WriteQueue(private_file().read(true).create(true).truncate(false).open(path).ok())
    }

    /// Waits for the turn of this process, for a part of `timeout`. Only one thread of it may wait at a time.
    pub(super) fn turn(&self, timeout: Duration) -> WriteTurn<'_> {
        let since = Instant::now();
        let Some(file) = &self.0 else { return WriteTurn(None) };
        loop {
            match file.try_lock() {
                Ok(()) => return WriteTurn(Some(file)),
                Err(std::fs::TryLockError::WouldBlock) if since.elapsed() < timeout / SHARE => thread::sleep(NAP),
                // It takes too long, or the file system has no locks.
                Err(_) => return WriteTurn(None),
            }
        }
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            // If it fails, closing the file unlocks it.
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::store::Database;
    use super::super::testing::TestStore;
    use super::*;
    use crate::records::transaction::Authority;

    /// As with a disk that takes long, which is where naps are short beside transactions.
    #[test]
    fn a_writer_that_goes_on_at_once_does_not_come_before_others() {
        let store = TestStore::new();
        let [busy, patient] = [(); 2].map(|()| Database::open(&store.paths()).unwrap());
        let write = |database: &Database| {
            database.write(|_| {
                thread::sleep(Duration::from_millis(15));
                Ok(())
            })
        };
        let (before, is_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                while is_done.load(Ordering::Relaxed) == 0 {
                    write(&busy).unwrap();
                    before.fetch_add(1, Ordering::Relaxed);
                }
            });
            for _ in 0..10 {
                write(&patient).unwrap();
            }
            is_done.store(1, Ordering::Relaxed);
        });
        let before = before.into_inner();
        assert!(before <= 30, "{before} writes of one came before 10 of the other");
    }

    #[test]
    fn a_turn_is_of_one_and_who_waits_too_long_goes_without() {
        let folder = tempfile::tempdir().unwrap();
        let open = || WriteQueue::open(&folder.path().join("queue"));
        let (one, other) = (open(), open());
        let turn = one.turn(Duration::MAX);
        assert!(turn.0.is_some() && other.turn(Duration::from_millis(30)).0.is_none());
        drop(turn);
        assert!(other.turn(Duration::ZERO).0.is_some());
        assert!(WriteQueue::open(&folder.path().join("no folder/queue")).turn(Duration::MAX).0.is_none());
    }
}
