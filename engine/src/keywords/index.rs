//! The tantivy index of a folder: opening, applying, merging, checking.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memorist_durable::{FileId, crash};
use parking_lot::Mutex;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::IndexWriterOptions;
use tantivy::merge_policy::{LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError};

use super::damage::{contained, unusable};
use super::schema::{self, Fields, Payload, document, id_term};
use super::seal::{self, Files, META, SealedDirectory};
use super::segment::Segment;
use super::snapshot::TantivySnapshot;
use super::traits::{KeywordIndex, KeywordSnapshot};
use crate::error::{Error, Result};
use crate::files::{drop_in_background, private_folders};
use crate::types::{Record, RecordId, Seq};
use crate::verification::Verification;

/// Memory budget of the writer before it writes a segment.
const WRITER_BUDGET: usize = 30_000_000;
/// Segments of about the same size are merged when there are this many.
const MERGE_WIDTH: usize = 4;
/// Segments below this many records count as of one size.
const SMALL_SEGMENT: u32 = 1_000;
/// Two segments are about the same size if neither is more than 2 to this power times the other.
const SAME_SIZE_LOG2: f64 = 2.0;
/// A segment with a larger share of deleted records is rewritten.
const DELETED_SHARE: f32 = 0.3;
/// [`KeywordIndex::maintain`] leaves at most this many.
const MOST_SEGMENTS: usize = 16;
/// A file changed longer ago than this has a unique modification time: no later change can have the same one.
const CLOCK_STEP: Duration = Duration::from_millis(100);

/// The tantivy index of one folder. Any number of them may read the same folder, in any process; one at a time may
/// write.
pub struct TantivyIndex {
    source: IndexSource,
    published: Mutex<Published>,
    writer: Mutex<Option<IndexWriter>>,
}

/// The reader of what is published.
struct IndexSource {
    folder: PathBuf,
    /// The id of the store that the index was made from.
    store: String,
    directory: SealedDirectory,
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// Files that were read completely and match their checksums.
    checked: Arc<Mutex<BTreeSet<String>>>,
}

struct Published {
    snapshot: Arc<TantivySnapshot>,
    /// `None` if it is known to be outdated.
    meta: Option<MetaFile>,
}

impl TantivyIndex {
    /// Opens the index in `folder`, reading only its lists of segments and fields.
    ///
    /// Fails with [`Error::IndexUnusable`] if there is none, if it has another format or belongs to another store than
    /// `store`, or if it is damaged.
    pub fn open(folder: &Path, store: &str) -> Result<TantivyIndex> {
        if !folder.join(META).is_file() {
            return Err(unusable(format!("there is none in {}", folder.display())));
        }
        let source = contained(|| IndexSource::open(folder, store)).map_err(|error| blame(folder, error))?;
        Ok(TantivyIndex { published: Mutex::new(source.load(None)?), source, writer: Mutex::new(None) })
    }

    /// Creates an empty index of the store with the id `store` in `folder`, which is created if needed and must not
    /// contain an index yet. It has applied nothing.
    pub fn create(folder: &Path, store: &str) -> Result<TantivyIndex> {
        contained(|| {
            if folder.join(META).exists() {
                let why = "the folder already contains a keyword index; open it, or delete it first".to_owned();
                return Err(Error::Store { path: folder.to_owned(), why });
            }
            private_folders().create(folder).map_err(|why| Error::io(folder, why))?;
            let index = schema::builder().open_or_create(SealedDirectory::open(folder)?)?;
            publish(&mut writer(folder, &index)?, &Payload::new(store, Seq::START))
        })?;
        Self::open(folder, store)
    }

    /// Runs `work` on the writer, creating one if there is none. After an error the writer is dropped, as its state and
    /// the disk may differ.
    fn write<T>(&self, work: impl FnOnce(&mut IndexWriter) -> Result<T>) -> Result<T> {
        let mut slot = self.writer.lock();
        let mut open = match slot.take() {
            Some(open) => open,
            None => contained(|| self.source.writer())?,
        };
        let done = contained(|| work(&mut open))?;
        *slot = Some(open);
        Ok(done)
    }

    fn outdate(&self) {
        self.published.lock().meta = None;
    }

