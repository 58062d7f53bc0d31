//! Forgetting for good.

use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::Engine;
use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::Removed;
use crate::sync::Wake;
use crate::types::{Purge, Purged, Viewer};

/// How long to wait for readers in other processes, which keep what they read from being removed.
const READERS_PATIENCE: Duration = Duration::from_secs(5);
/// Waiting for the worker, how often to look whether to stop.
const LOOK: Duration = Duration::from_millis(100);

impl Engine {
    /// Removes records, or everything that has a text, for good, of what `viewer` sees (the rest is neither touched nor
    /// counted): from records, versions, embeddings of every model, the
    /// access log, both indexes, the sync log, the write-ahead log and the free space of the database, so that no file of
    /// the store has the bytes any more. What an earlier [`Engine::delete`] or [`Engine::update`] of the same text has left
    /// in the files goes too, even when no record has the text now.
    ///
    /// The records are gone first, at once for every process, whatever else is done in the background. Then this waits
    /// until the worker of this process has logged the searches that were answered, removes those for the text, waits for
    /// the index-writer lock and rewrites what has to be rewritten: of a large store that takes as long as a merge of its largest segments, and where a trace is
    /// found in the database, as long as writing that anew. Other processes that have an old file of an index open keep
    /// reading from it until they let go of it; its name is gone, and its bytes go with the last of them. When something
    /// keeps this from being finished (see [`Purged::complete`]), or when the process is killed, the worker of any open
    /// store goes on with it; calling this again does the same.
    ///
    /// A text that is written again while this runs stays. So may a search for the text that another process has made in the
    /// last second and has not logged yet; one that is made afterwards is logged like every other. Outside of the store,
    /// and named in [`Purged::elsewhere`] where they lie in its folder, are backups, exports and what a repair has kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no text, or no id, or too much of either; [`Error::Cancelled`]: what is removed
    /// already stays so, and the rest of the cleaning is done in the background.
    pub fn purge(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Purged> {
        purge.validate()?;
        viewer.validate()?;
        let elsewhere = self.sync.elsewhere()?;
        progress.start("removing", None);
        let removed = self.remove(purge, viewer, progress);
        progress.finish();
        let removed = removed?;
        let complete = self.config.index_writer && {
            let cancelled = || cancel_point(progress).map(|()| false);
            match self.sync.lock.acquire_unless(progress, cancelled) {
                Ok(Some(guard)) => self.sync.as_writer(guard, |guard| {
                    self.sync.finish_purge(guard, &removed.mark, &removed.sought, READERS_PATIENCE, progress)
                })?,
                Ok(None) => return Err(Error::Cancelled),
                // The memories are gone already. Whoever opens the store next cleans its files.
                Err(Error::Held(holder)) => {
                    tracing::warn!("{holder}");
                    false
                }
                Err(error) => return Err(error),
            }
        };
        let (records, versions, queries) = (removed.records, removed.versions, removed.queries);
        Ok(Purged { records, versions, queries, complete, elsewhere })
    }

    /// Removes it from the tables.
    fn remove(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = self.sync.records.purge(purge, viewer, progress)?;
        self.worker.send(Wake::Written);
        if let Purge::Text(text) = purge {
            self.settle_accesses(progress)?;
            self.sync.records.purge_queries(text, viewer, &mut removed, progress)?;
        }
        Ok(removed)
    }

    /// Waits until the searches of this process that were answered are in the access log.
    fn settle_accesses(&self, progress: &dyn Progress) -> Result<()> {
        let (answer, settled) = bounded(1);
        self.worker.send(Wake::Settle(answer));
        loop {
            match settled.recv_timeout(LOOK) {
                // A worker that has ended has written what it knew.
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => cancel_point(progress)?,
            }
        }
    }
}
