//! The background thread of an open store: embeds, applies, rebuilds, cleans up, and releases what is idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::store::Store;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::{Access, AccessKind, PurgePatterns};
use crate::types::RecordId;

/// How often a process checks for the writes of others.
const TICK: Duration = Duration::from_millis(500);
/// Writes are gathered for this long before they are applied, so that a burst costs one commit.
const GATHER: Duration = Duration::from_millis(200);
/// But no write waits longer than this, nor do more than [`GATHER_AT_MOST`]: the first search of another process has to
/// index all that waits.
const GATHER_LONGEST: Duration = Duration::from_millis(300);
/// Searches logged in one round; more are not logged.
const SEARCHES_AT_MOST: usize = 2_000;
/// Uses that wait to be counted; more are not counted.
const USES_AT_MOST: usize = 100_000;
/// See [`GATHER_LONGEST`].
const GATHER_AT_MOST: u64 = 500;
/// A failed download of a model is retried after this long.
const FETCH_AGAIN: Duration = Duration::from_secs(10 * 60);
/// How often to check for expired records.
const EXPIRE_AGAIN: Duration = Duration::from_secs(60);
/// An unfinished purge is continued after this long.
const PURGE_AGAIN: Duration = Duration::from_secs(5);

/// A message to the worker.
#[derive(Debug)]
pub enum Wake {
    /// Something was written.
    Written,
    /// A search returned these records; log it when there is time.
    Searched {
        /// The query text.
        query: String,
        /// The records returned.
        hits: Vec<SearchedHit>,
    },
    /// These records were used; count it when there is time.
    Used(Vec<RecordId>),
    /// Write the accesses received so far, then answer.
    Flush(Sender<()>),
    /// Stop.
    Stop,
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

/// The handle of the thread. Dropping it stops and joins the thread.
#[derive(Debug)]
pub struct Worker {
    messages: Sender<Wake>,
    stopping: Arc<Stopping>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Io`] if no thread can be started.
    pub fn start(store: Arc<Store>) -> Result<Self> {
        let (messages, inbox) = unbounded();
        let stopping = Arc::new(Stopping::default());
        let stop_flag = stopping.clone();
        let thread = std::thread::Builder::new()
            .name("memorist-sync".into())
            .spawn(move || run(&store, &inbox, &stop_flag))
            .map_err(|error| Error::io("the sync thread", error))?;
        Ok(Worker { messages, stopping, thread: Some(thread) })
    }

    /// Sends a message. Ignored if the worker has ended.
    pub fn send(&self, message: Wake) {
        let _ = self.messages.send(message);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stopping.0.store(true, Ordering::Relaxed);
        self.send(Wake::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(store: &Store, inbox: &Receiver<Wake>, stopping: &Stopping) {
    let mut failures = Failures::default();
    let mut fetch_at = Instant::now();
    let mut cleanup_at = CleanupAt { expired: Instant::now(), purged: Instant::now() };
    let mut uses = Vec::new();
    loop {
        let stop = wait(store, inbox, &mut uses, &mut cleanup_at);
        if stop {
            return;
        }
        if store.config().fetch_in_background && Instant::now() >= fetch_at && !store.host.is_available() {
            fetch_at = Instant::now() + FETCH_AGAIN;
            let fetched = store.host.prepare(&mut |plan| tracing::info!("{plan}"), stopping);
            failures.note(fetched.map(drop).map_err(Error::from));
        }
        let worked = if store.config().index_writer { work(store, stopping, &mut cleanup_at) } else { Ok(()) };
        failures.note(worked.and(store.records.shorten_wal()));
        store.host.release_if_idle(Instant::now());
    }
}

/// Waits for a reason to work: the tick, or writes, gathered. Returns whether to stop. `uses` are those that could not
/// be counted yet.
fn wait(store: &Store, inbox: &Receiver<Wake>, uses: &mut Vec<RecordId>, cleanup_at: &mut CleanupAt) -> bool {
    let started = Instant::now();
    let mut until = started + TICK;
    let mut written = 0;
    let mut searches: Vec<(String, Vec<SearchedHit>)> = Vec::new();
    let mut settled = None;
    let stop = loop {
        // Only a write moves the end of the wait: constant searches must not keep the worker from its work.
        match inbox.recv_deadline(until) {
            Ok(Wake::Written) => {
                written += 1;
                until = (Instant::now() + GATHER).min(started + GATHER_LONGEST);
                if written >= GATHER_AT_MOST {
                    break false;
                }
            }
            Ok(Wake::Searched { query, hits }) if searches.len() < SEARCHES_AT_MOST => searches.push((query, hits)),
            Ok(Wake::Searched { .. }) => {}
            Ok(Wake::Used(ids)) => uses.extend(ids.into_iter().take(USES_AT_MOST - uses.len())),
            Ok(Wake::Flush(answer)) => {
                settled = Some(answer);
                break false;
            }
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let accesses: Vec<Access<'_>> =
        searches.iter().flat_map(|(query, hits)| hits.iter().map(|hit| search_access(*hit, query))).collect();
    if let Err(error) = store.records.record_access(&accesses, store.now()) {
        tracing::debug!("the access log was not written: {error}");
    }
    match store.records.count_accesses(uses, store.now()) {
        Ok(()) => uses.clear(),
        Err(error) => tracing::debug!("uses were not counted yet: {error}"),
    }
    if let Some(settled) = settled {
        // A purge sends this, and continues by itself.
        cleanup_at.purged = Instant::now() + PURGE_AGAIN;
        // The sender may have given up.
        let _ = settled.send(());
    }
    stop
}

/// A search is logged, but does not count as an access by itself: see [`Wake::Used`].
fn search_access(hit: SearchedHit, query: &str) -> Access<'_> {
    let query = hit.keeps_query.then_some(query);
    Access { id: hit.id, kind: AccessKind::Search, score: Some(hit.score), query, counts: false }
}

/// When to check for expired records and unfinished purges again.
struct CleanupAt {
    expired: Instant,
    purged: Instant,
}

/// One round of whatever there is to do, if this process gets the writer lock.
fn work(store: &Store, stopping: &Stopping, cleanup_at: &mut CleanupAt) -> Result<()> {
    store.reopen()?;
    store.mark_damaged_indexes()?;
    let can_shrink = store.records.can_shrink()?;
    // A model that fails or is not the store's does not prevent the other work.
    let (can_embed, refusal) =
        store.can_embed().map_or_else(|error| (false, Err(error)), |can_embed| (can_embed, Ok(())));
    let mut has_expired = false;
    if Instant::now() >= cleanup_at.expired {
        cleanup_at.expired = Instant::now() + EXPIRE_AGAIN;
        has_expired = store.has_expired()?;
    }
    let is_time = Instant::now() >= cleanup_at.purged;
    let purge = if is_time { store.records.unfinished_purge()?.filter(|mark| mark.is_abandoned(now())) } else { None };
    let is_idle = !can_embed && !can_shrink && !has_expired && purge.is_none();
    if is_idle && !store.has_unusable_index()? && store.unapplied()? == 0 {
        return refusal;
    }
    let Some(guard) = store.lock.try_acquire()? else { return refusal };
    store.as_writer(guard, |guard| {
        store.repair_indexes(guard, stopping)?;
        if has_expired {
            store.remove_expired(guard, stopping)?;
        }
        // Keywords first: they are searchable while the embeddings are computed.
        store.catch_up(guard, stopping)?;
        if let Some(purge) = purge {
            cleanup_at.purged = Instant::now() + PURGE_AGAIN;
            // Another process started it: what it removed is not known here.
            store.finish_purge(guard, &purge, &PurgePatterns::unknown(), Duration::ZERO, stopping)?;
        }
        if can_embed {
            store.embed_backlog(guard, stopping)?;
            store.catch_up(guard, stopping)?;
        }
        if can_shrink {
            store.records.vacuum_step()?;
        }
        store.maintain(guard, stopping)
    })?;
    refusal
}

/// Cancels long work when the engine is closing. The rest is in the log, for the next process.
#[derive(Debug, Default)]
struct Stopping(AtomicBool);

impl Progress for Stopping {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Logs each failure once, not twice a second.
#[derive(Default)]
struct Failures {
    last: Option<String>,
}

impl Failures {
    fn note(&mut self, outcome: Result<()>) {
        let error = match outcome {
            Ok(()) | Err(Error::Cancelled) => {
                self.last = None;
                return;
            }
            Err(error) => error,
        };
        let text = error.to_string();
        // Some messages count the seconds until a retry.
        let without_numbers = text.replace(|character: char| character.is_ascii_digit(), "");
        if self.last.as_ref() != Some(&without_numbers) {
            tracing::warn!("background work failed: {text}");
            self.last = Some(without_numbers);
        }
    }
}