    fn faults(&self) -> Result<Vec<String>> {
        let IndexSource { folder, directory, index, reader, fields, .. } = &self.source;
        let mut faults: Vec<String> = loop {
            let meta = MetaFile::read(folder)?;
            let files = seal::files(&meta.bytes).map_err(unusable)?;
            let faults: Vec<_> =
                files.names().filter_map(|name| directory.fault(name, &files, index.directory())).collect();
            // Another process may have published meanwhile, and removed what it replaced.
            if faults.is_empty() || MetaFile::read(folder)?.bytes == meta.bytes {
                break faults;
            }
        };
        if !faults.is_empty() {
            return Ok(faults);
        }
        let searcher = {
            // A snapshot that is created meanwhile must not get what was opened before this.
            let _published = self.published.lock();
            reader.reload()?;
            reader.searcher()
        };
        let mut seen = HashMap::new();
        for reader in searcher.segment_readers() {
            let segment = Segment::open(reader, fields, &[])?;
            let (listed, held) = (reader.max_doc(), segment.content.norms.num_docs());
            if listed != held {
                faults.push(format!("segment {} has {held} documents, not {listed}", reader.segment_id()));
                continue;
            }
            let alive = reader.doc_ids_alive().count();
            if alive as u64 != u64::from(reader.num_docs()) {
                faults.push(format!(
                    "segment {} has {alive} live records, not {}",
                    reader.segment_id(),
                    reader.num_docs()
                ));
            }
            for doc in reader.doc_ids_alive() {
                let id = segment.id(doc);
                if let Some(other) = seen.insert(id, reader.segment_id()) {
                    faults.push(format!("record {id} is indexed twice, in {other} and {}", reader.segment_id()));
                }
                if segment.doc_by_term(id)? != Some(doc) {
                    faults.push(format!("record {id} is indexed, but is not found by its id"));
                }
            }
        }
        Ok(faults)
    }
}

impl KeywordIndex for TantivyIndex {
    fn snapshot(&self) -> Result<Arc<dyn KeywordSnapshot>> {
        let mut published = self.published.lock();
        let current = published.meta.as_mut().is_some_and(|meta| meta.holds(&self.source.folder));
        if !current {
            let newer = contained(|| self.source.load(Some(&published.snapshot)))?;
            drop_in_background(std::mem::replace(&mut *published, newer));
        }
        Ok(published.snapshot.clone())
    }

    fn apply(&self, upserts: &[Record], deletes: &[RecordId], applied: Seq) -> Result<()> {
        let done = self.write(|writer| {
            for record in upserts {
                let document = document(&self.source.fields, record)?;
                id_term(&self.source.fields, record.id).map(|term| writer.delete_term(term));
                writer.add_document(document)?;
            }
            for term in deletes.iter().filter_map(|&id| id_term(&self.source.fields, id)) {
                writer.delete_term(term);
            }
            publish(writer, &Payload::new(&self.source.store, applied))
        });
        self.outdate();
        done
    }

    fn maintain(&self) -> Result<()> {
        loop {
            let groups = contained(|| Ok(merges(&self.source.again()?.searchable_segment_metas()?)))?;
            if groups.is_empty() {
                return self.release_writer();
            }
            self.write(|writer| {
                for group in groups {
                    writer.merge(&group).wait()?;
                }
                Ok(())
            })?;
            self.outdate();
        }
    }

    fn forget_deleted(&self) -> Result<bool> {
        let segments = contained(|| Ok(self.source.again()?.searchable_segment_metas()?))?;
        let left = self.write(|writer| {
            for segment in segments.iter().filter(|segment| segment.has_deletes()) {
                writer.merge(&[segment.id()]).wait()?;
            }
            drop(segments);
            crash::point("words forgotten");
            // Windows removes no file that this process has mapped.
            self.outdate();
            self.snapshot()?;
            Ok(writer.garbage_collect_files().wait()?.failed_to_delete_files)
        })?;
        self.outdate();
        self.release_writer()?;
        Ok(left.is_empty())
    }

    fn release_writer(&self) -> Result<()> {
        let writer = self.writer.lock().take();
        if let Some(writer) = writer {
            contained(|| Ok(writer.wait_merging_threads()?))?;
            self.outdate();
        }
        Ok(())
    }

    fn verify(&self) -> Result<Vec<String>> {
        match contained(|| self.faults()) {
            Err(Error::IndexUnusable { why, .. }) => Ok(vec![why]),
            other => other,
        }
    }
}

/// A snapshot of an empty index that has applied nothing.
pub fn empty_snapshot() -> Result<Arc<dyn KeywordSnapshot>> {
    let index = schema::builder().create_in_ram()?;
    let searcher = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?.searcher();
    let (verification, (_, fields)) = (Verification::start(0, || Ok(())), schema::schema());
    Ok(Arc::new(TantivySnapshot::new(searcher, fields, Seq::START, verification, None)?))
}

