//! The background thread of an open store: embeds, applies, rebuilds, forgets, and lets go of what is idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::clock::now;
use super::store::Sync;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::{Access, AccessKind, PurgePatterns};
use crate::types::RecordId;

/// How often a process looks for what others have written or published.
const TICK: Duration = Duration::from_millis(500);
/// Writes are gathered for this long before they are applied, so that a burst costs one commit.
const GATHER: Duration = Duration::from_millis(200);
/// But no write waits longer than this, nor do more than [`GATHER_AT_MOST`]: the first search of another process has to
/// index all that waits.
const GATHER_LONGEST: Duration = Duration::from_millis(300);
/// Searches logged in one round; what comes faster than that is not logged.
const SEARCHES_AT_MOST: usize = 2_000;
/// Uses that wait to be counted; what comes faster than they can be written is not counted.
const USES_AT_MOST: usize = 100_000;
/// See [`GATHER_LONGEST`].
const GATHER_AT_MOST: u64 = 500;
/// A model that could not be fetched is asked for again after this long.
const FETCH_AGAIN: Duration = Duration::from_secs(10 * 60);
/// What has expired is looked for this often.
const EXPIRE_AGAIN: Duration = Duration::from_secs(60);
/// A purge that could not be finished is gone on with after this long.
const PURGE_AGAIN: Duration = Duration::from_secs(5);

/// A message to the worker.
#[derive(Debug)]
pub enum Wake {
    /// Something was written.
    Written,
    /// A search returned these records; log it when there is time.
    Searched {
        /// What was searched for.
        query: String,
        /// The records returned.
        hits: Vec<SearchedHit>,
    },
    /// These records were used; count it when there is time.
    Used(Vec<RecordId>),
    /// Write the accesses that were told until now, then answer.
    Settle(Sender<()>),
    /// End.
    Stop,
}

/// A record that a search returned.
#[derive(Debug, Clone, Copy)]
pub struct SearchedHit {
    /// The record.
    pub id: RecordId,
    /// Its score in the search.
    pub score: f64,
    /// Whether the access log keeps what was searched for.
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
    /// [`Error::Io`] when no thread can be had.
    pub fn start(sync: Arc<Sync>) -> Result<Self> {
        let (messages, inbox) = unbounded();
        let stopping = Arc::new(Stopping::default());
        let told = stopping.clone();
        let thread = std::thread::Builder::new()
            .name("memorist-sync".into())
            .spawn(move || run(&sync, &inbox, &told))
            .map_err(|error| Error::io("the sync thread", error))?;
        Ok(Worker { messages, stopping, thread: Some(thread) })
    }

