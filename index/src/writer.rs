//! The one that changes an index.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::bounds::MAX_PAYLOAD;
use crate::error::{OpenError, WriteError};
use crate::format::manifest::Manifest;
use crate::format::{MAX_COUNT, names};
use crate::graph::vectors::Vectors;
use crate::ids::Key;
use crate::merge::{self, Merge, Merged};
use crate::options::IndexOptions;
use crate::progress::Progress;
use crate::quantize::Quantized;
use crate::reader::{Reader, open_snapshot};
use crate::rotate::Rotation;
use crate::segment::write::{Draft, write_segment};
use crate::segment::{Segment, Tombstones};
use crate::snapshot::Snapshot;
use crate::sys::lock::WriterLock;
use crate::sys::publish;

/// Changes an index. There is one writer of a folder at a time, in all processes: it holds a lock until it is dropped, and
/// until the merges are dropped that it has [begun](Self::begin_merge). The system frees the lock when the process ends.
///
/// After an error the index is as before, on the disk and for this writer; but after a sync that failed the writer
/// refuses everything, and has to be opened again.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    lock: Arc<WriterLock>,
    options: IndexOptions,
    current: Arc<Snapshot>,
    /// The number of the next segment.
    next_segment: u64,
    /// Whether a sync has failed.
    is_poisoned: bool,
    /// Whether a file that the manifest does not name could not be removed yet.
    has_leftovers: bool,
}

impl Writer {
    /// Makes an empty index in a folder, which is made too where it is absent.
    ///
    /// # Errors
    /// When there is an index already, another writer has the folder, an option is out of bounds, or the folder cannot be
    /// written.
    pub fn create(folder: impl AsRef<Path>, options: IndexOptions, payload: &[u8]) -> Result<Self, WriteError> {
        options.check()?;
        check_payload(payload)?;
        let folder = folder.as_ref().to_owned();
        fs::create_dir_all(&folder).map_err(WriteError::io(&folder))?;
        let lock = lock(&folder)?;
        let path = names::manifest(&folder);
        if path.try_exists().map_err(WriteError::io(&path))? {
            return Err(WriteError::Exists { path });
        }
        let has_leftovers = !remove_leftovers(&folder, &[]).map_err(WriteError::io(&folder))?;
        let snapshot = Snapshot {
            layout: options.layout,
            dims: options.dims,
            generation: 1,
            next_segment: options.first_segment,
            payload: payload.to_vec(),
            segments: Vec::new(),
            rotation: Arc::new(Rotation::new(options.dims)),
        };
        publish_manifest(&folder, &snapshot)?;
        Ok(Self::of(folder, lock, options, snapshot, has_leftovers))
    }

    /// Opens an index to change it. What a crash has left in the folder is removed.
    ///
    /// # Errors
    /// Errors of [`Reader::open`](crate::Reader::open), and when another writer has the index, the folder cannot be
    /// written, an option is out of bounds or the dimensions are not the index's.
    pub fn open(folder: impl AsRef<Path>, options: IndexOptions) -> Result<Self, WriteError> {
        Self::open_after(folder.as_ref(), options, None)
    }

