//! Files that are read into the store: sources, and what was read of them. Who finds and reads the files is above the
//! engine.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::records::Snapshot;
use crate::records::rules::files;
use crate::sensitive::{self, Sensitive};
use crate::sync::Message;
use crate::types::{
    FileChanges, FileContent, FileReading, NewRecord, NewSource, PassedOver, Record, Source, SourceFile, SourceId,
    SourceKind, SourceStats,
};

impl Engine {
    /// Adds a source, unless it is there already: then it gets the globs and the scope of this one. Returns its id, and
    /// whether it is new. Nothing of it is read yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound that is violated, or what should stay secret.
    pub fn add_source(&self, new: &NewSource) -> Result<(SourceId, bool)> {
        sensitive::check_source(new)?;
        self.store.records.add_source(new, self.store.now())
    }

    /// Removes a source. What was read of it stays. Returns the paths of its files that no other source has; `None` if there is
    /// no such source. If `with_copies`, the other transcripts of its format are read again the next time: they may repeat
    /// turns of it, and these become turns of theirs.
    pub fn remove_source(&self, id: SourceId, with_copies: bool) -> Result<Option<Vec<String>>> {
        self.store.records.remove_source(id, with_copies)
    }

    /// Deletes what was read of the files with these paths, so that it may be read again. Returns how many records.
    pub fn remove_read(&self, paths: &BTreeSet<String>) -> Result<u64> {
        let of_files = |snapshot: Snapshot| snapshot.read_from(|path| paths.contains(path));
        let ids = if paths.is_empty() { Vec::new() } else { of_files(self.store.records.snapshot()?)? };
        let mut removed = 0;
        for ids in ids.chunks(1_000) {
            removed += files::remove_read(&self.store.records, ids)?;
            self.worker.send(Message::Written);
        }
        Ok(removed)
    }

    /// All sources, in the order in which they were added: on a node of a team those that were added on this node.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = self.store.records.snapshot()?.sources()?;
        sources.retain(|source| self.store.records.is_own_source(&source.source));
        Ok(sources)
    }

    /// All sources with what was read of them.
    pub fn source_stats(&self) -> Result<Vec<SourceStats>> {
        self.store.records.snapshot()?.source_stats()
    }

    /// The files of a source as they were last read, by path.
    pub fn source_files(&self, source: SourceId) -> Result<Vec<SourceFile>> {
        self.store.records.snapshot()?.source_files(source)
    }

    /// The file of a source with this path, as it was last read.
    pub fn source_file(&self, source: SourceId, path: &str) -> Result<Option<SourceFile>> {
        self.store.records.snapshot()?.source_file(source, path)
    }

    /// The threads of notes that no source has any more, but whose chunks stayed, by the path that each note had last.
    pub fn left_threads(&self) -> Result<BTreeMap<String, String>> {
        self.store.records.snapshot()?.left_threads()
    }

    /// Saves what was read of files of a source, in one transaction: a search finds each of them as it was before, or as it is
    /// now. What should stay secret is redacted, whatever the settings say. The outcomes are in the order of the readings;
    /// `None` if there is no such source any more.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a path holds what should stay secret: it cannot be redacted.
    pub fn save_readings(&self, source: SourceId, readings: Vec<FileReading>) -> Result<Option<Vec<FileChanges>>> {
        let mut allowed = Vec::with_capacity(readings.len());
        let mut refused = Vec::with_capacity(readings.len());
        for reading in readings {
            let mut reading = sensitive::reading(reading)?;
            let mut reasons = BTreeMap::new();
            if let FileContent::Chunks(records) | FileContent::Turns { turns: records, .. } = &mut reading.content {
                *records = std::mem::take(records)
                    .into_iter()
                    .filter_map(|record| redacted(record, &mut reasons).transpose())
                    .collect::<Result<_>>()?;
            }
            allowed.push(reading);
            refused.push(reasons);
        }
        let saved = files::save_readings(&self.store.records, source, &allowed, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(saved.map(|mut saved| {
            for (changes, reasons) in saved.iter_mut().zip(refused) {
                changes.add(FileChanges { refused: reasons, ..FileChanges::default() });
            }
            saved
        }))
    }

    /// Files of a source that are gone, by their ids: the chunks of notes are deleted, the turns of sessions stay.
    pub fn miss_files(&self, source: SourceId, files: &[i64]) -> Result<FileChanges> {
        let changes = files::miss_files(&self.store.records, source, files, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(changes)
    }

    /// Notes that all files of a source were looked at, and how many were passed over, by reason.
    pub fn finish_sync(&self, source: SourceId, skipped: &PassedOver) -> Result<()> {
        files::finish_sync(&self.store.records, source, skipped, self.store.now())
    }

    /// The paths of files that were read and that end with this one, at most `limit`.
    pub fn files_ending_with(&self, end: &str, limit: usize) -> Result<Vec<String>> {
        self.store.records.snapshot()?.paths_ending_with(end, limit)
    }
}

impl Memories<'_> {
    /// The records that were read of the file with this path, in its order, as far as the viewer sees them, and the kind of its
    /// source. `None` if there are none.
    pub fn read_of_file(&self, path: &str) -> Result<Option<(SourceKind, Vec<Record>)>> {
        self.viewer.validate()?;
        let snapshot = self.engine.store.records.snapshot()?;
        let Some(file) = snapshot.known_files(path)?.into_iter().next() else { return Ok(None) };
        let records = self.placed(&snapshot, path)?;
        Ok((!records.is_empty()).then_some((file.kind, records)))
    }

    /// Records that another system read of a file with this path, in its order, as far as the viewer sees them: they were moved
    /// in, and the file is of no source.
    pub fn moved_of_file(&self, path: &str) -> Result<Vec<Record>> {
        self.viewer.validate()?;
        let snapshot = self.engine.store.records.snapshot()?;
        if snapshot.known_files(path)?.is_empty() { self.placed(&snapshot, path) } else { Ok(Vec::new()) }
    }

    fn placed(&self, snapshot: &Snapshot, path: &str) -> Result<Vec<Record>> {
        let ids = snapshot.read_from(|of| of == path)?;
        let mut records = snapshot.records(&ids, self.engine.store.now())?;
        records.retain(|record| self.viewer.sees(&record.scope));
        records.sort_by_key(|record| (record.place.as_ref().map(|place| place.first_line), record.id));
        Ok(records)
    }
}

/// A record without what should stay secret. `None` if it cannot be saved even so.
fn redacted(record: NewRecord, refused: &mut BTreeMap<String, u64>) -> Result<Option<NewRecord>> {
    match Sensitive::Redact.new_record(&record) {
        Ok(Cow::Owned(redacted)) => Ok(Some(redacted)),
        Ok(Cow::Borrowed(_)) => Ok(Some(record)),
        Err(Error::Invalid { field, .. }) => {
            *refused.entry(format!("a {field} with a secret")).or_default() += 1;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
