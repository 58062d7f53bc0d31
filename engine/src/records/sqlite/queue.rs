//! The queue for SQLite's write lock.
//!
//! SQLite has no queue. A writer that finds the lock taken sleeps and tries again, so a process that writes again at once
//! gets the lock first. With a slow disk, the others can wait until their timeout. So a writer locks a file before, and
//! unlocks it when its transaction has begun: only one writer at a time waits for SQLite.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memorist_durable::LockedFile;

use crate::files::private_file;

/// How long to sleep between two attempts.
const RETRY: Duration = Duration::from_millis(1);
/// A writer that has waited for this share of its timeout goes on without the turn: a stopped process may hold it.
const SHARE: u32 = 3;

/// The queue of one store's writers, in all processes.
#[derive(Debug)]
pub(super) struct WriteQueue(Option<File>);

/// The right to wait for SQLite's lock; dropping it passes it on. `None` if the writer waits without it.
pub(super) type WriteTurn = Option<LockedFile>;

impl WriteQueue {
    /// The queue whose lock file is at `path`. If the file cannot be made, writers do not queue.
    pub(super) fn open(path: &Path) -> Self {
        // Also for reading: else opening a pipe in its place would wait.
        WriteQueue(private_file().read(true).create(true).truncate(false).open(path).ok())
    }

    /// Waits for the turn of this process, for a part of `timeout`. Only one of its threads may wait at a time.
    pub(super) fn turn(&self, timeout: Duration) -> WriteTurn {
        let since = Instant::now();
        loop {
            match LockedFile::try_lock(self.0.as_ref()?.try_clone().ok()?) {
                Ok(Some(turn)) => return Some(turn),
                Ok(None) if since.elapsed() < timeout / SHARE => thread::sleep(RETRY),
                // It took too long, or the file system has no locks.
                Ok(None) | Err(_) => return None,
            }
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

    /// Transactions as long as with a slow disk.
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
    fn a_turn_is_of_one_writer_and_is_not_waited_for_forever() {
        let folder = tempfile::tempdir().unwrap();
        let open = || WriteQueue::open(&folder.path().join("queue"));
        let (one, other) = (open(), open());
        let turn = one.turn(Duration::MAX);
        assert!(turn.is_some() && other.turn(Duration::from_millis(30)).is_none());
        drop(turn);
        assert!(other.turn(Duration::ZERO).is_some());
        assert!(WriteQueue::open(&folder.path().join("no folder/queue")).turn(Duration::MAX).is_none());
    }
}
