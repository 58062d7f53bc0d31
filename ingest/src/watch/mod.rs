//! Files are read whenever they change.
//!
//! One thread of one process watches the files of a store; the other processes stand by, and take over when it ends.
//!
//! | row | file | job |
//! |---|---|---|
//! | 0 | `signals` | reports to the thread |
//! | 0 | `plan` | when a source is read |
//! | 0 | `mounts` | file systems that do not tell of changes |
//! | 1 | `folders` | the folders that are watched |
//! | 2 | `work` | the thread |

mod folders;
mod mounts;
mod plan;
mod signals;
mod work;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use memorist_engine::Engine;

use crate::sync::{SyncReport, Syncer};
use signals::Signals;
use work::Worker;

/// How long dropping a watcher waits for its thread. A file system that hangs must not keep the process.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a search waits for files that have changed.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Keeps a store up to date with its sources, in a thread that ends when this is dropped.
#[derive(Debug)]
pub struct Watcher {
    signals: Arc<Signals>,
    on_search: bool,
    thread: Option<JoinHandle<()>>,
    ended: Receiver<()>,
}

impl Watcher {
    pub fn start(engine: Arc<Engine>, syncer: Arc<Syncer>) -> Self {
        Watcher::start_with(engine, syncer, |_| ())
    }

    /// Like [`Watcher::start`]. The thread calls `on_report` after each sync of a source, also if nothing has changed.
    pub fn start_with(
        engine: Arc<Engine>,
        syncer: Arc<Syncer>,
        on_report: impl Fn(&SyncReport) + Send + 'static,
    ) -> Self {
        let signals = Arc::new(Signals::default());
        let on_search = syncer.settings().on_search;
        let (end, ended) = bounded::<()>(0);
        let of_thread = signals.clone();
        let run = move || {
            let _end = end;
            Worker::new(&engine, &syncer, &of_thread, &on_report).run();
        };
        let thread = std::thread::Builder::new().name("watch".into()).spawn(run);
        let thread = thread.inspect_err(|error| tracing::warn!("files are not watched: {error}")).ok();
        Watcher { signals, on_search, thread, ended }
    }

    /// Reports a search: changed files are read soon, if the settings say so. Returns at once.
    pub fn searched(&self) {
        self.signals.search();
    }

    /// Changes that a search has to wait for: watched files that have changed since they were read. `None` if none has, or the
    /// settings say that searches read nothing.
    pub fn unread(&self) -> Option<Unread> {
        (self.on_search && self.signals.has_unread()).then(|| Unread(self.signals.clone()))
    }

    /// Whether it is this one that watches the files of the store. If not, another one does, maybe in another process.
    pub fn leads(&self) -> bool {
        self.signals.leads()
    }
}

/// Files that have changed since they were read.
#[derive(Debug)]
pub struct Unread(Arc<Signals>);

impl Unread {
    /// Starts to read them now, and waits for that, but not longer than a search may.
    pub fn wait(&self) {
        self.0.search();
        self.0.wait_for_read(Instant::now() + LONGEST_WAIT);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.signals.stop();
        let Some(thread) = self.thread.take() else { return };
        match self.ended.recv_timeout(STOP_TIMEOUT) {
            Err(crossbeam_channel::RecvTimeoutError::Timeout) => {
                tracing::debug!("a file system does not respond; the watcher is left behind");
            }
            // A panic of the thread was reported there.
            _ => drop(thread.join()),
        }
    }
}
