//! The next tasks of the worker, left there by the other threads. Nothing in it grows without bound, and nobody waits for
//! the worker to put something in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use parking_lot::{Condvar, Mutex};

use crate::types::{RecordId, SearchTrace};

/// Writes are gathered for this long before they are applied, so that a burst costs one commit.
const GATHER: Duration = Duration::from_millis(200);
/// But no write waits longer than this, nor do more than [`GATHER_AT_MOST`]: the first search of another process has to
/// index all that waits.
const GATHER_LONGEST: Duration = Duration::from_millis(300);
/// See [`GATHER_LONGEST`].
const GATHER_AT_MOST: u64 = 500;
/// Searches that wait to be logged; more are not logged.
const SEARCHES_AT_MOST: usize = 2_000;
/// Results of the searches that wait to be logged; searches with more are not logged. The log keeps 100,000.
const HITS_AT_MOST: usize = 20_000;
/// Uses that wait to be counted; more are not counted.
pub const USES_AT_MOST: usize = 100_000;

/// A message to the worker.
#[derive(Debug)]
pub enum Message {
    /// Something was written.
    Written,
    /// A search was answered; log it when there is time.
    Searched(Box<Searched>),
    /// These records were used; count it when there is time.
    Used(Vec<RecordId>),
    /// Write the accesses received so far, then answer.
    Flush(Sender<()>),
    /// Stop.
    Stop,
}

/// A search that was answered.
#[derive(Debug)]
pub struct Searched {
    /// Its entry in the search log.
    pub trace: SearchTrace,
    /// The records returned, the best first.
    pub hits: Vec<SearchedHit>,
    /// Whether it is kept as a search, beside its accesses.
    pub is_first: bool,
}

/// A record that a search returned.
#[derive(Debug, Clone, Copy)]
pub struct SearchedHit {
    /// The record.
    pub id: RecordId,
    /// Its score in the search.
    pub score: f64,
    /// Whether the access log keeps the query text.
    pub keeps_query: bool,
}

/// Everything that was received since the worker last looked.
#[derive(Debug, Default)]
pub struct Received {
    /// How many writes.
    written: u64,
    /// Searches to log.
    pub searches: Vec<Searched>,
    /// How many results these have.
    hits: usize,
    /// Uses to count.
    pub uses: Vec<RecordId>,
    /// Who waits until the accesses are written.
    pub flushes: Vec<Sender<()>>,
    /// Whether to stop.
    pub stop: bool,
}

/// The inbox of the worker, where others put in.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<InboxState>,
    changed: Condvar,
}

/// The end of it where the worker takes out. Once this is dropped, whatever is put in is dropped too.
#[derive(Debug)]
pub struct InboxReader(Arc<Inbox>);

#[derive(Debug, Default)]
struct InboxState {
    received: Received,
    is_closed: bool,
}

impl Inbox {
    /// An empty one.
    pub fn new() -> (Arc<Self>, InboxReader) {
        let inbox = Arc::new(Inbox::default());
        (inbox.clone(), InboxReader(inbox))
    }

    /// Puts a message in. It is dropped if the worker has ended.
    pub fn send(&self, message: Message) {
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        let received = &mut state.received;
        match message {
            Message::Written => received.written += 1,
            Message::Flush(answer) => received.flushes.push(answer),
            Message::Stop => received.stop = true,
            // The worker need not hurry for these.
            Message::Searched(search) => return received.add_search(*search),
            Message::Used(ids) => return extend_up_to(USES_AT_MOST, &mut received.uses, ids),
        }
        drop(state);
        self.changed.notify_one();
    }
}

