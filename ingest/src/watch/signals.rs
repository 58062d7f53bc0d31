//! Reports to the thread of a watcher.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use memorist_engine::progress::Progress;
use memorist_engine::types::SourceId;
use parking_lot::{Condvar, Mutex};

/// Reports to the thread, combined so that they stay small however many events there are.
#[derive(Debug, Default)]
pub struct Signals {
    state: Mutex<State>,
    any: Condvar,
    /// Wakes searches when changed files were read.
    read: Condvar,
    stop: AtomicBool,
    leads: AtomicBool,
}

/// Events since the thread last looked.
#[derive(Debug, Default)]
pub struct News {
    /// Sources whose files changed.
    pub changed: HashMap<SourceId, Change>,
    /// Whether files of any source may have changed: events were lost.
    pub all: bool,
    /// Whether a search was made.
    pub searched: bool,
}

/// News for the thread, and whether searches wait.
#[derive(Debug, Default)]
struct State {
    news: News,
    /// Whether watched files have changed and were not read since.
    unread: bool,
}

/// The time of changes, and the changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time of the first change.
    pub first: Instant,
    /// Time of the last change.
    pub last: Instant,
    /// The files, if they are known and few; else any may have changed.
    pub files: Option<BTreeSet<PathBuf>>,
}

/// Maximum number of files that are looked at one by one.
const FEW: usize = 64;

impl Change {
    /// A change at this moment of this file, or of any.
    pub fn of(file: Option<PathBuf>, now: Instant) -> Self {
        Change { first: now, last: now, files: file.map(|file| BTreeSet::from([file])) }
    }

    pub fn add(&mut self, later: Change) {
        self.last = later.last;
        self.files = self.files.take().zip(later.files).and_then(|(mut files, others)| {
            files.extend(others);
            (files.len() <= FEW).then_some(files)
        });
    }
}

impl Signals {
    /// Reports that this file of a source changed, or an unknown one.
    pub fn change(&self, source: SourceId, file: Option<PathBuf>) {
        let change = Change::of(file, Instant::now());
        let mut state = self.state.lock();
        state.unread = true;
        match state.news.changed.entry(source) {
            Entry::Occupied(mut known) => known.get_mut().add(change),
            Entry::Vacant(empty) => drop(empty.insert(change)),
        }
        drop(state);
        self.any.notify_all();
    }

    /// Reports that files of any source may have changed.
    pub fn change_all(&self) {
        self.state.lock().news.all = true;
        self.any.notify_all();
    }

    /// Reports a search.
    pub fn search(&self) {
        self.state.lock().news.searched = true;
        self.any.notify_all();
    }

    /// Tells the thread to end.
    pub fn stop(&self) {
        // Under the lock, so that a thread that is about to wait hears of it.
        let _state = self.state.lock();
        self.stop.store(true, Ordering::Relaxed);
        self.any.notify_all();
        self.read.notify_all();
    }

    /// Whether watched files have changed and were not read since.
    pub fn has_unread(&self) -> bool {
        self.state.lock().unread
    }

    /// Notes whether some of the changes that the thread knows are unread. Changes that it has not taken are.
    pub fn set_unread(&self, unread: bool) {
        let mut state = self.state.lock();
        state.unread = unread || !state.news.changed.is_empty();
        if !state.unread {
            self.read.notify_all();
        }
    }

    /// Waits until changed files were read, at most until `until`.
    pub fn wait_for_read(&self, until: Instant) {
        let mut state = self.state.lock();
        while state.unread && !self.cancelled() && !self.read.wait_until(&mut state, until).timed_out() {}
    }

    /// Whether the thread leads.
    pub fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Notes whether the thread leads.
    pub fn set_leads(&self, leads: bool) {
        self.leads.store(leads, Ordering::Relaxed);
    }

    /// Waits for news, at most until `until`, and takes them.
    pub fn wait_until(&self, until: Instant) -> News {
        let mut state = self.state.lock();
        let news = &state.news;
        if !self.cancelled() && news.changed.is_empty() && !news.all && !news.searched {
            self.any.wait_until(&mut state, until);
        }
        std::mem::take(&mut state.news)
    }
}

/// A sync of the thread ends when the thread is told to end.
impl Progress for Signals {
    fn start(&self, _what: &str, _total: Option<u64>) {}

    fn advance(&self, _units: u64) {}

    fn finish(&self) {}

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
