//! Permanent removal.

use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::{PurgeText, Removed};
use crate::sync::Message;
use crate::types::{Purge, Purged};

/// How long to wait for readers in other processes, which prevent the removal of what they read.
const READERS_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to check for cancellation while waiting for the worker.
const LOOK: Duration = Duration::from_millis(100);

impl Engine {
    /// Waits until the answered searches of this process are logged.
    pub(super) fn flush_accesses(&self, progress: &dyn Progress) -> Result<()> {
        let (answer, settled) = bounded(1);
        self.worker.send(Message::Flush(answer));
        loop {
            match settled.recv_timeout(LOOK) {
                // A worker that has ended has written its entries.
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => cancel_point(progress)?,
            }
        }
    }
}

impl Memories<'_> {
    /// Permanently removes records, or everything that contains a text, as far as the viewer sees it (the rest is neither
    /// touched nor counted): from records, versions, embeddings of every model, the access log, the searches, both indexes, the map, the sync
    /// log, the write-ahead log and the free space of the database. Afterwards no file of the store contains the bytes.
    /// Remains of the same text that an earlier [`Memories::delete`] or [`Memories::update`] left in the files are removed too,
    /// even if no record contains the text now.
    ///
    /// The records go first, at once for every process. Then this waits until the worker of this process has logged the
    /// answered searches, removes those for the text, takes the index-writer lock and rewrites files. For a large store
    /// that takes as long as a merge of its largest segments; if a trace is found in the database, as long as rewriting
    /// it. The cache of a provider's embeddings is emptied. Other processes that have an old index file open can read it until they close it; its name is gone, and its
    /// bytes are freed with the last of them. If something prevents completion (see [`Purged::complete`]), or the
    /// process is killed, the worker of any process with the store open continues; so does calling this again.
    ///
    /// A text that is written again while this runs stays. So may a search for the text that another process made in
    /// the last second and has not logged yet; later searches are logged as usual. Files that are not part of the store
    /// are not touched: backups, exports and what a repair kept. Those in its folder are named in
    /// [`Purged::remaining_files`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no text, or no id, or too much of either; [`Error::Cancelled`]: what is removed
    /// stays removed, and the rest of the cleanup happens in the background.
    pub fn purge(&self, purge: &Purge, progress: &dyn Progress) -> Result<Purged> {
        purge.validate()?;
        self.viewer.validate()?;
        let remaining_files = self.engine.store.unowned_files()?;
        progress.start("removing", None);
        let removed = self.remove(purge, progress);
        progress.finish();
        let removed = removed?;
        if let Purge::Text(text) = purge {
            self.engine.store.forget_noted(&PurgeText::new(text))?;
        }
        let complete = self.engine.config.index_writer && {
            let cancelled = || cancel_point(progress).map(|()| false);
            match self.engine.store.lock.acquire_unless(progress, cancelled) {
                Ok(Some(guard)) => self.engine.store.as_writer(guard, |guard| {
                    self.engine.store.finish_purge(guard, &removed.mark, &removed.patterns, READERS_TIMEOUT, progress)
                })?,
                Ok(None) => return Err(Error::Cancelled),
                // The memories are gone already. The next process that opens the store cleans its files.
                Err(Error::Held(holder)) => {
                    tracing::warn!("{holder}");
                    false
                }
                Err(error) => return Err(error),
            }
        };
        let Removed { records, versions, queries, stays, beginnings, .. } = removed;
        Ok(Purged { records, versions, queries, complete, remaining_files, stays, beginnings })
    }

    /// Removes it from the tables.
    fn remove(&self, purge: &Purge, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = self.engine.store.records.purge(purge, self.viewer, progress)?;
        self.engine.worker.send(Message::Written);
        if matches!(purge, Purge::Text(_)) || !removed.texts.is_empty() {
            self.engine.flush_accesses(progress)?;
            self.engine.store.records.purge_queries(purge, self.viewer, &mut removed, progress)?;
        }
        Ok(removed)
    }
}
