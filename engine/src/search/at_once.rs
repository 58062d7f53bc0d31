//! Two parts of a search at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time that a thread waits for another without sleep.
const AWAKE: Duration = Duration::from_micros(150);

/// Runs `there` on a thread for searches, and `here` on this one. While all cores are busy that thread may not have begun
/// when `here` is done: then this one does it too, instead of waiting.
pub fn at_once<A: Send + 'static, B>(there: impl FnOnce() -> A + Send + 'static, here: impl FnOnce() -> B) -> (A, B) {
    let Some(threads) = search_pool() else { return (there(), here()) };
    let offered = Arc::new(Mutex::new(Some(there)));
    let (sender, receiver) = mpsc::channel();
    let taken = Arc::clone(&offered);
    threads.spawn(move || {
        let work = taken.lock().take();
        if let Some(there) = work {
            // The receiver is gone if the other part has failed.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(there)));
        }
    });
    let by_here = here();
    let left = offered.lock().take();
    let by_there = match left {
        Some(there) => there(),
        None => {
            let done = receive_awake(&receiver).or_else(|| receiver.recv().ok());
            done.expect("who takes the work sends its outcome").unwrap_or_else(|panic| resume_unwind(panic))
        }
    };
    (by_there, by_here)
}

/// Waits without sleep for a while: to be woken takes about 50 µs, a tenth of a search.
fn receive_awake<T>(receiver: &mpsc::Receiver<T>) -> Option<T> {
    let started = Instant::now();
    while started.elapsed() < AWAKE {
        match receiver.try_recv() {
            Ok(received) => return Some(received),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::yield_now(),
        }
    }
    None
}

/// A separate thread pool for searches: a program's own work in rayon's global pool must not keep them waiting.
///
/// `None` if the system gives no threads: then one thread searches both sides.
fn search_pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: LazyLock<Option<rayon::ThreadPool>> = LazyLock::new(|| {
        let name = |at| format!("memorist-search-{at}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build().ok()
    });
    POOL.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_done_also_while_all_threads_are_busy() {
        assert_eq!(at_once(|| 1, || thread::sleep(Duration::from_millis(20))), (1, ()));
        let (end, ended) = crossbeam_channel::bounded::<()>(0);
        let pool = search_pool().expect("threads");
        for _ in 0..pool.current_num_threads() {
            let ended = ended.clone();
            pool.spawn(move || {
                let _ = ended.recv();
            });
        }
        assert_eq!(at_once(|| 1, || 2), (1, 2));
        drop(end);
    }

    #[test]
    fn the_slower_part_is_waited_for() {
        let slow = || thread::sleep(Duration::from_millis(20));
        assert_eq!(at_once(move || (slow(), 1).1, || thread::sleep(Duration::from_millis(5))), (1, ()));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let panicked = catch_unwind(|| {
            at_once(|| panic!("there"), || thread::sleep(Duration::from_millis(20)));
        });
        assert!(panicked.is_err());
    }
}