    /// Opens the index that `reader` follows, in the state that is published now. Segments that the reader has mapped
    /// are not mapped again, and those that it has compared with their checksums are not compared again by a merge.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn beside(reader: &Reader, options: IndexOptions) -> Result<Self, WriteError> {
        Self::open_after(reader.folder(), options, Some(&reader.snapshot()))
    }

    fn open_after(folder: &Path, options: IndexOptions, older: Option<&Snapshot>) -> Result<Self, WriteError> {
        options.check()?;
        let folder = folder.to_owned();
        let path = names::manifest(&folder);
        // A folder without an index gets no lock.
        if !path.try_exists().map_err(OpenError::io(&path))? {
            return Err(OpenError::Missing { path }.into());
        }
        let lock = lock(&folder)?;
        let (snapshot, _) = open_snapshot(&folder, older)?;
        if snapshot.dims != options.dims {
            let (expected, found) = (options.dims, snapshot.dims);
            return Err(OpenError::Dimensions { path, expected, found }.into());
        }
        let has_leftovers = !remove_leftovers(&folder, &snapshot.segments).map_err(OpenError::io(&folder))?;
        Ok(Self::of(folder, lock, options, snapshot, has_leftovers))
    }

    fn of(
        folder: PathBuf,
        lock: WriterLock,
        mut options: IndexOptions,
        snapshot: Snapshot,
        has_leftovers: bool,
    ) -> Self {
        let (next_segment, lock) = (snapshot.next_segment, Arc::new(lock));
        options.layout = snapshot.layout;
        Self { folder, lock, options, current: Arc::new(snapshot), next_segment, is_poisoned: false, has_leftovers }
    }

    /// Whether files of an earlier state are still in the folder. Windows keeps them as long as a process has them mapped;
    /// the next writer removes them.
    pub fn has_leftovers(&self) -> bool {
        self.has_leftovers
    }

    /// The view of what was published last.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current)
    }

    /// Removes the vectors of `deletes`, then puts in those of `upserts`, replacing what their keys had before,
    /// and publishes the result together with `payload`: after a crash all of it is there or none. Applying the same
    /// again changes nothing but the generation. Of a key that comes twice in `upserts` the last vector counts.
    ///
    /// Vectors need not have length 1; they are kept so. The new vectors are scanned by searches until a
    /// [merge](Self::maintain) puts them into a graph.
    ///
    /// # Errors
    /// When a vector is refused, the payload is too long, or a file cannot be written.
    pub fn apply(&mut self, upserts: &[(Key, &[f32])], deletes: &[Key], payload: &[u8]) -> Result<(), WriteError> {
        self.unless_poisoned(|writer| writer.apply_batch(upserts, deletes, payload))
    }

    fn apply_batch(&mut self, upserts: &[(Key, &[f32])], deletes: &[Key], payload: &[u8]) -> Result<(), WriteError> {
        check_payload(payload)?;
        let (keys, vectors) = self.checked_upserts(upserts)?;
        // What is there already stays, unless it is deleted and not put in again.
        let before = self.current.rows();
        let fresh: Vec<usize> = (0..keys.len()).filter(|&row| before.of(keys[row]) != Some(vectors.row(row))).collect();
        let unchanged: HashSet<Key> = {
            let fresh: HashSet<usize> = fresh.iter().copied().collect();
            (0..keys.len()).filter(|row| !fresh.contains(row)).map(|row| keys[row]).collect()
        };
        let fresh_keys: Vec<Key> = fresh.iter().map(|&row| keys[row]).collect();
        let gone: Vec<Key> = fresh_keys.iter().chain(deletes).copied().filter(|key| !unchanged.contains(key)).collect();

        let mut segments: Vec<Segment> = self
            .current
            .segments
            .iter()
            .map(|segment| add_tombstones(segment, &gone))
            .filter(|segment| segment.live() > 0)
            .collect();
        if !fresh.is_empty() {
            let number = self.take_number();
            let layout = self.options.layout;
            let mut fresh_vectors = Quantized::new(layout);
            fresh.iter().for_each(|&row| fresh_vectors.push_row(vectors.row(row)));
            let dims = self.options.dims;
            let vectors = Vectors::of(&fresh_vectors, dims);
            let draft = Draft { layout, dims, keys: &fresh_keys, vectors, graph: None };
            segments.push(write_segment(&self.folder, number, &draft, &|_| ControlFlow::Continue(()))?);
        }
        self.publish(segments, payload.to_vec())
    }

    /// Merges some segments, where that makes searches faster, and publishes the result. Returns whether more remains
    /// to be done. `progress` is called from several threads and may stop the work, which is then lost. It runs in the
    /// rayon pool it is called in.
    ///
    /// # Errors
    /// When it is stopped, a segment is damaged, or a file cannot be written.
    pub fn maintain(&mut self, progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync)) -> Result<bool, WriteError> {
        self.unless_poisoned(|writer| match writer.begin_merge() {
            None => Ok(false),
            Some(merge) => {
                let merged = merge.run(progress)?;
                writer.finish_merge(merged)?;
                Ok(merge::plan(&writer.current.segments, &writer.options).is_some())
            }
        })
    }

    fn unless_poisoned<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, WriteError>) -> Result<T, WriteError> {
        if self.is_poisoned {
            return Err(WriteError::Poisoned);
        }
        let done = work(self);
        self.is_poisoned = matches!(done, Err(WriteError::Unsynced { .. }));
        done
    }

    /// The merge that should be done next, if any. It can be [run](Merge::run) by another thread, while this writer
    /// applies more; it is put in by [`finish_merge`](Self::finish_merge). One merge at a time: the next one may be
    /// begun once this one is finished or dropped.
    pub fn begin_merge(&mut self) -> Option<Merge> {
        let sources = merge::plan(&self.current.segments, &self.options)?;
        let number = self.take_number();
        Some(Merge::new(self.folder.clone(), Arc::clone(&self.lock), number, self.options.clone(), sources))
    }

    /// Replaces the sources of a merge by the merged segment and publishes that. What was deleted or replaced since
    /// [`begin_merge`](Self::begin_merge) stays so.
    ///
    /// # Errors
    /// When the manifest cannot be written.
    pub fn finish_merge(&mut self, merged: Merged) -> Result<(), WriteError> {
        let Merged { segment, sources, .. } = merged;
        let mut gone: Vec<Key> = Vec::new();
        for source in &sources {
            // A source whose vectors were all deleted meanwhile is no longer there.
            let now = self.current.segments.iter().find(|now| now.file.number == source.file.number);
            let is_live = |slot| now.is_some_and(|now| !now.tombstones.contains(slot));
            let view = source.file.view();
            let keys = view.keys.iter().zip(0..);
            let was_live = keys.filter(|&(_, slot)| !source.tombstones.contains(slot));
            gone.extend(was_live.filter(|&(_, slot)| !is_live(slot)).map(|(&key, _)| key));
        }
        let is_source = |segment: &Segment| sources.iter().any(|source| source.file.number == segment.file.number);
        let mut segments: Vec<Segment> = self.current.segments.clone();
        let position = segments.iter().position(is_source).unwrap_or(segments.len());
        segments.retain(|segment| !is_source(segment));
        let merged = segment.map(|segment| add_tombstones(&segment, &gone)).filter(|segment| segment.live() > 0);
        if let Some(merged) = merged {
            segments.insert(position.min(segments.len()), merged);
        }
        self.unless_poisoned(|writer| writer.publish(segments, writer.current.payload.clone()))
    }

    /// The rows to be put in, checked and coded: their keys, each once, and their vectors.
    fn checked_upserts(&self, upserts: &[(Key, &[f32])]) -> Result<(Vec<Key>, Quantized), WriteError> {
        if upserts.len() > MAX_COUNT {
            return Err(WriteError::TooMany { found: upserts.len() });
        }
        let last: HashMap<Key, usize> =
            upserts.iter().enumerate().map(|(position, &(key, _))| (key, position)).collect();
        let mut keys = Vec::with_capacity(last.len());
        let (mut vectors, mut unit) = (Quantized::new(self.options.layout), Vec::new());
        for (position, &(key, vector)) in upserts.iter().enumerate() {
            self.current.rotation.unit(vector, &mut unit).map_err(|why| WriteError::Vector { key, why })?;
            if last.get(&key) == Some(&position) {
                keys.push(key);
                vectors.push(&unit);
            }
        }
        Ok((keys, vectors))
    }

    /// A number for a new segment. It is used up even where the segment is not published in the end: a manifest whose
    /// writing failed late may name it all the same.
    fn take_number(&mut self) -> u64 {
        let number = self.next_segment;
        self.next_segment += 1;
        number
    }

    fn publish(&mut self, segments: Vec<Segment>, payload: Vec<u8>) -> Result<(), WriteError> {
        let (layout, dims, generation) = (self.options.layout, self.options.dims, self.current.generation + 1);
        let (next_segment, rotation) = (self.next_segment, self.current.rotation.clone());
        let next = Snapshot { layout, dims, generation, next_segment, payload, segments, rotation };
        publish_manifest(&self.folder, &next)?;
        let before = std::mem::replace(&mut self.current, Arc::new(next));
        for old in &before.segments {
            let is_kept = self.current.segments.iter().any(|kept| kept.file.number == old.file.number);
            if !is_kept && !publish::remove_unnamed(&old.file.path) {
                self.has_leftovers = true;
            }
        }
        Ok(())
    }
}

