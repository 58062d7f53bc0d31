//! Applies the log to both indexes, then trims the entries that both have made durable.

use memorist_durable::crash;
use roaring::RoaringTreemap;

use super::lock::WriterGuard;
use super::store::{Store, has_model};
use crate::error::{Error, IndexKind, Result};
use crate::passages::{PassageKey, of_records};
use crate::progress::Progress;
use crate::records::{Change, Snapshot};
use crate::types::{Millis, RecordId, Seq};
use crate::vectors::VectorBatch;

/// Log entries per commit: enough to make commits rare under load, few enough to keep their texts in memory.
const STEP: usize = 4_000;

impl Store {
    /// Applies the current log to both indexes, and trims it. Later writes may wait for the next time, so that constant
    /// writes cannot keep this from ending. An index that turns out to be damaged becomes unusable.
    pub fn catch_up(&self, _proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        self.mark_damaged_indexes()?;
        let head = self.records.head()?;
        self.catch_up_keywords(head, progress).or_else(|error| self.mark_unusable(error))?;
        self.catch_up_vectors(head, progress).or_else(|error| self.mark_unusable(error))?;
        self.trim()
    }

    fn catch_up_keywords(&self, head: Seq, progress: &dyn Progress) -> Result<()> {
        let Ok(index) = self.keywords.get() else { return Ok(()) };
        let mut applied = index.snapshot()?.applied();
        while applied < head {
            let snapshot = self.records.copy().snapshot()?;
            let Some(batch) = LogBatch::read(&snapshot, IndexKind::Keyword, applied, Change::concerns_words)? else {
                break;
            };
            // Includes expired ones: searches exclude them, and a clock that was ahead must not lose them.
            let live = snapshot.records(&batch.ids, Millis::MIN)?;
            let deletes = without(&batch.ids, live.iter().map(|record| record.id));
            drop(snapshot);
            index.apply(&live, &deletes, batch.up_to)?;
            crash::point("words applied");
            applied = batch.up_to;
            self.records.shorten_wal()?;
            report(progress, batch.entries)?;
        }
        Ok(())
    }

    fn catch_up_vectors(&self, head: Seq, progress: &dyn Progress) -> Result<()> {
        let (Ok(index), Some((id, model))) = (self.vectors.get(), self.model()?) else { return Ok(()) };
        // The lock is held: nobody changes the model from here on.
        if !has_model(&*index, &model) {
            return Err(Error::of_another_model());
        }
        let mut applied = index.snapshot()?.applied();
        while applied < head {
            let snapshot = self.records.copy().snapshot()?;
            let Some(batch) = LogBatch::read(&snapshot, IndexKind::Vector, applied, Change::concerns_vectors)? else {
                break;
            };
            let upserts = snapshot.embeddings(id, &batch.ids)?;
            let deletes = others(&batch.ids, index.snapshot()?.further(), &upserts);
            drop(snapshot);
            index.apply(VectorBatch { upserts, deletes }, batch.up_to)?;
            crash::point("vectors applied");
            applied = batch.up_to;
            report(progress, batch.entries)?;
        }
        Ok(())
    }

    /// Drops the log entries that both indexes have applied. An unusable index, or one in memory, is built from the
    /// records, not from the log.
    fn trim(&self) -> Result<()> {
        let (vectors, keywords) = self.applied()?;
        if let Some(up_to) = [vectors, keywords].into_iter().flatten().min() {
            self.records.trim_log(up_to)?;
        }
        crash::point("log trimmed");
        Ok(())
    }

    /// Merges segments.
    pub fn maintain(&self, _proof: &WriterGuard<'_>, progress: &dyn Progress) -> Result<()> {
        if let Ok(index) = self.keywords.get() {
            index.maintain()?;
        }
        if let Ok(index) = self.vectors.get() {
            while index.maintain(progress)? {
                report(progress, 0)?;
            }
        }
        Ok(())
    }

    /// Runs `work` as the one index writer, then releases the resources for writing, and the lock last: a keyword
    /// writer that outlived the lock would block other processes, or publish its old state over their new one.
    pub fn as_writer<T>(&self, guard: WriterGuard<'_>, work: impl FnOnce(&WriterGuard<'_>) -> Result<T>) -> Result<T> {
        let done = work(&guard);
        let released = self.release_keyword_writer(&guard);
        drop(guard);
        let done = done?;
        released.map(|()| done)
    }

    pub(super) fn release_keyword_writer(&self, _proof: &WriterGuard<'_>) -> Result<()> {
        self.keywords.get().map_or(Ok(()), |index| index.release_writer())
    }
}

/// A piece of the log that is applied in one commit.
struct LogBatch {
    /// The records it names, each once, in order.
    ids: Vec<RecordId>,
    up_to: Seq,
    entries: usize,
}

impl LogBatch {
    /// The next piece after `after`; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`] if the log does not reach back that far: then the index of this name is rebuilt.
    fn read(
        snapshot: &Snapshot,
        index: IndexKind,
        after: Seq,
        concerns: impl Fn(&Change) -> bool,
    ) -> Result<Option<Self>> {
        if after < snapshot.trimmed_to() {
            return Err(Error::behind_the_log(index));
        }
        let entries = snapshot.tail(after, STEP)?;
        let Some(last) = entries.last() else { return Ok(None) };
        let ids: RoaringTreemap =
            entries.iter().filter(|entry| concerns(&entry.change)).map(|entry| entry.record_id.key()).collect();
        Ok(Some(LogBatch {
            ids: ids.iter().map(RecordId::from_key).collect(),
            up_to: last.seq,
            entries: entries.len(),
        }))
    }
}

/// The ids that are not among `present`; both are sorted.
fn without(ids: &[RecordId], present: impl Iterator<Item = RecordId>) -> Vec<RecordId> {
    let present: RoaringTreemap = present.map(|id| id.key()).collect();
    ids.iter().copied().filter(|id| !present.contains(id.key())).collect()
}

/// The keys that these records may have in the index, of which `further` are those of passages, and have no more.
fn others(ids: &[RecordId], further: &RoaringTreemap, upserts: &[(PassageKey, Vec<f32>)]) -> Vec<PassageKey> {
    let ids: RoaringTreemap = ids.iter().map(|id| id.key()).collect();
    let present: RoaringTreemap = upserts.iter().map(|(key, _)| key.get()).collect();
    let may_have = &ids | of_records(&ids, further);
    (may_have - present).iter().map(PassageKey::from).collect()
}

fn report(progress: &dyn Progress, entries: usize) -> Result<()> {
    progress.advance(entries as u64);
    if progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
