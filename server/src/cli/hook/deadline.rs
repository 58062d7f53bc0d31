//! Ends the process in time, never in the middle of an answer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::output;

/// How long an answer that is being printed may take. It is too short to fill a pipe, so only a full one takes any time.
const PRINTING: Duration = Duration::from_millis(20);

/// A thread that ends the process with 0 at a certain time, whatever the others wait for.
#[derive(Debug)]
pub struct Deadline {
    /// Whether somebody has the right to end the process, or to print.
    taken: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts the thread; `None` if that is impossible.
    pub fn start(end: Instant) -> Option<Self> {
        let taken = Arc::new(AtomicBool::new(false));
        let of_thread = taken.clone();
        let wait = move || {
            thread::sleep(end.saturating_duration_since(Instant::now()).saturating_sub(PRINTING));
            if of_thread.swap(true, Ordering::SeqCst) {
                thread::sleep(PRINTING);
            }
            std::process::exit(0);
        };
        thread::Builder::new().name("deadline".into()).spawn(wait).ok().map(|_| Deadline { taken })
    }

    /// Prints an answer, all of it or nothing.
    pub fn print(&self, answer: &str) -> io::Result<()> {
        if self.taken.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it is too late"));
        }
        output::at_once(answer.as_bytes())
    }
}