fn lock(folder: &Path) -> Result<WriterLock, WriteError> {
    let path = names::lock(folder);
    let lock = WriterLock::try_acquire(&path).map_err(WriteError::io(&path))?;
    lock.ok_or_else(|| WriteError::Locked { folder: folder.to_owned() })
}

/// The segment with these keys added to its tombstones.
fn add_tombstones(segment: &Segment, keys: &[Key]) -> Segment {
    let view = segment.file.view();
    let slots: RoaringBitmap = keys.iter().filter_map(|&key| segment.live_slot(&view, key)).collect();
    if slots.is_empty() {
        return segment.clone();
    }
    let tombstones = Arc::new(Tombstones::new(&segment.tombstones.bitmap | &slots));
    Segment { file: Arc::clone(&segment.file), efforts: segment.efforts, tombstones }
}

fn publish_manifest(folder: &Path, snapshot: &Snapshot) -> Result<(), WriteError> {
    let manifest = Manifest {
        layout: snapshot.layout,
        dims: snapshot.dims,
        generation: snapshot.generation,
        next_segment: snapshot.next_segment,
        payload: snapshot.payload.clone(),
        segments: snapshot.segments.iter().map(Segment::entry).collect(),
    };
    let path = names::manifest(folder);
    let bytes = manifest.encode().map_err(WriteError::io(&path))?;
    let published = publish::replace(&path, &names::temporary(folder), &bytes);
    published.map_err(WriteError::publishing(&path))
}

fn check_payload(payload: &[u8]) -> Result<(), WriteError> {
    if payload.len() > MAX_PAYLOAD { Err(WriteError::Payload { found: payload.len() }) } else { Ok(()) }
}

/// Removes the files of an index that no manifest names. Files that are not the index's stay. Returns whether all are gone.
fn remove_leftovers(folder: &Path, segments: &[Segment]) -> io::Result<bool> {
    let mut all_gone = true;
    for file in fs::read_dir(folder)? {
        let file = file?;
        let is_leftover = match file.file_name().to_str().map(names::kind) {
            Some(names::Kind::Segment(number)) => segments.iter().all(|segment| segment.file.number != number),
            Some(names::Kind::Temporary) => true,
            Some(names::Kind::Other) | None => false,
        };
        if is_leftover {
            all_gone &= publish::remove_unnamed(&file.path());
        }
    }
    Ok(all_gone)
}
