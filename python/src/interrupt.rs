//! Long work that Ctrl-C stops: another thread does it, while the caller's looks for signals.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memorist_engine::progress::Progress;
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often to look for signals.
const LOOK: Duration = Duration::from_millis(50);
/// How long stopped work is waited for. A function that embeds may take much longer to return.
const GRACE: Duration = Duration::from_secs(1);
/// How often to look whether it has ended.
const STEP: Duration = Duration::from_millis(1);

/// Threads that nobody waits for, each with the process that started it: a fork does not have them.
static LEFT: Mutex<Vec<(u32, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// Set when the work should stop.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Progress for Stop {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does the work without the interpreter. An exception of a signal's handler, as `KeyboardInterrupt`, stops it at its next
/// safe point, and is raised then, but after a second at the latest: work that has not ended goes on by itself.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send + 'static) -> PyResult<T> {
    let stop = Arc::new(Stop::default());
    let (tell, done) = mpsc::channel();
    let stopped = stop.clone();
    let worker = thread::Builder::new().spawn(move || {
        let _ = tell.send(work(&stopped));
    })?;
    py.detach(move || {
        loop {
            match done.recv_timeout(LOOK) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the thread that did the work has failed"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(raised) = Python::attach(|py| py.check_signals()) {
                        stop.0.store(true, Ordering::Relaxed);
                        leave(worker);
                        return Err(raised);
                    }
                }
            }
        }
    })
}

/// Does the work in another thread, and waits a second for it at most. Call it without the interpreter.
pub fn in_background(work: impl FnOnce() + Send + 'static) {
    // Where no thread can be started, what the work owns is dropped here.
    if let Ok(thread) = thread::Builder::new().spawn(work) {
        leave(thread);
    }
}

/// Waits for all threads that were left. Call it before the interpreter ends: they may need it.
pub fn join_left(py: Python<'_>) -> PyResult<()> {
    let process = process::id();
    while LEFT.lock().iter().any(|(owner, thread)| *owner == process && !thread.is_finished()) {
        py.detach(|| thread::sleep(LOOK));
        py.check_signals()?;
    }
    Ok(())
}

/// Waits a second for a thread, and leaves it to [`join_left`] then.
fn leave(thread: JoinHandle<()>) {
    let end = Instant::now() + GRACE;
    while !thread.is_finished() && Instant::now() < end {
        thread::sleep(STEP);
    }
    let mut left = LEFT.lock();
    left.retain(|(_, thread)| !thread.is_finished());
    if !thread.is_finished() {
        left.push((process::id(), thread));
    }
}