impl IndexSource {
    fn open(folder: &Path, store: &str) -> Result<IndexSource> {
        let directory = SealedDirectory::open_to_read(folder)?;
        let index = open(directory.clone())?;
        let (schema, fields) = schema::schema();
        Payload::of_store(store, index.load_metas()?.payload.as_deref()).map_err(unusable)?;
        if index.schema() != schema {
            return Err(unusable("its fields are not those of this format"));
        }
        let options = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1);
        let reader = options.try_into()?;
        let (folder, store) = (folder.to_owned(), store.to_owned());
        Ok(IndexSource { folder, store, directory, index, reader, fields, checked: Arc::default() })
    }

    /// Opens what is published now, and starts to verify its files that were not verified yet. Reuses what the snapshot
    /// `before` knows.
    fn load(&self, before: Option<&TantivySnapshot>) -> Result<Published> {
        loop {
            let meta = MetaFile::read(&self.folder)?;
            let files = seal::files(&meta.bytes).map_err(unusable)?;
            let snapshot = contained(|| self.view(files, before));
            // All of it is of one commit only if there was none in between.
            if MetaFile::read(&self.folder)?.bytes == meta.bytes {
                let snapshot = Arc::new(snapshot.map_err(|error| blame(&self.folder, error))?);
                return Ok(Published { snapshot, meta: Some(meta) });
            }
        }
    }

    fn view(&self, files: Files, before: Option<&TantivySnapshot>) -> Result<TantivySnapshot> {
        let metas = self.index.load_metas()?;
        let payload = Payload::of_store(&self.store, metas.payload.as_deref()).map_err(unusable)?;
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        let verification = self.start_verification(files, searcher.clone());
        TantivySnapshot::new(searcher, self.fields, payload.applied, verification, before)
    }

    /// `searcher` keeps the files mapped; another process may remove them meanwhile.
    fn start_verification(&self, files: Files, searcher: Searcher) -> Arc<Verification> {
        let unchecked = files.without(&self.checked.lock());
        let (directory, index, checked) = (self.directory.clone(), self.index.clone(), Arc::clone(&self.checked));
        Verification::start(unchecked.bytes(), move || {
            let fault = first_fault(&unchecked, &directory, &index);
            drop(searcher);
            if let Some(fault) = fault {
                return Err(fault);
            }
            *checked.lock() = files.names().map(str::to_owned).collect();
            Ok(())
        })
    }

    /// Opens the index again: tantivy keeps its list of files in memory, and an outdated list would forget what others
    /// wrote.
    fn again(&self) -> Result<Index> {
        open(SealedDirectory::open(&self.folder)?)
    }

    fn writer(&self) -> Result<IndexWriter> {
        writer(&self.folder, &self.again()?)
    }
}

/// Verifies files until one does not match, and says so.
fn first_fault(files: &Files, directory: &SealedDirectory, index: &Index) -> Option<String> {
    let fault = contained(|| Ok(files.names().find_map(|name| directory.fault(name, files, index.directory()))));
    fault.unwrap_or_else(|error| Some(error.to_string()))
}

/// Damage does not always lead to an error that says so; the checksums detect it.
fn blame(folder: &Path, error: Error) -> Error {
    let fault = contained(|| {
        let directory = SealedDirectory::open_to_read(folder)?;
        let files = seal::files(&MetaFile::read(folder)?.bytes).map_err(unusable)?;
        Ok(first_fault(&files, &directory, &open(directory.clone())?))
    });
    match fault {
        Ok(Some(fault)) => unusable(fault),
        Ok(None) => error,
        Err(other) => other,
    }
}

fn open(directory: SealedDirectory) -> Result<Index> {
    let mut index = Index::open(directory)?;
    index.set_tokenizers(schema::analysers());
    index.set_fast_field_tokenizers(schema::analysers());
    Ok(index)
}

