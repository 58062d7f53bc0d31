//! The background thread of an open store: embeds, applies, rebuilds, cleans up, and releases what is idle. A provider is
//! waited for in a second thread, so that the rest goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::inbox::{Inbox, InboxReader, Message, Searched, SearchedHit, USES_AT_MOST};
use super::jobs::JobsSchedule;
use super::store::Store;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::rules::searches;
use crate::records::{Access, AccessKind, PurgePatterns};
use crate::types::{FOLLOW_AGAIN, RecordId};

/// How often a process checks for the writes of others.
const TICK: Duration = Duration::from_millis(500);
/// A failed download of a model is retried after this long.
const FETCH_AGAIN: Duration = Duration::from_secs(10 * 60);
/// How often to check for expired records.
const EXPIRE_AGAIN: Duration = Duration::from_secs(60);
/// How often a node of a team says that it is there, and sends what it has counted.
const KEEP_UP_AGAIN: Duration = Duration::from_secs(60);
/// Rows of the access log that one transaction writes, more or less.
const LOGGED_AT_ONCE: usize = 500;
/// An unfinished purge is continued after this long.
const PURGE_AGAIN: Duration = Duration::from_secs(5);

/// The handle of the thread. Dropping it stops and joins the thread.
#[derive(Debug)]
pub struct Worker {
    inbox: Arc<Inbox>,
    stopping: Arc<Stopping>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Io`] if no thread can be started.
    pub fn start(store: Arc<Store>) -> Result<Self> {
        let (inbox, reader) = Inbox::new();
        let stopping = Arc::new(Stopping::default());
        let stop_flag = stopping.clone();
        let thread = std::thread::Builder::new()
            .name("memorist-sync".into())
            .spawn(move || std::thread::scope(|scope| run(scope, &store, &reader, &stop_flag)))
            .map_err(|error| Error::io("the sync thread", error))?;
        Ok(Worker { inbox, stopping, thread: Some(thread) })
    }

    /// Sends a message, and never waits. Ignored if the worker has ended.
    pub fn send(&self, message: Message) {
        self.inbox.send(message);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stopping.0.store(true, Ordering::Relaxed);
        self.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    store: &'scope Store,
    inbox: &InboxReader,
    stopping: &'scope Stopping,
) {
    let mut provider = ProviderThread::default();
    let mut failures = Failures::default();
    let mut fetch_at = Instant::now();
    let (mut keep_up_at, mut following) = (Instant::now(), Following::new());
    let mut cleanup_at = CleanupAt { expired: Instant::now(), purged: Instant::now() };
    let mut uses = Vec::new();
    loop {
        let stop = wait(store, inbox, &mut uses, &mut cleanup_at);
        if stop {
            return;
        }
        let host = store.host_in_use().unwrap_or(&store.host);
        if store.config().fetch_in_background && Instant::now() >= fetch_at && !host.is_available() {
            fetch_at = Instant::now() + FETCH_AGAIN;
            let fetched = host.prepare(&mut |plan| tracing::info!("{plan}"), stopping);
            failures.note(fetched.map(drop).map_err(Error::from));
        }
        if Instant::now() >= following.again_at {
            // A failure has logged itself.
            let followed = store.records.follow_for_all(stopping);
            following.note(followed.is_ok());
            if followed.is_ok_and(|is_own| is_own) && Instant::now() >= keep_up_at {
                keep_up_at = Instant::now() + KEEP_UP_AGAIN;
                failures.note(store.records.keep_up());
            }
        }
        let worked = if store.config().index_writer { work(store, stopping, &mut cleanup_at) } else { Ok(()) };
        if store.config().index_writer {
            provider.keep_going(scope, store, stopping);
        }
        failures.note(worked.and(store.records.shorten_wal()).and(store.measure_used(stopping)));
        for host in [Some(&store.host), store.fallback.as_ref()].into_iter().flatten() {
            host.release_if_idle(Instant::now());
        }
    }
}

/// When a node follows its server again: every [`FOLLOW_AGAIN`], and later where that fails.
struct Following {
    again_at: Instant,
    failures: u32,
}

impl Following {
    fn new() -> Self {
        Following { again_at: Instant::now(), failures: 0 }
    }

    /// Nodes that failed at the same moment do not all come back at the same moment.
    fn note(&mut self, has_followed: bool) {
        self.failures = if has_followed { 0 } else { self.failures.saturating_add(1) };
        let spread = f64::from(u32::from(std::process::id() as u8)) / 255.0;
        let pause = match self.failures {
            0 => FOLLOW_AGAIN,
            failures => (FOLLOW_AGAIN * 2_u32.pow(failures.min(4) - 1)).mul_f64(0.5 + 0.5 * spread),
        };
        self.again_at = Instant::now() + pause;
    }
}

/// Waits for a reason to work, and writes the accesses received. Returns whether to stop. `uses` are those that could
/// not be counted yet.
fn wait(store: &Store, inbox: &InboxReader, uses: &mut Vec<RecordId>, cleanup_at: &mut CleanupAt) -> bool {
    let received = inbox.wait(TICK);
    log_searches(store, received.searches, received.stop);
    uses.extend(received.uses);
    uses.truncate(USES_AT_MOST);
    match store.records.count_accesses(uses, store.now()) {
        Ok(()) => uses.clear(),
        Err(error) => tracing::debug!("uses were not counted yet: {error}"),
    }
    if !received.flushes.is_empty() {
        // A purge sends this, and continues by itself.
        cleanup_at.purged = Instant::now() + PURGE_AGAIN;
    }
    for answer in received.flushes {
        // The sender may have given up.
        let _ = answer.send(());
    }
    received.stop
}

/// Writes the access log, and the searches themselves: a few at a time. It pauses between two transactions for as long as
/// one takes, unless the engine is closing. SQLite's lock is not fair: without a pause, a save of another engine would wait
/// until all are written.
fn log_searches(store: &Store, mut searches: Vec<Searched>, is_closing: bool) {
    while !searches.is_empty() {
        let began = Instant::now();
        let rows = searches.iter().scan(0, |rows, search| {
            *rows += search.hits.len();
            Some(*rows)
        });
        let few = 1 + rows.take_while(|rows| *rows < LOGGED_AT_ONCE).count();
        log_few(store, searches.drain(..few.min(searches.len())).collect());
        if !searches.is_empty() && !is_closing {
            std::thread::sleep(began.elapsed());
        }
    }
}

fn log_few(store: &Store, searches: Vec<Searched>) {
    let all = searches.iter();
    let accesses: Vec<Access<'_>> =
        all.flat_map(|search| search.hits.iter().map(|hit| search_access(*hit, &search.trace.query))).collect();
    if let Err(error) = store.records.record_access(&accesses, store.now()) {
        tracing::debug!("the access log was not written: {error}");
    }
    let first = searches.into_iter().filter(|search| search.is_first);
    let kept: Vec<_> = first.map(|search| (search.trace, search.hits.iter().map(|hit| hit.id).collect())).collect();
    if let Err(error) = searches::record_searches(&store.records, &kept) {
        tracing::debug!("searches were not kept: {error}");
    }
}

/// A search is logged, but does not count as an access by itself: see [`Message::Used`].
fn search_access(hit: SearchedHit, query: &str) -> Access<'_> {
    let query = hit.keeps_query.then_some(query);
    Access { id: hit.id, kind: AccessKind::Search, score: Some(hit.score), query, counts: false }
}

/// The thread that waits for a provider, while there is something to embed.
#[derive(Default)]
struct ProviderThread<'scope> {
    running: Option<ScopedJoinHandle<'scope, (JobsSchedule, Result<()>)>>,
    /// The schedule of its last run.
    jobs: JobsSchedule,
    failures: Failures,
}

impl<'scope> ProviderThread<'scope> {
    /// Starts it where texts wait for a provider, unless it runs.
    fn keep_going(&mut self, scope: &'scope Scope<'scope, '_>, store: &'scope Store, stopping: &'scope Stopping) {
        if self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        if let Some(ended) = self.running.take() {
            let failed = |_| (JobsSchedule::default(), Err(Error::bad_vector("the thread that embeds has failed")));
            let (jobs, outcome) = ended.join().unwrap_or_else(failed);
            self.jobs = jobs;
            self.failures.note(outcome);
        }
        // What prevents it was noted by the other thread.
        let has_work = || Ok::<_, Error>(store.can_embed()? || store.are_jobs_due(&self.jobs)?);
        if stopping.cancelled() || store.embeds_quickly().unwrap_or(true) || !has_work().unwrap_or(false) {
            return;
        }
        let mut jobs = std::mem::take(&mut self.jobs);
        let embed = move || {
            let outcome = embed_with_provider(store, &mut jobs, stopping);
            (jobs, outcome)
        };
        let started = std::thread::Builder::new().name("memorist-embed".into()).spawn_scoped(scope, embed);
        match started {
            Ok(running) => self.running = Some(running),
            Err(error) => self.failures.note(Err(Error::io("the embedding thread", error))),
        }
    }
}

/// Looks at the batch jobs, and embeds what is not left to them.
fn embed_with_provider(store: &Store, jobs: &mut JobsSchedule, stopping: &Stopping) -> Result<()> {
    if !store.records.claims("embedding")? {
        return Ok(());
    }
    if store.can_embed()? {
        store.decide()?;
    }
    if store.background_jobs(jobs, stopping)? || !store.can_embed()? {
        return Ok(());
    }
    match store.embedding.try_acquire()? {
        Some(guard) => store.embed_with_provider(&guard, u64::MAX, stopping).map(drop),
        // Another process embeds them.
        None => Ok(()),
    }
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
    let (can_shrink, can_narrow) = (store.records.can_shrink()?, store.records.can_narrow()?);
    let has_uncut = store.records.has_uncut()?;
    // A model that fails or is not the store's does not prevent the other work.
    let can_embed = store.can_embed().and_then(|can_embed| Ok(can_embed && store.embeds_quickly()?));
    let (can_embed, refusal) = can_embed.map_or_else(|error| (false, Err(error)), |can_embed| (can_embed, Ok(())));
    let mut has_expired = false;
    if Instant::now() >= cleanup_at.expired {
        cleanup_at.expired = Instant::now() + EXPIRE_AGAIN;
        has_expired = store.has_expired()? && store.records.claims("expiry")?;
    }
    let is_time = Instant::now() >= cleanup_at.purged;
    let purge = if is_time { store.records.unfinished_purge()?.filter(|mark| mark.is_abandoned(now())) } else { None };
    let is_idle = !can_embed && !can_shrink && !can_narrow && !has_uncut && !has_expired && purge.is_none();
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
        if has_uncut {
            store.cut_texts(stopping)?;
        }
        if can_embed && store.records.claims("embedding")? {
            store.embed_backlog(guard, u64::MAX, stopping)?;
            store.catch_up(guard, stopping)?;
        }
        if can_narrow {
            store.records.narrow_step()?;
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
        match outcome {
            Ok(()) | Err(Error::Cancelled) => self.last = None,
            // A provider that fails has logged that, and does when it answers again.
            Err(Error::Embedding(failed)) if has_logged_itself(failed.root()) => {}
            Err(error) if self.is_news(&error) => tracing::warn!("background work failed: {error}"),
            Err(_) => {}
        }
    }

    /// Whether the last failure was another one.
    fn is_news(&mut self, error: &Error) -> bool {
        let what = match error {
            // How long until the next attempt does not matter.
            Error::Embedding(failed) => failed.root().to_string(),
            other => other.to_string(),
        };
        let is_news = self.last.as_ref() != Some(&what);
        self.last = Some(what);
        is_news
    }
}

fn has_logged_itself(error: &memorist_embed::Error) -> bool {
    matches!(error, memorist_embed::Error::Provider(_) | memorist_embed::Error::Replaced(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_news_until_it_is_repeated() {
        let mut failures = Failures::default();
        let cause = Arc::new(memorist_embed::Error::Failed("file 1 is damaged".to_owned()));
        let failed = |retry_in| Error::from(memorist_embed::Error::FailedBefore { cause: cause.clone(), retry_in });
        assert!(failures.is_news(&failed(None)));
        for seconds in [30, 29, 1] {
            assert!(!failures.is_news(&failed(Some(seconds))), "the same, and tried again later");
        }
        let numbered = |number| Error::vectors(format!("segment {number} is damaged"));
        assert!(failures.is_news(&numbered(1)) && !failures.is_news(&numbered(1)));
        assert!(failures.is_news(&numbered(2)), "another, by its number alone");
        failures.note(Ok(()));
        assert!(failures.is_news(&numbered(2)), "after a success");
    }
}