    /// Sends a message. A worker that has ended takes none, and needs none.
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

fn run(sync: &Sync, inbox: &Receiver<Wake>, stopping: &Stopping) {
    let mut failures = Failures::default();
    let mut fetch_at = Instant::now();
    let mut forget_at = ForgetAt { expired: Instant::now(), purged: Instant::now() };
    let mut uses = Vec::new();
    loop {
        let stop = wait(sync, inbox, &mut uses, &mut forget_at);
        if stop {
            return;
        }
        if sync.config().fetch_in_background && Instant::now() >= fetch_at && !sync.host.is_available() {
            fetch_at = Instant::now() + FETCH_AGAIN;
            let fetched = sync.host.prepare(&mut |plan| tracing::info!("{plan}"), stopping);
            failures.note(fetched.map(drop));
        }
        let worked = if sync.config().index_writer { work(sync, stopping, &mut forget_at) } else { Ok(()) };
        failures.note(worked.and(sync.records.shorten_wal()));
        sync.host.release_if_idle(Instant::now());
    }
}

/// Waits for a reason to look: the tick, or writes, gathered. Returns whether to end. `uses` are those that could not be
/// counted yet.
fn wait(sync: &Sync, inbox: &Receiver<Wake>, uses: &mut Vec<RecordId>, forget_at: &mut ForgetAt) -> bool {
    let started = Instant::now();
    let mut until = started + TICK;
    let mut written = 0;
    let mut searches: Vec<(String, Vec<SearchedHit>)> = Vec::new();
    let mut settled = None;
    let stop = loop {
        // Only a write moves the end of the wait: searches that never cease must not keep the worker from its work.
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
            Ok(Wake::Settle(answer)) => {
                settled = Some(answer);
                break false;
            }
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let accesses: Vec<Access<'_>> =
        searches.iter().flat_map(|(query, hits)| hits.iter().map(|hit| search_access(*hit, query))).collect();
    if let Err(error) = sync.records.record_access(&accesses, now()) {
        tracing::debug!("the access log was not written: {error}");
    }
    match sync.records.count_accesses(uses, now()) {
        Ok(()) => uses.clear(),
        Err(error) => tracing::debug!("uses were not counted yet: {error}"),
    }
    if let Some(settled) = settled {
        // A purge asks for it, and goes on by itself.
        forget_at.purged = Instant::now() + PURGE_AGAIN;
        // Who asked may have given up.
        let _ = settled.send(());
    }
    stop
}

/// A search is logged, but does not count as an access by itself: see [`Wake::Used`].
fn search_access(hit: SearchedHit, query: &str) -> Access<'_> {
    let query = hit.keeps_query.then_some(query);
    Access { id: hit.id, kind: AccessKind::Search, score: Some(hit.score), query, counts: false }
}

/// When to look again for what is to be forgotten.
struct ForgetAt {
    expired: Instant,
    purged: Instant,
}

/// One round: whatever is there to do, if this process gets the writer lock.
fn work(sync: &Sync, stopping: &Stopping, forget_at: &mut ForgetAt) -> Result<()> {
    sync.reopen()?;
    sync.take_out_unless_sound()?;
    let can_shrink = sync.records.can_shrink()?;
    // A model that is not the store's, or that fails, keeps nobody from the rest of the work.
    let (can_embed, refusal) =
        sync.can_embed().map_or_else(|error| (false, Err(error)), |can_embed| (can_embed, Ok(())));
    let mut has_expired = false;
    if Instant::now() >= forget_at.expired {
        forget_at.expired = Instant::now() + EXPIRE_AGAIN;
        has_expired = sync.has_expired()?;
    }
    let is_time = Instant::now() >= forget_at.purged;
    let purge = if is_time { sync.records.unfinished_purge()?.filter(|mark| mark.is_abandoned(now())) } else { None };
    let is_idle = !can_embed && !can_shrink && !has_expired && purge.is_none();
    if is_idle && !sync.is_out()? && sync.unapplied()? == 0 {
        return refusal;
    }
    let Some(guard) = sync.lock.try_acquire()? else { return refusal };
    sync.as_writer(guard, |guard| {
        sync.mend(guard, stopping)?;
        if has_expired {
            sync.remove_expired(guard, stopping)?;
        }
        // Words first: they are searched while the embeddings are made.
        sync.catch_up(guard, stopping)?;
        if let Some(purge) = purge {
            forget_at.purged = Instant::now() + PURGE_AGAIN;
            // Another has begun it: what it removed is not known here.
            sync.finish_purge(guard, &purge, &PurgePatterns::unknown(), Duration::ZERO, stopping)?;
        }
        if can_embed {
            sync.embed_backlog(guard, stopping)?;
            sync.catch_up(guard, stopping)?;
        }
        if can_shrink {
            sync.records.vacuum_step()?;
        }
        sync.maintain(guard, stopping)
    })?;
    refusal
}

/// Tells long work that the engine is closing. What is left undone is in the log, for the next process.
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

/// Says each failure once, not twice a second.
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
        // Some count the seconds until they are tried again.
        let without_numbers = text.replace(|character: char| character.is_ascii_digit(), "");
        if self.last.as_ref() != Some(&without_numbers) {
            tracing::warn!("background work failed: {text}");
            self.last = Some(without_numbers);
        }
    }
}