fn writer(folder: &Path, index: &Index) -> Result<IndexWriter> {
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .num_merge_threads(1)
        .memory_budget_per_thread(WRITER_BUDGET)
        .build();
    let writer = index.writer_with_options(options).map_err(|error| match error {
        TantivyError::LockFailure(..) => Error::Store {
            path: folder.to_owned(),
            why: "another process, or another handle of this one, is writing to it; the lock is free when that one \
                  lets go or ends"
                .to_owned(),
        },
        other => other.into(),
    })?;
    // Left by a killed writer. Nobody else writes here now.
    memorist_durable::sweep(folder, Duration::ZERO);
    // `maintain` requests merges, when nothing else is written: together with deletes, tantivy's own background merges
    // sometimes left a record indexed twice (seen by killing writers).
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

/// Groups of segments to merge.
fn merges(segments: &[SegmentMeta]) -> Vec<Vec<SegmentId>> {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(MERGE_WIDTH);
    policy.set_min_layer_size(SMALL_SEGMENT);
    policy.set_level_log_size(SAME_SIZE_LOG2);
    policy.set_del_docs_ratio_before_merge(DELETED_SHARE);
    let groups: Vec<_> = policy.compute_merge_candidates(segments).into_iter().map(|group| group.0).collect();
    if groups.is_empty() && segments.len() > MOST_SEGMENTS {
        let mut by_size: Vec<&SegmentMeta> = segments.iter().collect();
        by_size.sort_by_key(|segment| segment.num_docs());
        let most = segments.len() + 1 - MOST_SEGMENTS;
        return vec![by_size.iter().take(most).map(|segment| segment.id()).collect()];
    }
    groups
}

fn publish(writer: &mut IndexWriter, payload: &Payload) -> Result<()> {
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&payload.to_text());
    crash::point("words prepared");
    commit.commit()?;
    Ok(())
}

/// `meta.json` as it was read, to detect a replacement without opening it.
struct MetaFile {
    modified: SystemTime,
    length: u64,
    id: FileId,
    bytes: Vec<u8>,
    /// Whether its modification time is old enough to be unique; until then the bytes are compared.
    settled: bool,
}

impl MetaFile {
    fn read(folder: &Path) -> Result<MetaFile> {
        let path = folder.join(META);
        let read = || {
            let (id, metadata) = FileId::with_metadata(&path)?;
            let (modified, length) = (metadata.modified()?, metadata.len());
            Ok(MetaFile { modified, length, id, bytes: fs::read(&path)?, settled: false })
        };
        read().map_err(|why: std::io::Error| unusable(format!("{} cannot be read: {why}", path.display())))
    }

    /// Whether it is still the same file.
    fn holds(&mut self, folder: &Path) -> bool {
        let path = folder.join(META);
        let Ok((id, metadata)) = FileId::with_metadata(&path) else { return false };
        if (metadata.modified().ok(), metadata.len(), id) != (Some(self.modified), self.length, self.id) {
            return false;
        }
        if !self.settled {
            let old = self.modified.elapsed().is_ok_and(|age| age > CLOCK_STEP);
            if !fs::read(&path).is_ok_and(|bytes| bytes == self.bytes) {
                return false;
            }
            self.settled = old;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::super::filter_cache::FilterCache;
    use super::super::tests::{index_of, record, records};
    use super::*;
    use crate::types::Filter;

    /// The segments of the newest snapshot, the largest first, each with its filter cache.
    fn caches(index: &TantivyIndex) -> Vec<(SegmentId, Weak<FilterCache>)> {
        index.snapshot().unwrap();
        let segments = &index.published.lock().snapshot.segments;
        segments.iter().map(|segment| (segment.reader.segment_id(), Arc::downgrade(&segment.filter_cache))).collect()
    }

    #[test]
    fn a_publish_keeps_filter_caches_and_a_merge_drops_them() {
        let folder = tempfile::tempdir().unwrap();
        let index = index_of(folder.path(), &records(&["many words"; 50]));
        let filter = Filter { min_importance: Some(5), ..Filter::default() };
        let (large, kept) = caches(&index).remove(0);
        for id in 100..103 {
            index
                .apply(&[record(id, "one more"), record(id - 99, "replaced")], &[(id - 60).into()], (id as u64).into())
                .unwrap();
            assert_eq!(index.snapshot().unwrap().matching(&filter).unwrap().len(), 50);
            let (first, again) = caches(&index).remove(0);
            assert_eq!(first, large);
            assert!(again.ptr_eq(&kept), "the largest segment has another cache after a publish");
        }
        index.maintain().unwrap();
        assert_eq!(caches(&index).len(), 1, "merged");
        assert_eq!(index.snapshot().unwrap().matching(&filter).unwrap().len(), 50);
        // the snapshot before is dropped on another thread
        let long = std::time::Instant::now();
        while kept.upgrade().is_some() {
            assert!(long.elapsed() < Duration::from_secs(30), "the cache of a merged segment is kept");
            std::thread::yield_now();
        }
    }
}