impl InboxReader {
    /// Waits for a reason to work: `tick` has passed, writes were gathered, somebody waits for a flush, or the end.
    pub fn wait(&self, tick: Duration) -> Received {
        let started = Instant::now();
        let mut until = started + tick;
        let mut written = 0;
        let mut state = self.0.state.lock();
        loop {
            let received = &state.received;
            if received.stop || !received.flushes.is_empty() || received.written >= GATHER_AT_MOST {
                break;
            }
            if received.written > written {
                written = received.written;
                until = (Instant::now() + GATHER).min(started + GATHER_LONGEST);
            }
            if self.0.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        std::mem::take(&mut state.received)
    }
}

impl Received {
    fn add_search(&mut self, search: Searched) {
        let hits = self.hits + search.hits.len();
        if self.searches.len() < SEARCHES_AT_MOST && hits <= HITS_AT_MOST {
            self.hits = hits;
            self.searches.push(search);
        }
    }
}

impl Drop for InboxReader {
    fn drop(&mut self) {
        // Who waits for a flush learns that nobody will answer.
        *self.0.state.lock() = InboxState { is_closed: true, ..InboxState::default() };
    }
}

/// Appends as many of `new` as fit.
fn extend_up_to<T>(at_most: usize, list: &mut Vec<T>, new: impl IntoIterator<Item = T>) {
    list.extend(new.into_iter().take(at_most.saturating_sub(list.len())));
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::{RecvTimeoutError, bounded};

    use super::*;
    use crate::types::Viewer;

    const LONG: Duration = Duration::from_secs(60);

    fn search(number: usize) -> Message {
        let trace = SearchTrace::sample(&number.to_string(), Viewer::OWNER);
        Message::Searched(Box::new(Searched { trace, hits: Vec::new(), is_first: true }))
    }

    /// Nobody takes anything out: the worker rebuilds an index.
    #[test]
    fn a_full_inbox_drops_accesses_and_nothing_else() {
        let (inbox, reader) = Inbox::new();
        for number in 0..3 * SEARCHES_AT_MOST {
            inbox.send(search(number));
            inbox.send(Message::Used(vec![(number as i64).into(); USES_AT_MOST / SEARCHES_AT_MOST]));
        }
        let (answer, answered) = bounded(1);
        inbox.send(Message::Flush(answer));
        inbox.send(Message::Written);
        inbox.send(Message::Stop);
        let received = reader.wait(LONG);
        assert_eq!(received.searches.len(), SEARCHES_AT_MOST);
        assert_eq!(
            received.searches.last().map(|last| last.trace.query.as_str()),
            Some("1999"),
            "the first ones are kept"
        );
        assert_eq!(received.uses.len(), USES_AT_MOST);
        assert_eq!((received.flushes.len(), received.written, received.stop), (1, 1, true));
        received.flushes[0].send(()).unwrap();
        assert_eq!(answered.recv_timeout(LONG), Ok(()));

        inbox.send(search(0));
        inbox.send(Message::Stop);
        assert_eq!(reader.wait(LONG).searches.len(), 1, "there is room again");
    }

    #[test]
    fn searches_with_many_results_fill_the_inbox_sooner() {
        let (inbox, reader) = Inbox::new();
        let hit = SearchedHit { id: 1.into(), score: 1.0, keeps_query: false };
        for number in 0..30 {
            let trace = SearchTrace::sample(&number.to_string(), Viewer::OWNER);
            let hits = vec![hit; 1_000];
            inbox.send(Message::Searched(Box::new(Searched { trace, hits, is_first: true })));
        }
        inbox.send(search(30));
        inbox.send(Message::Stop);
        let received = reader.wait(LONG);
        let last = received.searches.last().map(|last| last.trace.query.as_str());
        assert_eq!((received.searches.len(), last), (21, Some("30")), "one without results takes no room");
    }

    #[test]
    fn only_writes_wake_the_worker_and_they_are_batched() {
        let (inbox, reader) = Inbox::new();
        let waiting = |tick| {
            let started = Instant::now();
            (reader.wait(tick), started.elapsed())
        };
        inbox.send(search(1));
        inbox.send(Message::Used(vec![1.into()]));
        let (received, time) = waiting(Duration::from_millis(30));
        assert_eq!((received.searches.len(), received.uses.len()), (1, 1));
        assert!(time >= Duration::from_millis(30), "{time:?}");
        inbox.send(Message::Written);
        let (_, time) = waiting(LONG);
        assert!((GATHER..LONG).contains(&time), "{time:?}");
        (0..GATHER_AT_MOST).for_each(|_| inbox.send(Message::Written));
        assert!(waiting(LONG).1 < GATHER, "as many as are gathered at most");
    }

    #[test]
    fn a_caller_waiting_for_an_ended_worker_is_told() {
        let (inbox, reader) = Inbox::new();
        let flush = || {
            let (answer, answered) = bounded(1);
            inbox.send(Message::Flush(answer));
            answered
        };
        let before = flush();
        drop(reader);
        for answered in [before, flush()] {
            assert_eq!(answered.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
        }
    }
}
