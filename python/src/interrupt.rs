//! Long work that Ctrl-C stops: another thread does it, while the caller's looks for signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use memorist_engine::progress::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often to look.
const LOOK: Duration = Duration::from_millis(50);

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
/// safe point, and is raised then.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    let stop = &Stop::default();
    let mut raised = None;
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (tell, done) = mpsc::channel();
            let worker = scope.spawn(move || {
                let _ = tell.send(work(stop));
            });
            loop {
                match done.recv_timeout(LOOK) {
                    Ok(done) => return Some(done),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.0.store(true, Ordering::Relaxed);
                            raised.get_or_insert(error);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        // Its panic ends here: the scope would pass one on that nobody has looked at.
                        let _ = worker.join();
                        return None;
                    }
                }
            }
        })
    });
    match (raised, done) {
        (Some(raised), _) => Err(raised),
        (None, Some(done)) => Ok(done),
        (None, None) => Err(PyRuntimeError::new_err("the thread that did the work has failed")),
    }
}
