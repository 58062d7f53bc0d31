//! When a source is read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::signals::Change;
use crate::settings::SyncSettings;

/// The longest time that files which never stop changing are left unread.
const LONGEST_DEBOUNCE: Duration = Duration::from_secs(10);
/// The pause after a sync, as a multiple of its duration: its share of the time stays at a fifth.
const PAUSE: u32 = 4;
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The pause after a sync of polled files, as such a multiple: its share stays at a twentieth.
const POLL_PAUSE: u32 = 19;
/// How soon to try again while another process reads the files.
const RETRY: Duration = Duration::from_millis(250);
/// The first and the longest pause after a failure; each is twice the one before.
const BACK_OFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(300)];

/// How changes of the files of a source are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// They are not watched: a search may find them changed.
    Never,
    /// Events report them.
    Watched,
    /// The files are listed in intervals.
    Polled,
    /// Its folder does not exist: it may appear.
    Missing,
}

/// When a source is read.
#[derive(Debug)]
pub struct Plan {
    /// How changes of its files are noticed.
    pub look: Look,
    dirty: Option<Change>,
    /// Whether it was not read yet.
    unread: bool,
    /// Whether the sync cannot wait for the files to be left alone.
    urgent: bool,
    not_before: Instant,
    poll_at: Instant,
    failures: u32,
}

impl Plan {
    /// The plan of a source that was not read yet.
    pub fn new(now: Instant) -> Self {
        Plan { look: Look::Never, dirty: None, unread: true, urgent: false, not_before: now, poll_at: now, failures: 0 }
    }

    /// Notes that files changed.
    pub fn change(&mut self, change: Change) {
        match &mut self.dirty {
            Some(dirty) => dirty.add(change),
            empty => *empty = Some(change),
        }
    }

    /// Has it read now, unless it failed just before.
    pub fn read_now(&mut self, now: Instant) {
        self.change(Change::of(None, now));
        self.urgent = true;
    }

    /// Like [`Plan::read_now`], if it was read before.
    pub fn read_again(&mut self, now: Instant) {
        if !self.unread {
            self.read_now(now);
        }
    }

    /// Notes a search.
    pub fn searched(&mut self, now: Instant) {
        if self.unread || (self.look == Look::Never && self.poll_at <= now) {
            self.read_now(now);
        }
        self.urgent |= self.dirty.is_some();
    }

    /// Notes that its folder has appeared.
    pub fn appeared(&mut self, now: Instant) {
        self.not_before = now;
        self.read_now(now);
    }

    /// Whether files that are watched have changed, and could be read now.
    pub fn is_behind(&self, now: Instant) -> bool {
        self.dirty.is_some() && !self.unread && self.look == Look::Watched && self.not_before <= now
    }

    /// When it has to be read, as far as is known.
    pub fn due(&self, settings: &SyncSettings) -> Option<Instant> {
        let changed = self.dirty.as_ref().map(|dirty| {
            let quiet = (dirty.last + settings.debounce()).min(dirty.first + LONGEST_DEBOUNCE.max(settings.debounce()));
            if self.urgent { self.not_before } else { quiet.max(self.not_before) }
        });
        let polled = (self.look == Look::Polled).then_some(self.poll_at.max(self.not_before));
        [changed, polled].into_iter().flatten().min()
    }

    /// Notes that it is being read: changes from now on are further changes. Returns which files changed, if nothing else can
    /// have.
    pub fn begin(&mut self) -> Option<BTreeSet<PathBuf>> {
        let files = self.dirty.take().and_then(|dirty| dirty.files);
        let is_known = !self.unread && self.look == Look::Watched;
        self.unread = false;
        self.urgent = false;
        files.filter(|_| is_known)
    }

    /// Notes that it was read, and the duration.
    pub fn read(&mut self, took: Duration, settings: &SyncSettings, now: Instant) {
        self.not_before = now + (took * PAUSE).min(LONGEST_PAUSE);
        self.poll_at = now + settings.poll_interval().max(took * POLL_PAUSE);
    }

    /// Notes that its folder can be read.
    pub fn recovered(&mut self) {
        self.failures = 0;
    }

    /// Notes that another process reads it.
    pub fn busy(&mut self, now: Instant) {
        self.read_now(now);
        self.not_before = now + RETRY;
    }

    /// Notes that it could not be read.
    pub fn fail(&mut self, now: Instant) {
        let [first, longest] = BACK_OFF;
        self.read_now(now);
        self.not_before = now + (first * 2_u32.saturating_pow(self.failures.min(16))).min(longest);
        self.failures += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// F15, Q19.
    #[test]
    fn files_are_read_when_they_are_left_alone_or_searched_for() {
        let (settings, now) = (SyncSettings::default(), Instant::now());
        let mut plan = Plan::new(now);
        plan.look = Look::Watched;
        plan.read_again(now);
        assert_eq!(plan.due(&settings), None);
        plan.begin();
        plan.searched(now);
        assert_eq!(plan.due(&settings), None, "nothing is dirty");
        let change = |first, last, file: &str| Change { first, last, files: Some(BTreeSet::from([file.into()])) };
        plan.change(change(now, now + SECOND, "a"));
        assert_eq!(plan.due(&settings), Some(now + SECOND + settings.debounce()));
        plan.change(change(now + SECOND, now + 20 * SECOND, "b"));
        assert_eq!(plan.due(&settings), Some(now + LONGEST_DEBOUNCE), "they never stop changing");
        plan.searched(now);
        assert_eq!(plan.due(&settings), Some(now));
        assert_eq!(plan.begin(), Some(BTreeSet::from(["a".into(), "b".into()])));
        assert_eq!(plan.due(&settings), None);
        plan.change(change(now, now, "a"));
        plan.read_now(now);
        assert_eq!(plan.begin(), None, "others may have changed");
        plan.read(SECOND, &settings, now);
        plan.read_now(now);
        assert_eq!(plan.due(&settings), Some(now + 4 * SECOND), "a pause");
    }

    /// F5.
    #[test]
    fn polling_takes_a_twentieth_of_the_time() {
        let (settings, now) = (SyncSettings::default(), Instant::now());
        let mut plan = Plan::new(now);
        plan.look = Look::Polled;
        plan.read(SECOND / 100, &settings, now);
        assert_eq!(plan.due(&settings), Some(now + 5 * SECOND));
        plan.read(2 * SECOND, &settings, now);
        assert_eq!(plan.due(&settings), Some(now + 38 * SECOND));
    }

    #[test]
    fn a_search_reads_what_is_not_watched_but_not_each_time() {
        let (settings, now) = (SyncSettings::default(), Instant::now());
        let mut plan = Plan::new(now);
        plan.searched(now);
        assert_eq!(plan.due(&settings), Some(now));
        plan.begin();
        plan.read(SECOND / 100, &settings, now);
        plan.searched(now + SECOND);
        assert_eq!(plan.due(&settings), None);
        plan.searched(now + 5 * SECOND);
        assert!(plan.due(&settings).is_some());
    }

    #[test]
    fn a_failing_source_is_retried_with_exponential_backoff() {
        let (settings, now) = (SyncSettings::default(), Instant::now());
        let mut plan = Plan::new(now);
        let mut pauses = Vec::new();
        for _ in 0..12 {
            plan.begin();
            plan.fail(now);
            pauses.push(plan.due(&settings).unwrap().duration_since(now).as_secs());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        plan.appeared(now);
        assert_eq!(plan.due(&settings), Some(now));
        plan.recovered();
        plan.fail(now);
        assert_eq!(plan.due(&settings), Some(now + SECOND));
    }
}
